"""Inputs made to exhaust memory or time: a clear message, within bounds that do not depend on the input."""

from __future__ import annotations

import gzip
import json
import os
import sys
import zlib
from pathlib import Path

import pytest

from kernelindex_liger.conversion import InputError, convert
from tests.conftest import ROW, text
from tests.hostile.files import GOOD, HEADER, sparse, zstd, zstd_zeros
from tests.hostile.measured import MIB, run

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory is measured and bounded as Linux does it")

GIB = 1 << 30
MEMORY = 800 * MIB


def report(out: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads((out / "report.json").read_text())
    return found


@pytest.mark.parametrize("standard_input", [False, True])
def test_a_line_of_a_gibibyte(tmp_path: Path, standard_input: bool) -> None:
    path = sparse(tmp_path / "in.csv", HEADER + GOOD, GIB, b"\n" + GOOD.replace(b"1024", b"4096"))
    with path.open("rb") as file:
        done = run("csv", "-" if standard_input else path, "-o", tmp_path / "out", stdin=file)
    assert done.status == 3
    assert ":3: longer than 1048576 bytes" in done.errors
    assert report(tmp_path / "out")["bundles"] == 2
    assert done.peak < MEMORY


def test_a_long_line_in_gzip(tmp_path: Path) -> None:
    path = tmp_path / "in.csv.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(HEADER + GOOD)
        for _ in range(50):
            file.write(bytes(MIB))
        file.write(b"\n" + GOOD.replace(b"1024", b"4096"))
    done = run("csv", path, "-o", tmp_path / "out")
    assert done.status == 3
    assert ":3: longer than 1048576 bytes" in done.errors
    assert report(tmp_path / "out")["bundles"] == 2
    assert done.peak < MEMORY


def test_a_bomb_of_gzip(tmp_path: Path) -> None:
    path = tmp_path / "in.csv.gz"
    block = zlib.compressobj(9, wbits=31)
    with path.open("wb") as file:
        file.write(block.compress(HEADER + GOOD + GOOD.replace(b"1024", b"4096")))
        for _ in range(1024):
            file.write(block.compress(bytes(MIB)))
        file.write(block.flush())
    assert path.stat().st_size < 2 * MIB
    done = run("csv", path, "-o", tmp_path / "out")
    assert done.status == 3
    assert "becomes more than 500 times its size" in done.errors
    assert "gzip -dc FILE | ligerimport csv -" in done.errors
    assert done.peak < MEMORY


def test_a_bomb_of_zstandard_in_lines(tmp_path: Path) -> None:
    path = tmp_path / "in.csv.zst"
    path.write_bytes(zstd(HEADER + GOOD, *[(b"\n", 1 << 17)] * 8192))
    done = run("csv", path, "-o", tmp_path / "out")
    assert done.status == 3
    assert "becomes more than 500 times its size" in done.errors
    assert "zstd -dc FILE | ligerimport csv -" in done.errors
    assert done.peak < MEMORY


def test_a_bomb_of_zstandard_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "in.csv.zst"
    path.write_bytes(zstd_zeros(4 * GIB, HEADER + GOOD))
    assert path.stat().st_size < MIB
    done = run("csv", path, "--dry-run")
    assert done.status == 3
    assert "takes more than 768 MiB of memory, as a line without end does" in done.errors
    assert done.peak < 768 * MIB + MEMORY


def test_a_line_of_zstandard_within_the_bounds_is_one_malformed_line(tmp_path: Path) -> None:
    path = tmp_path / "in.csv.zst"
    path.write_bytes(zstd_zeros(16 * MIB, HEADER + GOOD, b"\n" + GOOD.replace(b"1024", b"4096")))
    done = run("csv", path, "-o", tmp_path / "out")
    assert done.status == 3
    assert ":3: longer than 1048576 bytes" in done.errors
    assert report(tmp_path / "out")["bundles"] == 2


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("in.csv.gz", gzip.compress(HEADER + GOOD)[:-9], "Compressed file ended before the end-of-stream marker"),
        ("in.csv.gz", gzip.compress(HEADER + GOOD) + b"garbage", "Not a gzipped file"),
        ("in.csv.gz", HEADER + GOOD, "Not a gzipped file"),
        ("in.csv.gz", zlib.compress(HEADER + GOOD), "Not a gzipped file"),
        ("in.csv.gz", gzip.compress(HEADER + GOOD)[:-8] + bytes(8), "CRC check failed"),
        ("in.csv.zst", zstd(HEADER + GOOD)[:-1], "incomplete frame"),
        ("in.csv.zst", zstd(HEADER + GOOD) + b"garbage", "Unknown frame descriptor"),
        ("in.csv.zst", b"\x28\xb5\x2f\xfd\x00\xff\x01\x00\x00", "too much memory"),
        ("in.csv.zst", zstd(HEADER + b"\xff\xfe\n"), "UTF-8"),
    ],
)
def test_broken_compression_says_so(tmp_path: Path, name: str, content: bytes, said: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        convert([path], None)
    assert str(caught.value).startswith(f"{path}: cannot be read")
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("name", "pack"),
    [("in.csv.gz", gzip.compress), ("in.csv.gz", lambda text: gzip.compress(text) + bytes(512)), ("in.csv.zst", zstd)],
)
def test_members_of_one_file_are_one_text(tmp_path: Path, name: str, pack) -> None:
    path = tmp_path / name
    content = HEADER + GOOD + GOOD.replace(b"1024", b"4096")
    path.write_bytes(
        pack(content[:300]) * 0 + zstd(content[:300]) + zstd(content[300:])
        if name.endswith("zst")
        else gzip.compress(content[:300]) + pack(content[300:])
    )
    assert convert([path], None).bundles == 2


