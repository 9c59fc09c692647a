"""What a benchmark CSV cannot say, in `<name>.meta.jsonl` beside it: one JSON line a series.

The runner writes it and the importer reads it; neither knows the other. A line names its series by the
columns that its CSV rows share, and its cases by x. Lines are never identity: a row without a line means what
it always meant. Where two lines name the same case, the later one counts.

Nothing here names a host, a user, a serial number or a UUID.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from kernelindex_liger.documents.base import SAFE, Count, Integer, Positive

SCHEMA = "kernelindex-liger/bench-series/1"
"""Value of `schema` in each line. 1: the first."""

LINE = 1 << 20
"""Bytes that one line may have at the most."""

CaseStatus = Literal["ok", "resource_exceeded", "runtime_error", "timeout", "crashed", "incorrect_numerical"]
"""How a case ended. `crashed`: its process ended without an answer; `incorrect_numerical`: a rehearsal's
output or gradient is not the reference's."""


Number = Annotated[float, Field(ge=-SAFE, le=SAFE, allow_inf_nan=False)]
Text = Annotated[str, Field(max_length=10_000)]
"""As long as a config may be."""


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class SeriesIdentity(_Model):
    """The columns that a series' CSV rows share, texts as the CSV has them."""

    kernel_name: Text
    kernel_provider: Text
    kernel_operation_mode: Text
    metric_name: Text
    metric_unit: Text
    x_name: Text
    x_label: Text
    extra_benchmark_config_str: Text
    gpu_name: Text
    timestamp: Text
    """UTC, `YYYY-MM-DD HH:MM:SS`: when the series was finished."""
    liger_version: Text


class Gpu(_Model):
    """The device as it is set up. Facts that a driver does not tell are None."""

    name: Text
    count: Positive
    """Devices that one case of the series uses."""
    memory_bytes: Count | None = None
    compute_capability: Text | None = None
    """As `9.0`."""
    power_limit_watts: Number | None = None
    max_sm_clock_mhz: Count | None = None
    max_memory_clock_mhz: Count | None = None
    persistence_mode: bool | None = None
    ecc_enabled: bool | None = None
    mig_enabled: bool | None = None


class Software(_Model):
    """Versions in the process that measured. None: not installed, or not told."""

    operating_system: Text | None = None
    kernel: Text | None = None
    """Release of the operating system's kernel."""
    python: Text | None = None
    driver: Text | None = None
    cuda: Text | None = None
    """The CUDA version that torch was built for."""
    torch: Text | None = None
    triton: Text | None = None
    liger_kernel: Text | None = None
    transformers: Text | None = None
    runner: Text
    """Version of kernelindex-liger."""


class Protocol(_Model):
    """How each case was sampled."""

    harness: Literal["triton.testing.do_bench", "event_loop", "peak_allocation", "rehearsal"]
    warmup_ms: Count | None = None
    rep_ms: Count | None = None
    """do_bench's measuring window; a call that is longer is sampled once."""
    warmup_iterations: Count | None = None
    iterations_per_sample: Count | None = None
    """event_loop: each sample is the mean of this many calls."""
    l2_policy: Literal["flushed", "warm"] | None = None
    """Whether the L2 cache was overwritten before each sample."""
    implementation: Text = "default"
    """liger-kernel's backend: default, cutile or cutedsl."""
    deterministic: Literal["off", "cudnn", "full"] = "off"
    """torch's deterministic algorithms while measuring."""
    environment: dict[Text, Text] = Field(default_factory=dict)
    """Variables that the kernel asked to be set for its process."""


class Readings(_Model):
    """Live state of the device at one moment. Never identity."""

    sm_clock_mhz: Count | None = None
    memory_clock_mhz: Count | None = None
    temperature_c: Integer | None = None
    power_watts: Number | None = None
    clock_event_reasons: tuple[Text, ...] | None = None
    """Why clocks are held back: `sw_power_cap`, `hw_thermal_slowdown`, ...; empty: they are not."""


class SeriesCase(_Model):
    """One x of the series."""

    x_value: Text
    status: CaseStatus
    samples: Positive | None = None
    """Number of samples behind the three quantiles; 1 means that they are one and the same number."""
    seconds: Number | None = None
    """Wall time of the case, with set-up and compilation."""
    error: Text | None = None
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
