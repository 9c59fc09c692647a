"""Catalogue files made to exhaust or mislead: refused with the file's name and what is wrong, at once."""

from __future__ import annotations

import os
import time
import warnings
from pathlib import Path

import pytest

from kernelindex_liger.catalog import CatalogError, load
from kernelindex_liger.catalog.expressions import Expression, ExpressionError
from kernelindex_liger.conversion import Options, convert
from tests.conftest import ROW, text

SECONDS = 30
"""Far more than any of these takes, and far less than what they would take if nothing stopped them."""

KERNEL = """
kernel = "rms_norm_too"
[[operations]]
slug = "liger-rms-norm-too"
family = "norm"
title = "RMS norm too"
description = "Normalises the last dimension of a matrix."
inputs = [{ name = "x", shape = ["rows", "hidden"], dtype = "float" }]
outputs = [{ name = "y", shape = ["rows", "hidden"], dtype = "float" }]
[[shapes]]
id = "H"
x = "H"
config = ["M", "dtype", "eps"]
revision = "0bd8292d:benchmark/scripts/benchmark_rms_norm.py"
axes = { rows = "M", hidden = "x" }
dtype = { key = "dtype" }
"""


def write(folder: Path, content: str | bytes, name: str = "facts.toml") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def refused(path: Path) -> str:
    started = time.monotonic()
    with pytest.raises(CatalogError) as caught:
        load([path])
    assert time.monotonic() - started < SECONDS
    assert len(str(caught.value)) < 10_000
    return str(caught.value)


def test_the_file_that_the_others_vary_is_sound(tmp_path: Path) -> None:
    assert "rms_norm_too" in load([write(tmp_path, KERNEL)]).kernels


CAVEAT = """
[[caveats]]
id = "c"
sentence = "This is a sentence of some length."
evidence = "evidence"
"""

CORRECTION = CAVEAT.replace("caveats", "corrections") + "match.kernel = 'rms_norm'\n"


def protocol(notes: str, timed: str) -> str:
    return f'[protocols.p]\nname = "p"\ntitle = "p"\ntimer = "t"\nnotes = "{notes}"\npasses = {{ forward = "{timed}" }}'


SHAPE = KERNEL[KERNEL.index("[[shapes]]") :]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("x = " + "[" * 500_000, "nested too deeply"),
        ("x = " + "{a=" * 300_000, "nested too deeply"),
        ("a = " + "9" * 10**5, "not TOML"),
        ("kernel = 0x" + "f" * 10**5, "kernel"),
        (KERNEL.replace('"M",', '"M"') + "'" * 10**6, "not TOML"),
        ("[" + ".".join("a" * 2000) + "]", "does not fit"),
        ("#" * ((1 << 20) + 1), "larger than 1,048,576 bytes"),
        (b"\xff\xfe", "not TOML"),
        ("a = 1\na = 2", "not TOML"),
        ('kernel = "\\ud800"', "not TOML"),
        ("kernel = []", "kernel"),
        ("shapes = 3", "shapes"),
        ('kernel = "k"\noperations = [[[1]]]', "operations"),
        ("unheard_of = 1", "unheard_of"),
        ("\n".join(f"k{number} = 1" for number in range(80_000)), "Extra inputs"),
        (KERNEL.replace('rows = "M"', 'rows = "2**2**2**2**2**2"'), "may hold only"),
        (KERNEL.replace('rows = "M"', 'rows = "9' + "9" * 190 + '"'), "may hold only"),
        (KERNEL.replace('rows = "M"', 'rows = "' + "(" * 99 + "M" + ")" * 99 + '"'), ""),
        (KERNEL.replace('rows = "M"', 'rows = "' + "-" * 150 + 'M"'), "may hold only"),
        (KERNEL.replace('rows = "M"', 'rows = "' + "M*" * 90 + 'M"'), "nested deeper"),
        (KERNEL.replace('rows = "M"', 'rows = "' + "M+" * 10**4 + 'M"'), "at most 200"),
        (KERNEL.replace('rows = "M"', "rows = \"__import__('os')\""), "may hold only"),
        (KERNEL.replace('rows = "M"', 'rows = "\uff2d"'), "other letters than ASCII"),
        (KERNEL.replace('rows = "M"', "rows = 9223372036854775807"), "axes.rows"),
        (KERNEL.replace('rows = "M"', "rows = 0x" + "f" * 10**4), "axes.rows"),
        (KERNEL + "scalars = { eps = nan }", "scalars"),
        (KERNEL + "scalars = { eps = 0x" + "f" * 10**4 + " }", "scalars"),
        (KERNEL + "where = { M = 0x" + "f" * 10**4 + " }", "where"),
        (KERNEL.replace("[[shapes]]", '[operations.derived]\na = "b"\nb = "a"\n[[shapes]]'), "uses b, which is not"),
        (KERNEL.replace("[[shapes]]", '[operations.derived]\na = "a"\n[[shapes]]'), "uses a, which is not bound"),
        (KERNEL + SHAPE.replace('"H"\nx', '"I"\nx'), "could both claim one row"),
        (KERNEL + "".join(SHAPE.replace('"H"\nx', f'"I{number}"\nx') for number in range(501)), "at most 500 items"),
        (protocol("{timed}" * 9000, "x" * 500_000), "at most"),
        (protocol("{timed}" * 100, "x" * 200), "notes of 20000 characters"),
        (CAVEAT + "match = { times = [[2026-01-01T00:00:00Z, 2026-01-02T00:00:00]] }", "timezone"),
        (CAVEAT + "match = { above_ms = nan }", "finite"),
        (CORRECTION + "utc_offset_minutes = 9000000000000000", "utc_offset_minutes"),
        ("models = { m = { a = inf } }", "models"),
        ("[models.m]\na = 0x" + "f" * 10**4, "models"),
    ],
)  # fmt: skip
def test_a_file_made_to_do_harm_is_refused(tmp_path: Path, content: str | bytes, said: str) -> None:
    path = write(tmp_path, content)
    if not said:
        load([path])
        return
    message = refused(path)
    assert said in message
    assert str(path) in message or "contradicts itself" in message


