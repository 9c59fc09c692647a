"""OperationSpec and WorkloadCase: what is computed, and at which sizes."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from kernelindex_liger.documents.base import Count, Digest, Document, Integer, Part, Positive, Token, Url

__all__ = [
    "Axis",
    "Correctness",
    "OperationSpec",
    "OperationSpecSpec",
    "Parameter",
    "ScalarType",
    "ScalarValue",
    "Semantics",
    "TensorCase",
    "TensorType",
    "WorkloadCase",
    "WorkloadCaseSpec",
]

Expression = Annotated[str, Field(max_length=200, pattern=r"^[a-z0-9_+\-*%/() ]+$")]
ShapeDim = Count | Token


class Axis(Part):
    """A symbolic dimension: free, fixed, or computed from others."""

    role: Literal["variable", "constant", "derived"]
    type: Literal["integer"] = "integer"
    value: Integer | None = None
    minimum: Integer | None = None
    maximum: Integer | None = None
    expression: Expression | None = None


class TensorType(Part):
    """A tensor over symbolic axes; dtype `float` stands for the workload's float dtype."""

    shape: Annotated[list[ShapeDim], Field(min_length=1)]
    dtype: Token
    layout: Literal["row_major", "col_major", "contiguous", "strided"] | None = None


class ScalarType(Part):
    """A scalar argument's type."""

    dtype: Token


class Parameter(Part):
    """A named input or output: a tensor or a scalar."""

    name: Token
    tensor: TensorType | None = None
    scalar: ScalarType | None = None


class Semantics(Part):
    """What the operation means beyond its signature."""

    expression: Annotated[str, Field(max_length=2000)] | None = None
    mutation: Literal["none", "in_place", "destination"] = "none"
    determinism: Literal["deterministic", "nondeterministic", "unspecified"] = "unspecified"


class Artifact(Part):
    """A file elsewhere, pinned by digest."""

    uri: Url
    digest: Digest


class Reference(Part):
    """A reference implementation of the operation."""

    language: Token
    artifact: Artifact | None = None


class OperationSpecSpec(Part):
    """The signature over symbolic axes."""

    family: Annotated[str, Field(max_length=100, pattern=r"^[a-z0-9][a-z0-9-]*$")]
    axes: dict[Token, Axis]
    inputs: Annotated[list[Parameter], Field(min_length=1)]
    outputs: Annotated[list[Parameter], Field(min_length=1)]
    semantics: Semantics = Semantics()
    reference: Reference | None = None


class OperationSpec(Document):
    """What is computed, over symbolic axes."""

    folder: ClassVar[str] = "operations"
    kind: Literal["OperationSpec"] = "OperationSpec"
    spec: OperationSpecSpec


class TensorData(Part):
    """How a tensor's values come about."""

    generator: Token
    seed: Count | None = None
    parameters: dict[Token, float] | None = None
    artifact: Artifact | None = None


class TensorCase(Part):
    """A tensor at concrete sizes; `shape` in elements."""

    shape: Annotated[list[Count], Field(min_length=1)]
    dtype: Token
    strides: list[Integer] | None = None
    alignment_bytes: Positive | None = None
    data: TensorData | None = None


class ScalarValue(Part):
    """A scalar argument's value; numbers without a fraction print without one."""

    dtype: Token
    value: int | float


class Correctness(Part):
    """How outputs are compared; `not_asserted` where the harness compares nothing."""

    comparator: Token = "not_asserted"
    max_absolute_error: Annotated[float, Field(ge=0)] | None = None
    max_relative_error: Annotated[float, Field(ge=0)] | None = None
    required_matched_ratio: Annotated[float, Field(ge=0, le=1)] | None = None
    nan_policy: Literal["reject", "exact_match", "ignore"] | None = None
    infinity_policy: Literal["reject", "exact_match", "ignore"] | None = None


class WorkloadCaseSpec(Part):
    """One operation at concrete axes, dtypes and scalars."""

    operation_spec_digest: Digest
    axes: dict[Token, Integer]
    tensors: dict[Token, TensorCase]
    scalars: dict[Token, ScalarValue] | None = None
    correctness: Correctness = Correctness()


class WorkloadCase(Document):
    """One operation at concrete sizes."""

    folder: ClassVar[str] = "workloads"
    kind: Literal["WorkloadCase"] = "WorkloadCase"
    spec: WorkloadCaseSpec
