"""Which series a run consists of: pure, from kernels, options and the peaks of the memory probes."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from kernelindex_liger.bench.requirements import unmet_of
from kernelindex_liger.bench.spec import Config, ImplRule, Metric, Points, Request, Sweep

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kernelindex_liger.bench.spec import Kernel, Provider

UNITS: dict[Metric, str] = {"speed": "ms", "memory": "MB"}
"""metric_name -> metric_unit as upstream writes them; its MB are 2**20 bytes."""

DEFAULT_IMPL = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What of a kernel is wanted; an empty tuple means all. Provider names may be globs."""

    sweeps: tuple[str, ...] = ("token_length",)
    providers: tuple[str, ...] = ()
    passes: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    x_values: tuple[str, ...] = ()
    quick: bool = False
    impl: str = DEFAULT_IMPL
    all_providers: bool = False
    """Plan also what is not installed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """One line of a plot: a kernel, provider, pass, metric and config, over its x values."""

    kernel: str
    script: str
    provider: str
    """The kernel's own name for it."""
    tagged: str
    """The name that the CSV carries."""
    baseline: str
    pass_name: str
    metric: Metric
    x_name: str
    x_label: str
    x_values: tuple[int | str, ...]
    config: Config = field(hash=False)
    model: str
    devices: int = 1

    @property
    def config_text(self) -> str:
        """The CSV's extra_benchmark_config_str."""
        return config_text(self.config)

    def only(self, x_values: Iterable[int | str]) -> Series:
        """The same series over fewer x values."""
        return replace(self, x_values=tuple(x_values))


@dataclass(frozen=True, slots=True)
class Left:
    """A provider of a kernel that is not planned, and why."""

    kernel: str
    provider: str
    reasons: tuple[str, ...]


def config_text(config: Config) -> str:
    """JSON as upstream writes it: default separators, key order kept."""
    return json.dumps(config)


def tagged(provider: str, impl: str) -> str:
    """The CSV's provider name under a backend: the leading `liger` becomes `liger_<impl>`, the rest stays."""
    if impl == DEFAULT_IMPL or not provider.startswith("liger"):
        return provider
    return f"liger_{impl}{provider.removeprefix('liger')}"


def estimated(sweep: Sweep, request: Request) -> Points:
    """The sweep's points with the estimate in place of probes.

    The estimate was made for the default model and 2048 tokens; for others it is scaled by what grows: the
    largest ratio of the model's sizes in a token_length sweep, the number of tokens in a model_config sweep.
    """
    if sweep.estimate is None:
        return sweep.points(request, ())
    from kernelindex_liger.bench.models import DEFAULT_MODEL, MODELS

    if sweep.x_name == "model_config":
        return sweep.points(request, (int(sweep.estimate * request.bt / 2048),))
    standard, model = MODELS[DEFAULT_MODEL], request.model
    sizes = ("hidden_size", "intermediate_size", "vocab_size")
    ratio = max(getattr(model, size) / getattr(standard, size) for size in sizes)
    return sweep.points(request, (int(sweep.estimate * ratio),))


def sweeps_of(kernel: Kernel, selection: Selection) -> list[tuple[int, Sweep]]:
    """The kernel's sweeps that the selection names, with their place in `kernel.sweeps`."""
    return [(i, s) for i, s in enumerate(kernel.sweeps) if set(s.answers) & set(selection.sweeps)]


def providers_of(
    kernel: Kernel, selection: Selection, capability: tuple[int, int] | None = None
) -> tuple[list[Provider], list[Left]]:
    """Providers that are wanted and can run, in row order, and those that are wanted and cannot."""
    rule = impl_rule(kernel, selection)
    chosen: list[Provider] = []
    left: list[Left] = []
    for provider in kernel.providers:
        names = {provider.name, tagged(provider.name, selection.impl)}
        if rule is None or (rule.providers is not None and provider.name not in rule.providers):
            continue
        if selection.providers and not any(fnmatchcase(n, p) for n in names for p in selection.providers):
            continue
        reasons = () if selection.all_providers else unmet_of(kernel, provider, capability)
        if reasons:
            left.append(Left(kernel.name, provider.name, reasons))
        else:
            chosen.append(provider)
    return chosen, left


def impl_rule(kernel: Kernel, selection: Selection) -> ImplRule | None:
    """What the backend changes; None when the kernel cannot be run with it."""
    return ImplRule() if selection.impl == DEFAULT_IMPL else kernel.impls.get(selection.impl)


def passes_of(kernel: Kernel, metric: Metric, selection: Selection) -> tuple[str, ...]:
    """Passes that are wanted, in row order."""
    rule = impl_rule(kernel, selection)
    if rule is None or (selection.metrics and metric not in selection.metrics):
        return ()
    own = kernel.speed if metric == "speed" else kernel.memory
    ruled = rule.speed if metric == "speed" else rule.memory
    passes = own if ruled is None else ruled
    return tuple(p for p in passes if not selection.passes or p in selection.passes)


def x_values_of(points: Points, selection: Selection) -> tuple[int | str, ...]:
    """The sweep's x values that are wanted."""
    found = tuple(x for x in points.x_values if not selection.x_values or str(x) in selection.x_values)
    return found if not selection.quick or len(found) < 3 else (found[0], found[-1])


def series_of(
    kernel: Kernel,
    selection: Selection,
    request: Request,
    points: Mapping[int, Points] | None = None,
    capability: tuple[int, int] | None = None,
) -> Iterator[Series]:
    """The kernel's series in upstream's row order.

    `points` are the sweeps' points by their place in `kernel.sweeps`, where probes were measured; a sweep
    that it does not have is planned with its estimate.
    """
    providers, _ = providers_of(kernel, selection, capability)
    seen: set[tuple[object, ...]] = set()
    for place, sweep in sweeps_of(kernel, selection):
        found = (points or {}).get(place) or estimated(sweep, request)
        x_values = x_values_of(found, selection)
        for metric in UNITS:
            for config in found.configs:
                for pass_name in passes_of(kernel, metric, selection):
                    for provider in providers:
                        series = Series(
                            kernel=kernel.name,
                            script=kernel.script,
                            provider=provider.name,
                            tagged=tagged(provider.name, selection.impl),
                            baseline=kernel.baseline,
                            pass_name=pass_name,
                            metric=metric,
                            x_name=sweep.x_name,
                            x_label=sweep.x_label,
                            x_values=x_values,
                            config=config,
                            model=request.model.name,
                            devices=sweep.devices,
                        )
                        key = (series.tagged, pass_name, metric, sweep.x_name, x_values, series.config_text)
                        if x_values and key not in seen:
                            seen.add(key)
                            yield series


def left_out(kernels: Sequence[Kernel], selection: Selection, capability: tuple[int, int] | None = None) -> list[Left]:
    """Wanted providers that cannot run here, over all kernels."""
    return [left for kernel in kernels for left in providers_of(kernel, selection, capability)[1]]
