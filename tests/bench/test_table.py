"""The CSV: upstream's texts, merge rule and line ends."""

import pytest

from kernelindex_liger.bench import table
from kernelindex_liger.bench.plan import Series, tagged

SERIES = Series(
    kernel="rms_norm",
    script="benchmark_rms_norm.py",
    provider="liger",
    tagged="liger",
    baseline="huggingface",
    pass_name="full",  # noqa: S106 - a pass, not a word of entrance
    metric="speed",
    x_name="T",
    x_label="Sequence length",
    x_values=(1024, 2048),
    config={"hidden_size": 4096, "dtype": "torch.bfloat16", "eps": 1e-06, "bias": False, "T": None},
    model="llama_3_8b",
)


def rows(gpu="G", values=None, stamp="2026-01-02 03:04:05"):
    return table.rows_of(SERIES, gpu=gpu, liger_version="0.8.5", timestamp=stamp, values=values)


def test_one_row_byte_for_byte(tmp_path):
    out = tmp_path / "a.csv"
    table.write(out, rows(values={1024: (0.5324159860610962, 0.1, 1.0)}))
    assert out.read_bytes() == (
        b"kernel_name,kernel_provider,kernel_operation_mode,metric_name,metric_unit,x_name,x_label,x_value,"
        b"y_value_50,y_value_20,y_value_80,extra_benchmark_config_str,gpu_name,timestamp,liger_version\r\n"
        b"rms_norm,liger,full,speed,ms,T,Sequence length,1024,0.5324159860610962,0.1,1.0,"
        b'"{""hidden_size"": 4096, ""dtype"": ""torch.bfloat16"", ""eps"": 1e-06, '
        b'""bias"": false, ""T"": null}",'
        b"G,2026-01-02 03:04:05,0.8.5\r\n"
    )


def test_upstreams_file_is_read_and_written_back_byte_for_byte(shared, tmp_path):
    source = shared / "upstream" / "all_benchmark_data_cutedsl.csv"
    out = tmp_path / "a.csv"
    table.write(out, table.merge(table.read(source), (), overwrite=False))
    assert out.read_bytes().replace(b"\r\n", b"\n") == source.read_bytes().replace(b"\r\n", b"\n")


def test_a_row_that_is_there_stays_unless_overwritten_and_keeps_its_place():
    old = [*rows(values={1024: (1, 1, 1), 2048: (2, 2, 2)}, stamp="old")]
    new = [
        *rows(values={1024: (9, 9, 9)}, stamp="new"),
        *rows(gpu="H", values={1024: (3, 3, 3)}, stamp="new"),
    ]
    kept = table.merge(old, new, overwrite=False)
    assert [(r["gpu_name"], r["x_value"], r["y_value_50"]) for r in kept] == [
        ("G", "1024", "1.0"),
        ("G", "2048", "2.0"),
        ("H", "1024", "3.0"),
    ]
    replaced = table.merge(old, new, overwrite=True)
    assert [(r["y_value_50"], r["timestamp"]) for r in replaced] == [
        ("9.0", "new"),
        ("2.0", "old"),
        ("3.0", "new"),
    ]


def test_rows_of_one_key_collapse_to_the_first_place_and_the_last_content():
    first, second, third = (next(iter(rows(values={x: (y, y, y)}))) for x, y in ((1024, 1), (2048, 2), (1024, 3)))
    assert [r["y_value_50"] for r in table.merge([first, second, third], (), overwrite=False)] == [
        "3.0",
        "2.0",
    ]


def test_a_plans_rows_have_empty_values():
    assert {r["y_value_50"] for r in rows()} == {""}
    assert [r["x_value"] for r in rows()] == ["1024", "2048"]


@pytest.mark.parametrize("content", ["a,b\n1,2\n", "just text"])
def test_another_file_is_not_merged_into(tmp_path, content):
    out = tmp_path / "a.csv"
    out.write_text(content)
    with pytest.raises(table.BadTableError, match="choose another -o"):
        table.read(out)
    assert out.read_text() == content


def test_bytes_that_are_no_text_are_refused(tmp_path):
    out = tmp_path / "a.csv"
    out.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(table.BadTableError, match="UTF-8"):
        table.read(out)


def test_an_error_while_writing_leaves_the_file_and_nothing_beside_it(tmp_path):
    out = tmp_path / "a.csv"
    table.write(out, rows())
    before = out.read_bytes()
    with pytest.raises(ValueError, match="fields not in"):
        table.write(out, [{"nonsense": "1"}])
    assert out.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["a.csv"]


@pytest.mark.parametrize(
    ("provider", "impl", "name"),
    [
        ("liger", "default", "liger"),
        ("liger", "cutile", "liger_cutile"),
        ("liger-fp32-accum", "cutile", "liger_cutile-fp32-accum"),
        ("liger_in_place", "cutedsl", "liger_cutedsl_in_place"),
        ("torch", "cutile", "torch"),
    ],
)
def test_liger_providers_are_named_after_their_backend(provider, impl, name):
    assert tagged(provider, impl) == name
