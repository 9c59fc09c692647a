"""The catalogue binds every row that the runner would measure, and to the tensors that upstream's script makes."""

from __future__ import annotations

import json
from collections import Counter
from datetime import datetime, timedelta
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from kernelindex_liger.bench import registry, table
from kernelindex_liger.bench.models import DEFAULT_MODEL, MODELS
from kernelindex_liger.bench.plan import DEFAULT_IMPL, Selection, series_of
from kernelindex_liger.bench.spec import Request
from kernelindex_liger.catalog import EDITIONS, load
from kernelindex_liger.conversion import Options, convert
from kernelindex_liger.conversion.bind import Binder
from kernelindex_liger.conversion.read import read
from kernelindex_liger.conversion.reading import DTYPES
from kernelindex_liger.conversion.sources import find

GPU = "NVIDIA H200"
VALUES = (1.0, 0.9, 1.1)
START = datetime(2026, 11, 30, 1, 2, 3)  # noqa: DTZ001 - the CSV's timestamps name no zone

NOT_INPUTS = {
    ("*", "dy"): "the gradient that goes in",
    ("*", "grad_output"): "the gradient that goes in",
    (
        "*",
        "pos_ids",
    ): "the tables of rotary embeddings are made of them before the timed call, which does not read them",
    ("fused_moe", "logits"): "the routing is made of them before the timed call",
    ("grpo_loss_kernel_*", "old_logp"): "None",
    ("mhc_coeffs", "f_out"): "the matrix lists inputs of all three hyper-connection kernels for each",
    ("mhc_pre", "f_out"): "the same",
    ("mhc_p*", "phi"): "the coefficients are made of it before the timed call",
    ("mhc_p*", "b_param"): "the same",
    ("mhc_p*", "alpha_pre, alpha_post, alpha_res"): "the same",
    ("mhc_*", "h_pre / h_post / h_res"): "the matrix gives no shape",
}
"""(kernel pattern, name) of what a script sets up that is no input of the timed call, with the reason."""


def request(model=DEFAULT_MODEL, gib=80, bt=2048):
    return Request(model=MODELS[model], bt=bt, total_gib=gib)


def planned(kernels, requests, **selection):
    """Rows of every sweep, provider, pass and backend, as one run after the other would leave them in the CSV."""
    rows, moment = [], START
    for name in kernels:
        kernel = registry.kernel(name)
        sweeps = tuple(sorted({answer for sweep in kernel.sweeps for answer in sweep.answers}))
        for impl in (DEFAULT_IMPL, *kernel.impls):
            chosen = Selection(sweeps=sweeps, all_providers=True, impl=impl, **selection)
            for one in requests:
                for series in series_of(kernel, chosen, one):
                    moment += timedelta(seconds=1)
                    rows += table.rows_of(
                        series,
                        gpu=GPU,
                        liger_version="0.8.1",
                        timestamp=str(moment),
                        values=dict.fromkeys(series.x_values, VALUES),
                    )
    return table.merge([], rows, overwrite=False)


def written(path, rows):
    table.write(path, rows)
    return path


@pytest.fixture(scope="module")
def everything(tmp_path_factory):
    """The default plan of all kernels, and its CSV."""
    rows = planned(registry.names(), [request()])
    return rows, written(tmp_path_factory.mktemp("plan") / "results.csv", rows)


def test_the_plan_is_whole(everything):
    """What the tests below go through: no kernel, sweep, provider, pass or metric is missing from it."""
    rows, _ = everything
    seen = {(r["kernel_name"], r["x_name"], r["kernel_provider"], r["kernel_operation_mode"], r["metric_name"])
            for r in rows}  # fmt: skip
    wanted = {
        (kernel.name, sweep.x_name, provider.name, pass_name, metric)
        for kernel in map(registry.kernel, registry.names())
        for sweep in kernel.sweeps
        for provider in kernel.providers
        for metric, passes in (("speed", kernel.speed), ("memory", kernel.memory))
        for pass_name in passes
    }
    assert wanted <= seen
    assert any("cutile" in provider for _, _, provider, _, _ in seen - wanted)


@pytest.mark.parametrize("edition", EDITIONS)
def test_every_planned_row_binds(everything, edition):
    rows, path = everything
    report = convert([path], None, Options(edition=edition, memory=True))
    assert [(g.reason, g.kernel, g.provider, g.rows, g.detail) for g in report.skipped] == []
    assert report.bundles == report.rows_read == len(rows) > 7000


