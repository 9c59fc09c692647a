"""From benchmark CSVs to linked documents: read, bind, link, emit, write, report: a file a stage."""

from kernelindex_liger.conversion.pipeline import Options, convert, table
from kernelindex_liger.conversion.report import Report
from kernelindex_liger.conversion.rows import REASONS, InputError
from kernelindex_liger.files import OutputError

__all__ = ["REASONS", "InputError", "Options", "OutputError", "Report", "convert", "table"]