@pytest.mark.parametrize("place", ["header", "row"])
def test_ten_million_columns(tmp_path: Path, place: str) -> None:
    path = tmp_path / "in.csv"
    wide = b"a," * 10_000_000 + b"\n"
    path.write_bytes(wide if place == "header" else HEADER + GOOD + wide + GOOD.replace(b"1024", b"4096"))
    done = run("csv", path, "-o", tmp_path / "out")
    assert done.status == 3
    said = ":1: not a Liger-Kernel benchmark CSV" if place == "header" else ":3: longer than 1048576 bytes"
    assert said in done.errors
    assert done.peak < MEMORY


def test_half_a_million_columns_within_a_line(tmp_path: Path) -> None:
    names = ",".join(f"c{number}" for number in range(140_000)).encode()
    path = tmp_path / "in.csv"
    path.write_bytes(HEADER.strip() + b"," + names + b"\n" + GOOD)
    done = run("csv", path, "--dry-run", seconds=60)
    assert done.status == 3
    assert "unknown c0, c1, c2, c3, c4" in done.errors
    assert len(done.errors) < 1000


@pytest.mark.parametrize("line", [b"x\n", b'"\n', b'"x\n' + b"y\n" * 48])
def test_a_million_malformed_lines_are_enough(tmp_path: Path, line: bytes) -> None:
    path, other = tmp_path / "in.csv", tmp_path / "other.csv"
    path.write_bytes(HEADER + GOOD + line * (200 * MIB // len(line)))
    other.write_bytes(HEADER + GOOD.replace(b"1024", b"4096"))
    done = run("csv", path, other, "-o", tmp_path / "out", seconds=300)
    found = report(tmp_path / "out")
    assert done.status == 3
    assert "more than 1,000,000 malformed lines; the rest was not read" in done.errors
    assert found["bundles"] == 2
    assert len(found["malformed"]) == 1000  # type: ignore[arg-type]
    assert done.peak < MEMORY


@pytest.mark.parametrize("line", [b"\n", b"," * 14 + b"\n"])
def test_many_lines_of_nothing(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "in.csv"
    path.write_bytes(HEADER + GOOD + line * (16 * MIB // len(line)))
    done = run("csv", path, "-o", tmp_path / "out", seconds=300)
    assert report(tmp_path / "out")["bundles"] == 1
    assert done.peak < MEMORY


def test_long_configs_and_names_do_not_fill_the_memory(tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    with path.open("w", newline="") as file:
        file.write(text([ROW]))
        for number in range(300):
            config = json.dumps({"M": "9" * 500_000, "n": number})
            change = {"extra_benchmark_config_str": config, "kernel_provider": f"{number}" * 100_000}
            file.write(text([ROW | change]).partition("\r\n")[2])
    done = run("csv", path, "-o", tmp_path / "out", seconds=240)
    assert done.status == 3
    assert (tmp_path / "out" / "report.json").stat().st_size < MIB
    assert done.peak < 1200 * MIB


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"extra_benchmark_config_str": "[" * 10**6}, "malformed_line"),
        ({"extra_benchmark_config_str": "[" * 4999 + "]" * 4999}, "bad_config"),
        ({"extra_benchmark_config_str": '{"a":' * 1900}, "bad_config"),
        ({"extra_benchmark_config_str": '{"M": ' + "9" * 10**5 + "}"}, "bad_config"),
        (
            {"extra_benchmark_config_str": '{"M": ' + "9" * 5000 + ', "dtype": "torch.bfloat16", "eps": 1e-06}'},
            "bad_config",
        ),
        (
            {"extra_benchmark_config_str": '{"M": ' + "9" * 4000 + ', "dtype": "torch.bfloat16", "eps": 1e-06}'},
            "unmet_condition",
        ),
        (
            {"extra_benchmark_config_str": '{"M": 2048, "dtype": "torch.bfloat16", "eps": ' + "9" * 400 + "}"},
            "unmet_condition",
        ),
        ({"extra_benchmark_config_str": '{"M": 2, "M": 2048, "dtype": "torch.bfloat16", "eps": 1e-06}'}, "bad_config"),
        ({"extra_benchmark_config_str": '{"\\ud800": 1}'}, "unknown_shape"),
        ({"extra_benchmark_config_str": '{"M": 2048, "dtype": "\\udfff", "eps": 1e-06}'}, "unmet_condition"),
        ({"x_value": "9" * 10**5}, "bad_x"),
        ({"y_value_50": "9" * 10**5}, "bad_value"),
        ({"y_value_50": "1" + "0" * 300 + "e-300"}, "disordered_quantiles"),
        ({"timestamp": "9" * 10**5}, "bad_timestamp"),
        ({"timestamp": "9999-12-31 23:59:59.999999-23:59"}, "bad_timestamp"),
        ({"liger_version": "9" * 10**5}, "bad_release"),
        ({"gpu_name": "NVIDIA H100 80GB HBM3" * 10**3}, "unknown_gpu"),
    ],
)
def test_deep_and_huge_values(tmp_path: Path, change: dict[str, str], reason: str) -> None:
    path = tmp_path / "in.csv"
    path.write_text(text([ROW | {"x_value": "4096"}, ROW | change]), newline="")
    found = convert([path], tmp_path / "out")
    assert found.skipped_by_reason == {reason: 1}
    assert all(len(group.detail) <= 500 for group in found.skipped)


NAMES = {
    "NFD": "rms_nörm",
    "homoglyph": "rms_n\u043erm",
    "right-to-left": "rms_\u202emron\u202c",
    "zero-width": "rms\u200b_norm",
    "joiner": "rms_no\u2060rm",
    "fullwidth": "\uff52ms_norm",
    "soft hyphen": "rms_\u00adnorm",
    "mark": "rms_norm\u0301",
    "case": "RMS_NORM",
    "blank": "rms_norm ",
    "no-break": "rms_norm\u00a0",
}


@pytest.mark.parametrize("column", ["kernel_name", "kernel_provider", "gpu_name", "kernel_operation_mode", "x_name"])
@pytest.mark.parametrize("trick", NAMES)
def test_a_name_that_looks_like_a_curated_one_is_another(tmp_path: Path, column: str, trick: str) -> None:
    looks = (
        NAMES[trick].replace("rms", ROW[column][:3]).replace("norm", ROW[column][3:])
        if column != "kernel_name"
        else NAMES[trick]
    )
    path = tmp_path / "in.csv"
    path.write_text(text([ROW | {column: looks}]), newline="")
    found = convert([path], None)
    assert found.bundles == 0
    assert found.skipped[0].detail.isascii()


def test_names_that_look_alike_are_counted_apart_and_shown_escaped(tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    tricks = ["caf\u00e9", "cafe\u0301", "caf\u0435\u0301", "caf\u200be", "\u202eefac"]
    path.write_text(text([ROW | {"kernel_name": one, "x_value": "4096"} for one in tricks]), newline="")
    done = run("csv", path, "-o", tmp_path / "out")
    groups = report(tmp_path / "out")["skipped"]
    assert sorted(group["kernel"] for group in groups) == sorted(tricks)  # type: ignore[index,attr-defined]
    assert done.errors.replace("…", "").isascii()
    assert "caf\\xe9" in done.errors
    assert "cafe\\u0301" in done.errors
    assert "\\u202eefac" in done.errors


def test_pipes_devices_and_folders_are_no_files(tmp_path: Path) -> None:
    pipe, folder = tmp_path / "pipe.csv", tmp_path / "folder.csv"
    os.mkfifo(pipe)
    folder.mkdir()
    (tmp_path / "loop").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "self.csv").symlink_to(tmp_path / "self.csv")
    for path, said in (
        (pipe, "a pipe or device, not a file"),
        (Path("/dev/zero"), "a pipe or device, not a file"),
        (folder, "no CSV below this folder"),
        (tmp_path / "self.csv", "no such file"),
        (tmp_path / ("n" * 300), "File name too long"),
        (tmp_path / "a\0b", "no such file"),
    ):
        with pytest.raises(InputError, match=said):
            convert([path], None)
    with pytest.raises(InputError, match="no CSV below this folder"):
        convert([tmp_path], None)
    (folder / "in.csv").write_text(text([ROW]), newline="")
    assert [one.file for one in convert([tmp_path], None).inputs] == [str(folder / "in.csv")]


def test_what_a_shell_hands_over_is_read(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.write(writer, HEADER + GOOD)
    os.close(writer)
    try:
        assert convert([f"/dev/fd/{reader}"], None).bundles == 1
    finally:
        os.close(reader)


def test_a_file_name_that_is_no_text(tmp_path: Path) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff\x1b[2J.csv"))
    path.write_text(text([ROW, ROW | {"x_value": "none"}]), newline="")
    for form in ("tree", "jsonl", "parquet", "submission"):
        done = run("csv", path, "-o", tmp_path / form, "--format", form)
        assert done.status == 3
        assert "\x1b" not in done.output + done.errors
        assert report(tmp_path / form)["bundles"] == 1
