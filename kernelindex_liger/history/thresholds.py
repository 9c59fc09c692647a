"""How far a number must move before it counts: named presets, and a TOML file that changes them.

version = 1
preset = "default"           # or "strict", "lenient"

[time]                       # and [memory]
change = 0.10                # 0.10: at least 10 % away from the median of earlier runs
noise = 4.0                  # and at least four times their spread
window = 12                  # the last twelve runs are the measure
least_runs = 3               # fewer earlier runs than this: unknown

[shift]
least_cases = 20             # fewer judged cases: no talk of a run-wide shift
change = 0.03                # the median case moved by at least 3 %
share = 0.67                 # and this share of the cases moved that way by at least half as much

[launch]
shorter_than_us = 100        # cases this short mostly measure how fast the host launches kernels
share = 0.25                 # this share of them moved one way, baselines too: the host did it
reach = 100                  # cases up to 100 times as long as what the host added confirm nothing then

[caveats]
leave_out = ["number"]       # caveats whose rows are left out: kinds (number, meaning, record) or ids
tolerate = ["single-sample"] # these never leave a row out, nor tell it from the case's other rows

[[rule]]                     # the last rule that fits a case counts
kernel = "rms_norm"          # patterns with * and ?; also provider, pass, metric
pass = "backward"
change = 0.20
"""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from kernelindex_liger.history.errors import BadInputError
from kernelindex_liger.untrusted import quoted, read_small

if TYPE_CHECKING:
    from pathlib import Path

SIZE = 1 << 18
"""Bytes of a thresholds file."""

Share = Annotated[float, Field(gt=0, lt=100, allow_inf_nan=False)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True, strict=True)


class Limits(_Strict):
    """When a case counts as moved."""

    change: Share
    """Least relative change, as a share: 0.1 is 10 %. Slower means a ratio above 1 + change, faster one below
    1 / (1 + change), so that a change and its way back count alike."""
    noise: Annotated[float, Field(ge=0, le=100, allow_inf_nan=False)]
    """Least change in multiples of the earlier runs' spread (median absolute deviation of the logarithms,
    scaled by 1.4826 so that it estimates a standard deviation)."""
    window: Annotated[int, Field(ge=2, le=1000)]
    """How many of the latest earlier runs are the measure."""
    least_runs: Annotated[int, Field(ge=1, le=1000)]
    """Earlier runs that a case needs before anything is said about it."""


class Shift(_Strict):
    """When a run as a whole counts as moved."""

    least_cases: Annotated[int, Field(ge=2)] = 20
    """Judged cases that a run needs before it can be said to have moved as a whole."""
    change: Share = 0.03
    """Least relative change of the median case."""
    share: Annotated[float, Field(gt=0.5, le=1)] = 0.67
    """Share of the cases that moved the same way by at least half the median's change."""


class Launch(_Strict):
    """When a run's launches count as slower or faster than before, which is the host's doing."""

    shorter_than_us: Annotated[float, Field(gt=0, le=1e6)] = 100.0
    """Cases with a median below this tell how fast the host launches."""
    share: Annotated[float, Field(gt=0, le=1)] = 0.25
    """Share of those cases that moved one way; of baselines and of the others at least 0.6 times that."""
    reach: Annotated[float, Field(ge=1, le=1e6)] = 100.0
    """A case is within the launches' reach up to so many times the time that they added: eager loops launch
    hundreds of kernels."""


class Caveats(_Strict):
    """Which known faults of a number keep it from being judged."""

    leave_out: tuple[str, ...] = Field(strict=False)
    """Kinds or ids of caveats whose rows are left out; caveats that the catalogue does not know always are."""
    tolerate: tuple[str, ...] = Field(default=(), strict=False)
    """Ids of caveats that neither leave a row out nor tell its meaning from others'."""


class Rule(_Strict):
    """Other limits for some cases; patterns take `*` and `?`."""

    kernel: str = "*"
    provider: str = "*"
    pass_: str = Field(default="*", alias="pass")
    metric: str = "*"
    change: Share | None = None
    noise: Annotated[float, Field(ge=0, le=100, allow_inf_nan=False)] | None = None
    least_runs: Annotated[int, Field(ge=1, le=1000)] | None = None


class Thresholds(_Strict):
    """Everything that the judgement can be told."""

    version: Literal[1] = 1
    preset: str = "default"
    time: Limits
    memory: Limits
    shift: Shift = Shift()
    launch: Launch = Launch()
    caveats: Caveats
    rule: tuple[Rule, ...] = Field(default=(), strict=False, max_length=1000)


PRESETS: dict[str, dict[str, dict[str, Any]]] = {
    "default": {
        "time": {"change": 0.10, "noise": 4.0, "window": 12, "least_runs": 3},
        "memory": {"change": 0.01, "noise": 4.0, "window": 12, "least_runs": 2},
        "caveats": {"leave_out": ["number"]},
    },
    "strict": {
        "time": {"change": 0.05, "noise": 3.0, "window": 12, "least_runs": 3},
        "memory": {"change": 0.001, "noise": 0.0, "window": 12, "least_runs": 1},
        "caveats": {"leave_out": ["number"]},
    },
    "lenient": {
        "time": {"change": 0.20, "noise": 6.0, "window": 12, "least_runs": 5},
        "memory": {"change": 0.05, "noise": 4.0, "window": 12, "least_runs": 3},
        "caveats": {"leave_out": ["number"]},
    },
}
"""default: measured on a year of weekly runs of upstream's own (see docs/history.md). strict: a quiet machine with
locked clocks. lenient: shared or changing machines."""


def preset(name: str = "default") -> Thresholds:
    """The thresholds of a named preset; `BadInputError` for a name that is none."""
    return _merge({"preset": name}, f"preset {name}")


def load(path: Path) -> Thresholds:
    """The thresholds that a TOML file states over its preset.

    Raises `BadInputError` naming the file and each key that is unknown or has a value it cannot have.
    """
    try:
        given = tomllib.loads(read_small(path, SIZE).decode("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise BadInputError(f"{path}: not readable as TOML ({error})") from error
    return _merge(given, str(path))


def _merge(given: dict[str, Any], where: str) -> Thresholds:
    name = given.get("preset", "default")
    if not isinstance(name, str) or name not in PRESETS:
        raise BadInputError(f"{where}: no preset {quoted(name)}; there are {', '.join(PRESETS)}")
    merged = dict(given)
    for key, base in PRESETS[name].items():
        over = given.get(key, {})
        merged[key] = {**base, **over} if isinstance(over, dict) else over
    try:
        return Thresholds.model_validate(merged)
    except ValidationError as error:
        faults = "; ".join(
            f"{'.'.join(map(str, fault['loc'])) or 'file'}: {_fault(fault['type'], fault['msg'])}"
            for fault in error.errors()[:10]
        )
        raise BadInputError(f"{where}: {faults}") from error


def _fault(kind: str, message: str) -> str:
    return "unknown key" if kind == "extra_forbidden" else message
