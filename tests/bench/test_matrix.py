"""Planned rows against the matrix of what upstream's scripts run: identity, order, memory-bound variants."""

import json
import subprocess
import sys

import pytest

from kernelindex_liger.bench import registry, table
from kernelindex_liger.bench.models import DEFAULT_MODEL, MODELS
from kernelindex_liger.bench.plan import Selection, estimated, series_of
from kernelindex_liger.bench.spec import Request

REQUEST = Request(model=MODELS[DEFAULT_MODEL], bt=2048, total_gib=80)

NOT_OURS = {
    "explicit tokens (example)": "an example of free-form flags (--tokens, --hidden, --vocab) that we do not "
    "have: --x chooses among the sweep's tokens",
}
"""Variants of the matrix that cannot be asked for, with the reason."""


@pytest.fixture(scope="module")
def entries(shared):
    return json.loads((shared / "upstream" / "bench_matrix.json").read_text())["entries"]


def selection_of(entry):
    variant = entry["variant"] or ""
    sweep, impl = entry["sweep_mode"], "default"
    if variant.startswith("sweep-dim"):
        sweep = variant.split()[1]
    elif variant.startswith("tp") and not variant.startswith("tp1"):
        sweep = variant.split("+")[0]
    elif variant.startswith("LIGER_KERNEL_IMPL="):
        impl = variant.split("=")[1]
    return Selection(sweeps=(sweep,), metrics=(entry["metric_name"],), impl=impl, all_providers=True)


def expected_rows(entry):
    """What upstream writes on 80 GiB, in its order: identity columns."""
    bound = entry["memory_dependence"].get("expected_on_80GB", entry)
    return [
        (
            entry["kernel_name"],
            provider,
            pass_name,
            entry["metric_name"],
            entry["metric_unit"],
            entry["x_name"],
            entry["x_label"],
            str(x),
            config,
        )
        for config in bound["extra_benchmark_config_strs"]
        for pass_name in entry["kernel_operation_modes"]
        for provider in entry["kernel_providers"]
        for x in bound["x_values"]
    ]


def planned_rows(kernel, selection):
    return [
        (series.kernel, series.provider, *list(row.values())[2:8], row["extra_benchmark_config_str"])
        for series in series_of(kernel, selection, REQUEST)
        for row in table.rows_of(series, gpu="", liger_version="")
    ]


def test_the_table_has_every_kernel_of_the_matrix_and_no_other(entries):
    assert set(registry.names()) == {e["kernel_name"] for e in entries}
    for name in registry.names():
        assert registry.kernel(name).name == name


def calls_of(entries):
    """Entries of one kernel, sweep, variant and metric together, in upstream's order (dyt has two)."""
    calls = {}
    for e in entries:
        if e["variant"] not in NOT_OURS:
            key = (e["kernel_name"], e["sweep_mode"], e["variant"], e["metric_name"])
            calls.setdefault(key, []).append(e)
    return calls


def test_every_call_of_every_script_is_planned_row_by_row(entries):
    known = {}
    for e in entries:
        known.setdefault(e["kernel_name"], set()).update(e["kernel_providers"])
    wrong = []
    for key, same in calls_of(entries).items():
        providers = same[0]["kernel_providers"]
        planned = planned_rows(registry.kernel(key[0]), selection_of(same[0]))
        # What a call leaves out for want of a package is in another call of the same kernel.
        assert {row[1] for row in planned} <= known[key[0]], key
        ours = [row for row in planned if row[1] in providers]
        theirs = [row for entry in same for row in expected_rows(entry)]
        if ours != theirs:
            odd = [pair for pair in zip(ours, theirs, strict=False) if pair[0] != pair[1]][:1]
            wrong.append((key, len(ours), len(theirs), odd))
    assert wrong == []


def probed(entries):
    """(entry, our sweep) of each probed call, one a metric."""
    for (name, mode, variant, _), same in calls_of(entries).items():
        sweeps = [s for s in registry.kernel(name).sweeps if mode in s.answers]
        if variant is None and "by_seq_len" in same[0]["memory_dependence"]:
            yield from zip(same, sweeps, strict=True)


def outcomes(sweep):
    """All points that any peak leads to, for the default model on 80 GiB."""
    probes = len(sweep.probes(REQUEST))
    found = set()
    peak = 1.0
    while peak < 2**45:
        points = sweep.points(REQUEST, (int(peak),) * probes)
        found.add((points.x_values, tuple(json.dumps(c) for c in points.configs)))
        peak *= 1.3
    return found


def test_memory_bound_variants_are_exactly_those_of_the_matrix(entries):
    wrong = []
    for entry, sweep in probed(entries):
        alternatives = entry["memory_dependence"]["by_seq_len"].values()
        theirs = {(tuple(a["x_values"]), tuple(a["extra_benchmark_config_strs"])) for a in alternatives}
        ours = outcomes(sweep)
        if ours != theirs:
            wrong.append((entry["id"], sorted(ours - theirs)[:2], sorted(theirs - ours)[:2]))
    assert wrong == []


def test_estimates_are_the_matrix_s(entries):
    for entry, sweep in probed(entries):
        estimate = entry["memory_dependence"]["estimate"]
        want = estimate.get("probe_peak_bytes_est") or estimate["worst_probe_peak_bytes_est"]
        assert sweep.estimate == want, entry["id"]


@pytest.mark.parametrize("gib", [79, 139, 178])
def test_other_devices_are_planned_as_the_matrix_estimates_them(entries, gib):
    request = Request(model=MODELS[DEFAULT_MODEL], bt=2048, total_gib=gib)
    checked = 0
    for entry, sweep in probed(entries):
        sized = entry["memory_dependence"]["estimate"]["by_total_gib"][str(gib)]
        alternatives = entry["memory_dependence"]["by_seq_len"]
        if str(sized["seq_len"]) in alternatives:
            want = alternatives[str(sized["seq_len"])]
            points = estimated(sweep, request)
            assert list(points.x_values) == want["x_values"], entry["id"]
            assert [json.dumps(c) for c in points.configs] == want["extra_benchmark_config_strs"], entry["id"]
            checked += 1
    assert checked > 50


def test_planning_everything_imports_no_torch():
    code = (
        "import sys\n"
        "from kernelindex_liger.bench import registry\n"
        "for name in registry.names(): registry.kernel(name)\n"
        "import kernelindex_liger.cli.bench, kernelindex_liger.bench.runner\n"
        "bad = {'torch', 'triton', 'liger_kernel', 'transformers', 'polars'} & set(sys.modules)\n"
        "sys.exit(f'imported {bad}' if bad else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
