"""A results file and a sidecar that others wrote, or that are something else."""

import os

import pytest
from fakes.main import runner

from kernelindex_liger.bench import table
from kernelindex_liger.bench.locks import Target
from kernelindex_liger.bench.results import Results, read_sidecar, sidecar_path
from kernelindex_liger.files import OutputError

ONE = [Target("0", {}, "fake-0")]


@pytest.mark.parametrize("name", ["results.csv", "results.meta.jsonl"])
@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: path.symlink_to("elsewhere")])
def test_what_is_no_file_is_refused_before_anything_is_measured(tmp_path, name, make):
    make(tmp_path / name)
    with pytest.raises(OutputError, match=f"{name}: cannot be written: it is"):
        runner(tmp_path / "results.csv", ["steady"]).run(ONE)
    assert [one.name for one in tmp_path.iterdir() if one.name.startswith("results.")] == [name]


def test_what_was_measured_is_kept_beside_a_sidecar_that_is_no_text(tmp_path):
    out = tmp_path / "results.csv"
    sidecar_path(out).write_bytes(b"\xff\r\nno line end")
    runner(out, ["steady"]).run(ONE)
    assert len(table.read(out)) == 12
    assert sum(len(one.cases) for one in read_sidecar(sidecar_path(out))) == 12
    assert sidecar_path(out).read_bytes().startswith(b"\xff\r\nno line end\n{")


@pytest.mark.parametrize("damage", [b",more", b"\nonly,three,fields", b"\n0123456789abcdef"])
def test_a_line_that_could_not_be_written_back_is_refused(tmp_path, damage):
    out = tmp_path / "results.csv"
    runner(out, ["steady"]).run(ONE)
    content = out.read_bytes().rstrip(b"\r\n") + damage + b"\r\n"
    out.write_bytes(content)
    with pytest.raises(table.BadTableError, match=r"results\.csv:1[34]: \d+ fields where 15 are expected"):
        Results(out, overwrite=True).present()
    assert out.read_bytes() == content
