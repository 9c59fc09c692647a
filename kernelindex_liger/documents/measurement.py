"""BenchmarkProtocol, ExecutionEnvironment and BenchmarkRun: how, where and what was measured."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from kernelindex_liger.documents.base import (
    Commit,
    Count,
    Digest,
    Document,
    Duration,
    Part,
    Positive,
    Short,
    Text,
    Token,
    Url,
)
from kernelindex_liger.documents.operation import Artifact


class Harness(Part):
    """The program that measures."""

    name: Text
    version: Short | None = None
    repository: Url | None = None
    commit: Commit | None = None


class Measurement(Part):
    """How a protocol measures: timer, warm-up, window."""

    timer: Token
    synchronization: Token | None = None
    compile_included: bool | None = None
    setup_included: bool | None = None
    warmup_iterations: Count | None = None
    warmup_duration: Duration | None = None
    measured_iterations: Positive | None = None
    samples: Positive | None = None
    input_regeneration: Token | None = None
    outlier_policy: Annotated[str, Field(max_length=500)] | None = None
    primary_statistic: Token = "median"


class ProtocolCorrectness(Part):
    """What a protocol compares results with."""

    reference: Annotated[str, Field(max_length=500)]
    comparator: Token


class DevicePolicy(Part):
    """What a protocol asks of the device."""

    clocks_locked: bool | None = None
    power_limit_watts: Annotated[float, Field(gt=0)] | None = None
    persistence_mode: bool | None = None


class Comparability(Part):
    """Which runs may be compared, and with what reservations."""

    family: Token
    notes: Annotated[str, Field(max_length=1000)] | None = None


class BenchmarkProtocolSpec(Part):
    """How runs are measured."""

    harness: Harness
    measurement: Measurement
    correctness: ProtocolCorrectness | None = None
    device_policy: DevicePolicy | None = None
    comparability: Comparability | None = None


class BenchmarkProtocol(Document):
    """How a run was measured: one protocol a timed pass and timer."""

    folder: ClassVar[str] = "protocols"
    kind: Literal["BenchmarkProtocol"] = "BenchmarkProtocol"
    spec: BenchmarkProtocolSpec


class Hardware(Part):
    """The device, as its vendor names it."""

    vendor: Token
    product: Text
    form_factor: Short | None = None
    architecture: Token
    memory_bytes: Positive | None = None
    count: Positive | None = None
    interconnect: Text | None = None


class Framework(Part):
    """The framework that ran the kernels."""

    name: Token
    version: Short


class Software(Part):
    """What the host ran; empty where the source records nothing."""

    operating_system: Text | None = None
    kernel: Text | None = None
    driver: Short | None = None
    cuda_toolkit: Short | None = None
    compiler: Text | None = None
    framework: Framework | None = None
    libraries: dict[Token, Short] | None = None


class Settings(Part):
    """Device settings that change results."""

    clocks_locked: bool | None = None
    power_limit_watts: Annotated[float, Field(gt=0)] | None = None
    persistence_mode: bool | None = None
    ecc_enabled: bool | None = None
    environment_variables: dict[Text, Annotated[str, Field(max_length=500)]] | None = None


class ExecutionEnvironmentSpec(Part):
    """Hardware, software and settings."""

    hardware: Hardware
    software: Software = Software()
    settings: Settings | None = None
    image_digest: Digest | None = None


class ExecutionEnvironment(Document):
    """Where a run was measured."""

    folder: ClassVar[str] = "environments"
    kind: Literal["ExecutionEnvironment"] = "ExecutionEnvironment"
    spec: ExecutionEnvironmentSpec


class Latency(Part):
    """Latency statistics in nanoseconds."""

    median: Duration | None = None
    mean: Duration | None = None
    p05: Duration | None = None
    p95: Duration | None = None
    minimum: Duration | None = None
    maximum: Duration | None = None
    mad: Duration | None = None
    confidence95: tuple[Duration, Duration] | None = None


class Timing(Part):
    """The timing of a run."""

    primary_statistic: Token = "median"
    samples: Positive | None = None
    latency_ns: Latency
    raw_samples: Artifact | None = None


class Observation(Part):
    """One measured statistic: metric, unit, statistic, value."""

    metric: Token
    unit: Token
    statistic: Token
    value: int | float
    sample_count: Positive | None = None


class SourceNative(Part):
    """The result as its source tells it."""

    source: Annotated[str, Field(max_length=100, pattern=r"^[a-z0-9][a-z0-9-]*$")]
    benchmark: Text | None = None
    external_id: Annotated[str, Field(max_length=500)] | None = None
    metrics: dict[Token, int | float] | None = None


class RunCorrectness(Part):
    """What the run's output was compared with, and how close it came."""

    comparator: Token
    maximum_absolute_error: Annotated[float, Field(ge=0)] | None = None
    maximum_relative_error: Annotated[float, Field(ge=0)] | None = None
    matched_ratio: Annotated[float, Field(ge=0, le=1)] | None = None


class HarnessEvidence(Part):
    """The harness at a commit."""

    repository: Url
    commit: Commit


class Evidence(Part):
    """Files that prove a run."""

    logs: Artifact | None = None
    raw_samples: Artifact | None = None
    harness: HarnessEvidence | None = None


Status = Literal[
    "passed",
    "incorrect_shape",
    "incorrect_dtype",
    "incorrect_numerical",
    "compile_error",
    "runtime_error",
    "timeout",
    "resource_exceeded",
    "invalid_reference",
    "policy_violation",
    "suspected_reward_hack",
    "incomplete_evidence",
    "revoked",
]

ObservedAt = Annotated[str, Field(pattern=r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?Z$")]


class BenchmarkRunSpec(Part):
    """One measurement of one implementation at one workload."""

    implementation_digest: Digest
    workload_digest: Digest
    protocol_digest: Digest
    environment_digest: Digest
    status: Status
    correctness: RunCorrectness | None = None
    timing: Timing | None = None
    measurements: list[Observation] | None = None
    source_native: SourceNative | None = None
    evidence: Evidence | None = None
    observed_at: ObservedAt


class BenchmarkRun(Document):
    """What one row of a benchmark CSV becomes."""

    folder: ClassVar[str] = "runs"
    kind: Literal["BenchmarkRun"] = "BenchmarkRun"
    spec: BenchmarkRunSpec
