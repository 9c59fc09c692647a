"""What is emitted: the v1alpha1 document kinds, their canonical form, digests and slugs."""

from kernelindex_liger.documents.base import API_VERSION, Document, Metadata
from kernelindex_liger.documents.canonical import canonical, digest, pretty
from kernelindex_liger.documents.measurement import BenchmarkProtocol, BenchmarkRun, ExecutionEnvironment
from kernelindex_liger.documents.naming import case_key, slug
from kernelindex_liger.documents.operation import OperationSpec, WorkloadCase
from kernelindex_liger.documents.software import ImplementationRevision, SoftwareProject

KINDS: dict[str, type[Document]] = {
    kind.__name__: kind
    for kind in (
        SoftwareProject,
        OperationSpec,
        WorkloadCase,
        ImplementationRevision,
        BenchmarkProtocol,
        ExecutionEnvironment,
        BenchmarkRun,
    )
}
"""Document kinds by their `kind`, each after the kinds that it names by digest."""

__all__ = [
    "API_VERSION",
    "KINDS",
    "BenchmarkProtocol",
    "BenchmarkRun",
    "Document",
    "ExecutionEnvironment",
    "ImplementationRevision",
    "Metadata",
    "OperationSpec",
    "SoftwareProject",
    "WorkloadCase",
    "canonical",
    "case_key",
    "digest",
    "pretty",
    "slug",
]