def test_every_planned_row_binds_for_other_models_and_devices(tmp_path):
    requests = [request(model=name) for name in MODELS] + [request(gib=g, bt=b) for g, b in ((24, 512), (178, 16384))]
    rows = planned(registry.names(), requests, metrics=("speed",), passes=("forward",), quick=True)
    report = convert([written(tmp_path / "results.csv", rows)], None)
    assert [(g.reason, g.kernel, g.provider, g.rows, g.detail) for g in report.skipped] == []
    assert report.bundles == len(rows)


def test_a_shape_that_is_missing_is_noticed(tmp_path):
    """The tests above can fail: without one shape, that sweep's rows are counted as skipped, and no others."""
    source = Path(load().kernels["relu_squared"].path).read_text(encoding="utf-8")
    before, model = source.split('id = "model"')
    poorer = tmp_path / "relu_squared.toml"
    poorer.write_text(before.rpartition("[[shapes]]")[0] + model[model.index("\n[implementations") :], encoding="utf-8")
    rows = planned(["relu_squared"], [request()])
    report = convert([written(tmp_path / "results.csv", rows)], None, Options(memory=True, catalog=[poorer]))
    lost = Counter(row["x_name"] for row in rows)["model_config"]
    assert lost > 0
    assert report.skipped_by_reason == {"unknown_shape": lost}


class Config(dict):
    """A config as the matrix's expressions see it: keys are attributes."""

    def __getattr__(self, name):
        value = self[name]
        return Config(value) if isinstance(value, dict) else value

    def __getitem__(self, name):
        value = super().__getitem__(name)
        return Config(value) if isinstance(value, dict) else value


def number_or_name(x):
    return int(x) if x.isdigit() else x


def script_tensors(entry, row):
    """Shape and dtype of each input that the script makes for a row, by name."""
    x = number_or_name(row["x_value"])
    model = MODELS.get(x) if isinstance(x, str) else None
    names = {"x": x, "cfg": Config(json.loads(row["extra_benchmark_config_str"])), "model": model, "max": max}

    def value(text):
        return eval(text, {"__builtins__": {}}, names)  # noqa: S307 - expressions of our own facts

    for name, text in entry["dims"].items():
        names[name] = value(text)
    for tensor in entry["setup_inputs"]:
        if not any(fnmatchcase(row["kernel_name"], kernel) and tensor["name"] == name for kernel, name in NOT_INPUTS):
            dtype = names["dtype"] if tensor["dtype"] == "dtype" else tensor["dtype"]
            shape = [value(str(dim)) for dim in tensor["shape"]]
            if "transpose(1,2)" in tensor.get("post", ""):
                shape[1], shape[2] = shape[2], shape[1]
            if tensor.get("post") == "squeezed to [BT]":
                shape.pop()
            shape = shape or [1]  # documents write a tensor without dimensions as one of one element
            yield tensor["name"], shape, DTYPES.get(dtype, dtype.removeprefix("torch."))


def entry_of(entries, row):
    x_name, swept = row["x_name"], row["x_name"] == "model_config"
    return next(
        e
        for e in entries
        if e["kernel_name"] == row["kernel_name"]
        and e["x_name"] == x_name
        and (e["sweep_mode"] == "model_config") == swept
    )


def test_planned_rows_bind_to_the_tensors_of_the_scripts(everything, shared):
    """Held against what was read from upstream's scripts: each input that a script makes is one of the workload's.

    In the edition that says what scripts really do. Parameters of modules are not in the matrix.
    """
    entries = json.loads((shared / "upstream" / "bench_matrix.json").read_text())["entries"]
    _, path = everything
    binder = Binder(load(), "corrected", memory=True)
    wrong, checked = {}, Counter()
    for batch in read(find([path])[0], 0):
        bound = binder.bind(batch.frame).rows
        first = bound.unique(["kernel_name", "x_name", "x_value", "extra_benchmark_config_str"], maintain_order=True)
        for row in first.iter_rows(named=True):
            combination = binder.combinations[row["combination"]]
            have = [(t["shape"], t["dtype"]) for t in combination.workload.document["spec"]["tensors"].values()]
            for name, shape, dtype in script_tensors(entry_of(entries, row), row):
                checked[row["kernel_name"]] += 1
                if (shape, dtype) not in have:
                    wrong[row["kernel_name"], combination.reading.shape.id, name] = (shape, dtype, have)
    assert wrong == {}
    assert set(checked) == set(registry.names())