def test_pipes_folders_and_links_in_place_of_a_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.toml")
    assert "not a regular file" in refused(tmp_path / "pipe.toml")
    assert "not a regular file" in refused(tmp_path)
    (tmp_path / "pipe.toml").unlink()
    (tmp_path / "loop.toml").symlink_to("loop.toml")
    assert "cannot be read" in refused(tmp_path)
    assert "not a regular file" in refused(Path("/dev/zero"))


def test_many_names_and_files_stay_usable(tmp_path: Path) -> None:
    names = ", ".join(f'"GPU {number}" = ""' for number in range(20_000))
    write(tmp_path, f'[[gpus]]\nvendor = "v"\nproduct = "p"\narchitecture = "a"\nnames = {{ {names} }}', "a.toml")
    for number in range(300):
        write(tmp_path, f'[models.m{number}]\n"a" = {number}', f"m{number}.toml")
    started = time.monotonic()
    path = tmp_path / "in.csv"
    path.write_text(text([ROW | {"gpu_name": "GPU 12345"}, ROW | {"gpu_name": "GPU x"}]), newline="")
    report = convert([path], None, Options(catalog=[tmp_path]))
    assert (report.bundles, report.skipped_by_reason) == (1, {"unknown_gpu": 1})
    assert time.monotonic() - started < SECONDS


@pytest.mark.parametrize(
    "derived",
    ["rows // (rows - rows)", "rows % 0", "rows * rows * rows * rows * rows * rows", "0 - rows"],
)
def test_a_derived_axis_without_a_value_is_a_skipped_row(tmp_path: Path, derived: str) -> None:
    content = KERNEL.replace("[[shapes]]", f'[operations.derived]\nmore = "{derived}"\n[[shapes]]')
    content = content.replace('shape = ["rows", "hidden"]', 'shape = ["rows", "more"]', 1)
    facts = write(tmp_path, content)
    path = tmp_path / "in.csv"
    path.write_text(text([ROW | {"kernel_name": "rms_norm_too"}]), newline="")
    report = convert([path], None, Options(catalog=[facts]))
    assert report.skipped_by_reason == {"unmet_condition": 1}
    assert report.skipped[0].detail


@pytest.mark.parametrize("expression", ["1if 2else 3", "0x1for x in y", "1 is 2", "1_0", "0b1", "\\", "x" * 201, ""])
def test_an_expression_warns_of_nothing(expression: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            assert Expression(expression).value({}) == int(expression, 0)
        except ExpressionError as error:
            assert expression[:10] in str(error) or "characters" in str(error)  # noqa: PT017
