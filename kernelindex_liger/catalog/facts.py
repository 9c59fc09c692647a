"""What a catalogue file may say about kernels: operations, shapes, whose implementation a provider is."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from kernelindex_liger.catalog.expressions import parse
from kernelindex_liger.documents.base import Integer, Name, Short, Text, Token

Identifier = Annotated[str, Field(pattern=r"^[a-z0-9][A-Za-z0-9._=-]*$", max_length=100)]
"""A kernel or provider as the CSV writes it; checked, since ids and paths are made of it."""

Finite = Annotated[float, Field(allow_inf_nan=False)]

ConfigValue = bool | Integer | Finite | str | None


def _checked(text: str) -> str:
    parse(text)
    return text


class Fact(BaseModel):
    """A curated fact; unknown keys are refused, so that a typing error is not a silent nothing."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class FromConfig(Fact):
    """A dtype that the row tells: the config key whose value names it (`torch.bfloat16`)."""

    key: str


class Tensor(Fact):
    """An input or output of an operation; dtype `float` is the workload's float dtype."""

    name: Token
    shape: Annotated[tuple[Integer | Token, ...], Field(min_length=1)]
    dtype: Token


class Operation(Fact):
    """What a kernel computes: the signature over symbolic axes."""

    slug: Name
    family: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]*$")]
    title: Annotated[str, Field(max_length=120)]
    description: Annotated[str, Field(min_length=20, max_length=2000)]
    inputs: Annotated[tuple[Tensor, ...], Field(min_length=1)]
    outputs: Annotated[tuple[Tensor, ...], Field(min_length=1)]
    derived: dict[Token, str] = {}
    """Axes that follow from others, each an expression over the workload's axes."""
    mutation: Literal["none", "in_place", "destination"] = "none"

    @field_validator("derived")
    @classmethod
    def _expressions(cls, derived: dict[str, str]) -> dict[str, str]:
        return {name: _checked(text) for name, text in derived.items()}

    def signature_axes(self) -> list[str]:
        """Axes in the order in which the signature first names them, derived ones left out."""
        dims = (dim for tensor in (*self.inputs, *self.outputs) for dim in tensor.shape if isinstance(dim, str))
        return [dim for dim in dict.fromkeys(dims) if dim not in self.derived]


class TypedScalar(Fact):
    """A scalar whose dtype is not fp32; `value` is a number, or the config key that holds it."""

    value: Finite | str
    dtype: Token


class Shape(Fact):
    """One form that a kernel's rows take: x name and exact config keys, and how they are read."""

    id: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")]
    x: Annotated[str, Field(min_length=1)]
    """The CSV's `x_name`."""
    config: tuple[str, ...]
    """The exact set of keys of the row's config."""
    revision: Annotated[str, Field(pattern=r"^[0-9a-f]{7,40}(:\S+)?$")]
    """Upstream commit, and after a colon the script's path, in which these rows can be checked."""
    operation: str | None = None
    """Slug of the operation; the file's first where none is named."""
    reads: Literal["integer", "model", "name", "tuple"] = "integer"
    """What x is: an integer, a model's name (its facts are then names, prefixed `model_`), a name that tells the rows
    of one workload apart and no more, or `(a, b, c)`."""
    models: str | None = None
    """For models: the config key that holds each model's facts by its name, where the row itself brings them."""
    parts: tuple[str, ...] = ()
    """For tuples: the names of the parts."""
    where: dict[str, ConfigValue | tuple[ConfigValue, ...]] = {}
    """Config values that a row must have, one or any of several; `x` is x itself, `provider` the row's provider."""
    zero: tuple[str, ...] = ()
    """Expressions that must be zero, such as `hidden % q_heads`."""
    axes: Annotated[dict[Token, str | Integer], Field(min_length=1)]
    """The workload's axes in title order, each an integer or an expression over x, config keys, parts and `model_…`;
    `key_0`, `key_1` … are the elements of a config list."""
    dtype: Token | FromConfig
    """The workload's float dtype: fixed by the script, or told by the row."""
    dtypes: dict[Token, Token | FromConfig] = {}
    """Inputs whose dtype differs from the operation's `float`."""
    scalars: dict[Token, Finite | str | TypedScalar] = {}
    """Scalars that change the result: a number, or the config key that holds it."""
    switches: tuple[Token, ...] = ()
    """Scalars that the case key must name, since the axes alone do not tell the workloads apart."""
    gpus: str = "1"
    """How many GPUs measured together, an expression."""
    protocols: dict[Token, str] = {}
    """Protocol by metric, where it is not the metric's usual one."""
    edition: Literal["both", "corrected"] = "both"
    """A `corrected` shape claims no rows by itself; a correction names it."""

    @field_validator("axes", "zero", "gpus")
    @classmethod
    def _expressions(cls, value: object) -> object:
        texts = value.values() if isinstance(value, dict) else value if isinstance(value, tuple) else (value,)
        for text in texts:
            if isinstance(text, str):
                _checked(text)
        return value

    @model_validator(mode="after")
    def _names_known(self) -> Shape:
        known = {"x", *self.config, *self.parts}
        used = {
            name for text in (*self.axes.values(), self.gpus) if isinstance(text, str) for name in parse(text).names
        }
        unknown = sorted(name for name in used - known if not self._derives(name))
        if unknown:
            raise ValueError(f"shape {self.id}: axes use {', '.join(unknown)}, which its rows do not carry")
        if missing := sorted(set(self.switches) - set(self.scalars)):
            raise ValueError(f"shape {self.id}: switches {', '.join(missing)} are no scalars of it")
        if (self.reads == "tuple") != bool(self.parts):
            raise ValueError(f"shape {self.id}: parts belong to shapes that read a tuple, and to those alone")
        if self.models is not None and (self.reads != "model" or self.models not in self.config):
            raise ValueError(f"shape {self.id}: models names a config key of a shape that reads a model, no other")
        return self

    def _derives(self, name: str) -> bool:
        """Whether a name is a model's fact, or an element of a list in the config (`stride_0`)."""
        stem, _, index = name.rpartition("_")
        return (self.reads == "model" and name.startswith("model_")) or (stem in self.config and index.isdigit())

    def overlaps(self, other: Shape) -> bool:
        """Whether one row could be claimed by both shapes."""
        if self.x != other.x or set(self.config) != set(other.config):
            return False
        for key in self.where.keys() & other.where.keys():
            if not set(_several(self.where[key])) & set(_several(other.where[key])):
                return False
        return True


