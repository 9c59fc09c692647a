"""Wrong input: one clear message each, the right reason, and the good rows beside it still convert."""

from __future__ import annotations

import string
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from kernelindex_liger.conversion import REASONS, InputError, Options, convert
from kernelindex_liger.conversion.read import read
from kernelindex_liger.conversion.rows import COLUMNS
from kernelindex_liger.conversion.sources import find
from tests.conftest import ROW, text

GOOD = {"x_value": "4096"}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"kernel_name": "../../etc/passwd"}, "unknown_kernel"),
        ({"kernel_name": "a/b"}, "unknown_kernel"),
        ({"kernel_name": "a\0b"}, "unknown_kernel"),
        ({"kernel_name": "k" * 300}, "unknown_kernel"),
        ({"kernel_name": "rms_norm\u202e"}, "unknown_kernel"),
        ({"kernel_provider": "../up"}, "unknown_provider"),
        ({"kernel_provider": "p" * 300}, "unknown_provider"),
        ({"kernel_provider": "lig\u0435r"}, "unknown_provider"),
        ({"gpu_name": "NVIDIA/../H100"}, "unknown_gpu"),
        ({"gpu_name": "\0"}, "unknown_gpu"),
        ({"gpu_name": "g" * 300}, "unknown_gpu"),
        ({"gpu_name": "CPU (rehearsal)"}, "rehearsal"),
        ({"kernel_operation_mode": "sideways"}, "unknown_pass"),
        ({"kernel_operation_mode": ".."}, "unknown_pass"),
        ({"metric_name": "joules"}, "unknown_metric"),
        ({"metric_unit": "us"}, "unknown_metric"),
        ({"x_name": "Z"}, "unknown_shape"),
        ({"extra_benchmark_config_str": "{"}, "bad_config"),
        ({"extra_benchmark_config_str": ""}, "bad_config"),
        ({"extra_benchmark_config_str": "[]"}, "bad_config"),
        ({"extra_benchmark_config_str": "null"}, "bad_config"),
        ({"extra_benchmark_config_str": '{"M": NaN, "dtype": "torch.bfloat16", "eps": 1e-06}'}, "bad_config"),
        ({"extra_benchmark_config_str": '{"M": 1, "M": 2, "dtype": "torch.bfloat16", "eps": 1e-06}'}, "bad_config"),
        ({"extra_benchmark_config_str": '{"M": 1e999, "dtype": "torch.bfloat16", "eps": 1e-06}'}, "bad_config"),
        ({"extra_benchmark_config_str": "[" * 5000}, "bad_config"),
        ({"extra_benchmark_config_str": '{"M": true, "dtype": "torch.bfloat16", "eps": 1e-06}'}, "unmet_condition"),
        ({"extra_benchmark_config_str": '{"M": 0, "dtype": "torch.bfloat16", "eps": 1e-06}'}, "unmet_condition"),
        ({"extra_benchmark_config_str": '{"M": 8, "dtype": "torch.int3", "eps": 1e-06}'}, "unmet_condition"),
        ({"extra_benchmark_config_str": '{"M": 8, "dtype": "torch.bfloat16", "eps": "small"}'}, "unmet_condition"),
        ({"x_value": ""}, "bad_x"),
        ({"x_value": "1024.5"}, "bad_x"),
        ({"x_value": "-4"}, "bad_x"),
        ({"x_value": "0"}, "bad_x"),
        ({"x_value": "\u0661\u0662"}, "bad_x"),
        ({"x_value": "9" * 400}, "bad_x"),
        ({"y_value_50": ""}, "bad_value"),
        ({"y_value_50": "fast"}, "bad_value"),
        ({"y_value_50": "nan"}, "bad_value"),
        ({"y_value_50": "inf"}, "bad_value"),
        ({"y_value_50": "0"}, "bad_value"),
        ({"y_value_50": "-0.5"}, "bad_value"),
        ({"y_value_50": "1e400"}, "bad_value"),
        ({"y_value_50": "1e300"}, "bad_value"),
        ({"y_value_50": "1e-300"}, "bad_value"),
        ({"y_value_20": "slow"}, "bad_value"),
        ({"y_value_20": "-1"}, "bad_value"),
        ({"y_value_20": "0.55"}, "disordered_quantiles"),
        ({"y_value_80": "0.45"}, "disordered_quantiles"),
        ({"timestamp": ""}, "bad_timestamp"),
        ({"timestamp": "yesterday"}, "bad_timestamp"),
        ({"timestamp": "2026-02-30 00:00:00"}, "bad_timestamp"),
        ({"timestamp": "2026-01-02"}, "bad_timestamp"),
        ({"timestamp": "../../2026-01-02 03:04:05"}, "bad_timestamp"),
        ({"liger_version": "0" * 201}, "bad_release"),
    ],
)
def test_a_bad_row_is_skipped_under_its_reason(
    write_csv: Callable[..., Path], tmp_path: Path, change: dict[str, str], reason: str
) -> None:
    path = write_csv(GOOD, change)
    report = convert([path], tmp_path / "out")
    assert report.skipped_by_reason == {reason: 1}
    assert report.bundles == 1
    assert report.bad_input == (REASONS[reason].blame == "input")
    group = report.skipped[0]
    assert group.first == [f"{path}:3"]
    assert group.detail
    made = [one for one in tmp_path.rglob("*.json") if one.parent.name != "out" and "runs" in one.parts]
    assert len(made) == 1
    assert {one.name for one in tmp_path.iterdir()} == {"in.csv", "out"}


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        (lambda line: line.rsplit(",", 1)[0], "14 fields where 15 are expected"),
        (lambda line: line + ",more", "16 fields where 15 are expected"),
        (lambda line: line.replace("hidden size", '"hidden size'), "a quote opens and never closes"),
        (lambda line: line.replace("hidden size", "\xff"), "not UTF-8: byte 0xff at column"),
        (lambda line: line.replace("hidden size", '"hidden"size'), "not CSV"),
        (lambda _: "<<<<<<< HEAD", "1 fields where 15 are expected"),
        (lambda line: line.replace("hidden size", "h" * (1 << 20)), "longer than 1048576 bytes"),
        (lambda line: line.replace("hidden size", "h" * (9 << 20)), "longer than 1048576 bytes"),
    ],
)
def test_a_malformed_line_is_named_and_the_others_convert(
    tmp_path: Path, damage: Callable[[str], str], problem: str
) -> None:
    lines = text([ROW | GOOD, ROW, ROW | {"x_value": "8192"}]).split("\r\n")
    lines[2] = damage(lines[2])
    path = tmp_path / "in.csv"
    path.write_bytes("\r\n".join(lines).encode("latin-1"))
    report = convert([path], tmp_path / "out")
    assert report.bundles == 2
    assert report.rows_read == 3
    assert [(one.line, problem in one.problem) for one in report.malformed] == [(3, True)], report.malformed
    assert report.bad_input


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "empty"),
        (b"\n\n", "not a Liger-Kernel benchmark CSV"),
        (b"a,b,c\n1,2,3\n", "not a Liger-Kernel benchmark CSV"),
        (b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "not a Liger-Kernel benchmark CSV"),
        (b"\x1f\x8b" + bytes(50), "compressed"),
        ("\ufeff".encode("utf-16-le") + "kernel_name".encode("utf-16-le"), "UTF-16"),
        (",".join(COLUMNS[:-1]).encode() + b"\n", "missing liger_version"),
        (",".join([*COLUMNS, "extra"]).encode() + b"\n", "unknown extra"),
        (",".join([*COLUMNS, "x_name"]).encode() + b"\n", "doubled x_name"),
        (",".join(COLUMNS).replace("gpu_name", "device").encode() + b"\n", "missing gpu_name; unknown device"),
    ],
)
def test_a_file_that_is_no_such_csv_says_so(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "in.csv"
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        convert([path], tmp_path / "out")
    assert said in str(caught.value)
    assert str(path) in str(caught.value)


def test_one_unreadable_file_beside_a_good_one(write_csv: Callable[..., Path], tmp_path: Path) -> None:
    bad = tmp_path / "bad.csv.gz"
    bad.write_bytes(b"\x1f\x8b\x08broken")
    report = convert([write_csv({}), bad], tmp_path / "out")
    assert report.bundles == 1
    assert report.bad_input
    assert [bool(one.error) for one in report.inputs] == [True, False]


@pytest.mark.parametrize("change", [lambda t: "\ufeff" + t, lambda t: t.replace("\r\n", "\n"), lambda t: t.rstrip()])
def test_marks_and_line_ends_change_nothing(tmp_path: Path, change: Callable[[str], str]) -> None:
    plain, other = tmp_path / "a.csv", tmp_path / "b.csv"
    plain.write_text(text([ROW]), newline="")
    other.write_text(change(text([ROW])), newline="")
    convert([plain], tmp_path / "1", Options(format="jsonl"))
    convert([other], tmp_path / "2", Options(format="jsonl"))
    assert (tmp_path / "1" / "runs.jsonl").read_bytes() == (tmp_path / "2" / "runs.jsonl").read_bytes()


def test_a_header_alone_gives_nothing_and_is_no_fault(write_csv: Callable[..., Path], tmp_path: Path) -> None:
    for format_ in ("tree", "jsonl", "parquet", "submission"):
        report = convert([write_csv()], tmp_path / format_, Options(format=format_))
        assert (report.rows_read, report.bundles, report.bad_input) == (0, 0, False)


def test_columns_may_stand_in_any_order(tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_text(text([ROW], columns=sorted(COLUMNS)), newline="")
    assert convert([path], tmp_path / "out").bundles == 1


def test_a_path_with_brackets_is_a_path(tmp_path: Path) -> None:
    path = tmp_path / "in[1]*.csv"
    path.write_text(text([ROW]), newline="")
    assert convert([path], tmp_path / "out[1]", Options(format="parquet")).bundles == 1


FIELD = st.text(st.characters(exclude_categories=["Cs"]), max_size=12) | st.sampled_from(
    ["", '"', ",", "\n", "\r\n", "speed", "ms", "nan", "1e400", "0.5", "rms_norm", "{}", '{"M": 1}', "../x", "\0"]
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.dictionaries(st.sampled_from(COLUMNS), FIELD, max_size=4), max_size=6))
def test_any_fields_are_accounted_for(tmp_path: Path, changes: list[dict[str, str]]) -> None:
    path = tmp_path / "in.csv"
    path.write_text(text([ROW | change for change in changes]), newline="", encoding="utf-8")
    report = convert([path], None)
    assert report.adds_up
    assert report.rows_read >= len(changes) or report.skipped_by_reason


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=400) | st.text(string.printable, max_size=400).map(str.encode))
@example(b'"')
@example(b'a,"b\n' * 3)
def test_any_bytes_never_crash(tmp_path: Path, noise: bytes) -> None:
    path = tmp_path / "in.csv"
    path.write_bytes(text([ROW]).encode() + noise)
    report = convert([path], None)
    assert report.adds_up
    path.write_bytes(noise)
    with pytest.raises(InputError, match="in\\.csv"):
        convert([path], None)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(FIELD, min_size=15, max_size=15), max_size=5), st.sampled_from(["\n", "\r\n"]))
def test_the_fast_reader_agrees_with_the_csv_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: list[list[str]], end: str
) -> None:
    path = tmp_path / "in.csv"
    content = text([dict(zip(COLUMNS, row, strict=True)) for row in rows], end=end)
    path.write_text(content, newline="", encoding="utf-8")

    def every() -> list[tuple[object, ...]]:
        return [row for source in find([path]) for batch in read(source, 0) for row in batch.frame.rows()]

    fast = every()
    with monkeypatch.context() as patch:
        patch.setattr("kernelindex_liger.conversion.read._fast", lambda *_: None)
        assert every() == fast
