"""What a benchmark CSV cannot say, in `<name>.meta.jsonl` beside it: one JSON line a series.

The runner writes it and the importer reads it; neither knows the other. A line names its series by the
columns that its CSV rows share, and its cases by x. Lines are never identity: a row without a line means what
it always meant. Where two lines name the same case, the later one counts.

Nothing here names a host, a user, a serial number or a UUID.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

SCHEMA = "kernelindex-liger/bench-series/1"
"""Value of `schema` in each line. 1: the first."""

CaseStatus = Literal["ok", "resource_exceeded", "runtime_error", "timeout", "crashed", "incorrect_numerical"]
"""How a case ended. `crashed`: its process ended without an answer; `incorrect_numerical`: a rehearsal's
output or gradient is not the reference's."""


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class SeriesIdentity(_Model):
    """The columns that a series' CSV rows share, texts as the CSV has them."""

    kernel_name: str
    kernel_provider: str
    kernel_operation_mode: str
    metric_name: str
    metric_unit: str
    x_name: str
    x_label: str
    extra_benchmark_config_str: str
    gpu_name: str
    timestamp: str
    """UTC, `YYYY-MM-DD HH:MM:SS`: when the series was finished."""
    liger_version: str


class Gpu(_Model):
    """The device as it is set up. Facts that a driver does not tell are None."""

    name: str
    count: int = Field(gt=0)
    """Devices that one case of the series uses."""
    memory_bytes: int | None = None
    compute_capability: str | None = None
    """As `9.0`."""
    power_limit_watts: float | None = None
    max_sm_clock_mhz: int | None = None
    max_memory_clock_mhz: int | None = None
    persistence_mode: bool | None = None
    ecc_enabled: bool | None = None
    mig_enabled: bool | None = None


class Software(_Model):
    """Versions in the process that measured. None: not installed, or not told."""

    operating_system: str | None = None
    kernel: str | None = None
    """Release of the operating system's kernel."""
    python: str | None = None
    driver: str | None = None
    cuda: str | None = None
    """The CUDA version that torch was built for."""
    torch: str | None = None
    triton: str | None = None
    liger_kernel: str | None = None
    transformers: str | None = None
    runner: str
    """Version of kernelindex-liger."""


class Protocol(_Model):
    """How each case was sampled."""

    harness: Literal["triton.testing.do_bench", "event_loop", "peak_allocation", "rehearsal"]
    warmup_ms: int | None = None
    rep_ms: int | None = None
    """do_bench's measuring window; a call that is longer is sampled once."""
    warmup_iterations: int | None = None
    iterations_per_sample: int | None = None
    """event_loop: each sample is the mean of this many calls."""
    l2_policy: Literal["flushed", "warm"] | None = None
    """Whether the L2 cache was overwritten before each sample."""
    implementation: str = "default"
    """liger-kernel's backend: default, cutile or cutedsl."""
    deterministic: Literal["off", "cudnn", "full"] = "off"
    """torch's deterministic algorithms while measuring."""
    environment: dict[str, str] = Field(default_factory=dict)
    """Variables that the kernel asked to be set for its process."""


class Readings(_Model):
    """Live state of the device at one moment. Never identity."""

    sm_clock_mhz: int | None = None
    memory_clock_mhz: int | None = None
    temperature_c: int | None = None
    power_watts: float | None = None
    clock_event_reasons: tuple[str, ...] | None = None
    """Why clocks are held back: `sw_power_cap`, `hw_thermal_slowdown`, ...; empty: they are not."""


class SeriesCase(_Model):
    """One x of the series."""

    x_value: str
    status: CaseStatus
    samples: int | None = Field(default=None, gt=0)
    """Number of samples behind the three quantiles; 1 means that they are one and the same number."""
    seconds: float | None = None
    """Wall time of the case, with set-up and compilation."""
    error: str | None = None
    """What a failed case said, one line."""
    before: Readings | None = None
    after: Readings | None = None


class SeriesMeta(_Model):
    """One line of the sidecar."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        use_attribute_docstrings=True,
        populate_by_name=True,
        serialize_by_alias=True,
    )

    schema_: Literal["kernelindex-liger/bench-series/1"] = Field(alias="schema")
    series: SeriesIdentity
    gpu: Gpu
    software: Software
    protocol: Protocol
    cases: tuple[SeriesCase, ...]