def _several(value: ConfigValue | tuple[ConfigValue, ...]) -> list[tuple[type, ConfigValue]]:
    # 1 == True in Python but not in JSON, so the type is part of the comparison
    return [(type(one), one) for one in (value if isinstance(value, tuple) else (value,))]


def allowed(value: object, wanted: ConfigValue | tuple[ConfigValue, ...]) -> bool:
    """Whether a row's value is (one of) the wanted, types included."""
    return any(type(value) is kind and value == one for kind, one in _several(wanted))


class Implementation(Fact):
    """Whose implementation a provider is; in a kernel's file only what differs there."""

    name: Identifier | None = None
    """Stands in the document's name in place of the provider, where only some of a provider's rows are meant."""
    title: str | None = None
    project: str | None = None
    language: Token | None = None
    description: str | None = None
    declared: str | None = None
    concluded: str | None = None
    pip: str | None = None
    role: Literal["baseline", "contender"] | None = None


class Provider(Fact):
    """A `kernel_provider` of the CSV."""

    title: str
    project: str
    language: Token
    description: Annotated[str, Field(min_length=10, max_length=2000)]
    declared: str
    """SPDX expression that the project declares."""
    concluded: str | None = None
    pip: str | None = None
    role: Literal["baseline", "contender"] = "contender"
    name: Identifier | None = None
    """In place of the provider in the names of implementations."""

    def with_changes(self, *changes: Implementation | None) -> Provider:
        """This provider with every field that a change gives; an empty text takes a field away."""
        update = {
            name: value or None
            for change in changes
            if change is not None
            for name, value in change.model_dump(exclude_none=True).items()
        }
        return self.model_copy(update=update)


class Project(Fact):
    """A software project that providers come from."""

    name: str
    kind: Literal["library", "individual", "vendor"] = "library"
    repository: str
    host: dict[str, str]


class Gpu(Fact):
    """A GPU product and the names under which drivers report it, each with its form factor (or none)."""

    vendor: Token
    product: str
    architecture: Token
    names: Annotated[dict[str, str], Field(min_length=1)]


class Protocol(Fact):
    """How a group of rows was measured; `{pass}` and `{timed}` are filled in."""

    name: str
    title: str
    timer: Token
    notes: Annotated[str, Field(max_length=1000)]
    passes: Annotated[dict[Short, Text], Field(min_length=1)]
    """What is timed (or measured) in each pass."""
    primary_statistic: Token = "median"
    setup_included: bool | None = None
