"""What kernels deviate in, against the catalogue's caveats: on which planned rows each of them stands."""

import datetime as dt
import functools

import polars as pl
import pytest

from kernelindex_liger.bench import registry, table
from kernelindex_liger.bench.models import MODELS
from kernelindex_liger.bench.plan import Selection, series_of
from kernelindex_liger.bench.spec import NoCaveat, Request
from kernelindex_liger.catalog import load
from kernelindex_liger.conversion.match import Labels

CAVEATS = {caveat.id: caveat for caveat in load().caveats}
LABELS = Labels([(caveat.id, caveat.match) for caveat in CAVEATS.values()])
KERNELS = [registry.kernel(name) for name in registry.names()]
DEVIATIONS = [(kernel, deviation) for kernel in KERNELS for deviation in kernel.deviations]
NOW = dt.datetime.fromisoformat("2026-12-01")
SNAPSHOT = dt.datetime.fromisoformat("2026-08-23T23:59:59")
"""The newest of upstream's rows that anybody has looked at."""


def planned(kernel):
    """Every row that the runner plans for the kernel (whatever backend, sweep, model), as a frame; `own` and
    `devices` are the provider's name before its tag and the GPUs of a case.
    """
    rows = []
    sweeps = tuple(name for sweep in kernel.sweeps for name in sweep.answers)
    for model in ("llama_3_8b", "deepseek_v3"):
        request = Request(model=MODELS[model], bt=2048, total_gib=80)
        for impl in ("default", *kernel.impls):
            selection = Selection(sweeps=sweeps, impl=impl, all_providers=True)
            for series in series_of(kernel, selection, request):
                whose = {"own": series.provider, "devices": series.devices}
                rows.extend(row | whose for row in table.rows_of(series, gpu="NVIDIA H200", liger_version="0.8.5"))
    profiles = pl.Series("profile", [LABELS.by_x(row)(row["x_value"]) for row in rows])
    numbers = (pl.lit(None, pl.Float64).alias(number) for number in ("p20", "p50", "p80"))
    return pl.DataFrame(rows).with_columns(profiles, *numbers)


FRAMES = {kernel.name: planned(kernel) for kernel in KERNELS}


@functools.cache
def labelled(name, moment):
    """The kernel's planned rows as measured at `moment`, with the caveats on each."""
    frame = FRAMES[name].with_columns(pl.lit(moment).alias("moment"))
    return frame.with_columns(LABELS.texts(frame, "profile").str.split(" ").alias("caveats"))


def taken(kernel, caveat, moment=NOW):
    """The planned rows on which the caveat stands when they are measured at `moment`."""
    return labelled(kernel.name, moment).filter(pl.col("caveats").list.contains(caveat))


def identity(pair):
    return f"{pair[0].name}-{pair[1].slug}"


@pytest.mark.parametrize("pair", DEVIATIONS, ids=identity)
def test_a_deviation_has_a_caveat_or_says_why_none_is_needed(pair):
    _, deviation = pair
    if isinstance(deviation.caveat, NoCaveat):
        assert len(deviation.caveat.why) > 20
        assert deviation.caveat.why.endswith(".")
    else:
        assert deviation.caveat in CAVEATS


@pytest.mark.parametrize(
    "pair",
    [p for p in DEVIATIONS if isinstance(p[1].caveat, str) and p[1].decision == "reproduced"],
    ids=identity,
)
def test_a_kept_oddity_is_a_caveat_on_exactly_the_providers_and_passes_it_names(pair):
    kernel, deviation = pair
    rows = taken(kernel, deviation.caveat)
    providers = set(deviation.providers or (p.name for p in kernel.providers))
    assert set(rows["own"]) == providers
    passes = {*kernel.speed, *kernel.memory}
    assert set(rows["kernel_operation_mode"]) == passes & set(deviation.passes or passes)


@pytest.mark.parametrize(
    "pair",
    [p for p in DEVIATIONS if isinstance(p[1].caveat, str) and p[1].decision == "corrected"],
    ids=identity,
)
def test_a_corrected_oddity_is_a_caveat_on_upstreams_rows_alone(pair):
    kernel, deviation = pair
    rows = taken(kernel, deviation.caveat, SNAPSHOT)
    assert not rows.is_empty()
    assert taken(kernel, deviation.caveat).filter(pl.col("devices") == 1).is_empty()
    assert set(rows["own"]) <= set(deviation.providers or (p.name for p in kernel.providers))


def test_every_open_caveat_on_planned_rows_is_a_deviation_of_their_kernel():
    """What the catalogue says of the runner's rows is said by the runner too."""
    for kernel in KERNELS:
        named = {d.caveat for d in kernel.deviations if isinstance(d.caveat, str)}
        standing = {caveat for caveat in CAVEATS if not taken(kernel, caveat).is_empty()}
        assert standing <= named, kernel.name
