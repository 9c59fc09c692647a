"""How one combination of columns is read: which shape claims it, and what the shape makes of x and config."""

from __future__ import annotations

import functools
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from kernelindex_liger.catalog import Catalog, Kernel
from kernelindex_liger.catalog.expressions import ExpressionError, parse
from kernelindex_liger.catalog.facts import FromConfig, Operation, Shape, TypedScalar, allowed
from kernelindex_liger.documents.base import SAFE
from kernelindex_liger.documents.canonical import number
from kernelindex_liger.documents.naming import case_key
from kernelindex_liger.untrusted import quoted, spelled

DTYPES = {
    "torch.bfloat16": "bf16",
    "torch.float16": "fp16",
    "torch.float32": "fp32",
    "torch.float64": "fp64",
    "torch.float8_e4m3fn": "fp8_e4m3",
    "torch.float8_e5m2": "fp8_e5m2",
}
"""Dtypes as configs write them, and as documents do."""

CONFIG_LENGTH = 10_000
"""Characters of a config; upstream's longest has some 300."""

_INTEGER = re.compile(r"[1-9][0-9]{0,15}")
_TUPLE = re.compile(r"\(\s*(\d{1,15}(?:\s*,\s*\d{1,15})+)\s*,?\s*\)")


@dataclass(frozen=True)
class Skip:
    """A combination that gives no bundle: the reason's word, and what exactly is the matter."""

    word: str
    detail: str = ""


Scalars = dict[str, tuple[str, int | float]]
"""Scalars by name: dtype and value."""


class Reading(NamedTuple):
    """A workload as a shape reads it: the operation at concrete axes, dtypes and scalars."""

    kernel: Kernel
    shape: Shape
    operation: Operation
    axes: dict[str, int]
    dtype: str
    case_key: str
    """Axes, switches and dtype in one word."""
    dtypes: dict[str, str]
    """Dtypes of inputs that differ from `dtype` where the operation says `float`."""
    scalars: Scalars
    gpus: int = 1
    name: str = ""
    """What x names instead of a size, mostly a model; rows of several names can have one workload."""
    pattern: object = None
    """The same object in readings that differ in their axes alone, where that is known."""

    def key(self, axes: Mapping[str, int]) -> str:
        """The case key that this reading would have with other axes."""
        return case_key(axes, self.dtype, _switches(self.shape, self.scalars))


class Unread(Exception):  # noqa: N818 - a decision about a row, not a failure of the program
    """Carries the `Skip` of a combination out of its reading."""

    def __init__(self, word: str, detail: str = "") -> None:
        super().__init__(detail)
        self.skip = Skip(word, detail)


def read_workload(
    catalog: Catalog, kernel_name: str, provider: str, x_name: str, x: str, config: str, shape_id: str | None
) -> Reading:
    """What a kernel's shape makes of one x and config; the provider matters where it gets tensors of its own.

    `shape_id` is the shape that a correction names, instead of the one whose keys claim the row.

    Raises:
        Unread: with the reason for which such rows are skipped.
    """
    kernel, values, candidates = claim(catalog, kernel_name, x_name, config, shape_id)
    if shape_id is not None:
        return _evaluate(catalog, kernel, candidates[0], x, values)
    unmet = ""
    for shape in candidates:
        unmet = _unmet(shape, {"x": x, "provider": provider} | values)
        if not unmet:
            return _evaluate(catalog, kernel, shape, x, values)
    raise Unread("unmet_condition", f"{kernel_name}, shape {candidates[-1].id}: {unmet}")


def claim(
    catalog: Catalog, kernel_name: str, x_name: str, config: str, shape_id: str | None
) -> tuple[Kernel, dict[str, Any], Sequence[Shape]]:
    """The kernel, its config's values, and the shapes of which the first whose conditions hold reads the row.

    Raises:
        Unread: with the reason for which such rows are skipped.
    """
    kernel = catalog.kernels.get(kernel_name)
    if kernel is None:
        raise Unread("unknown_kernel", f"no catalogue file for kernel {quoted(kernel_name)}")
    values = _config(config, kernel.tables)
    if shape_id is not None:
        return kernel, values, [kernel.shape(shape_id)]
    candidates = kernel.claimants(x_name, values)
    if not candidates:
        raise Unread(
            "unknown_shape",
            f"{kernel_name} has no shape for x {quoted(x_name)} with config keys {spelled(', '.join(values))}",
        )
    return kernel, values, candidates


@functools.lru_cache(maxsize=1 << 12)
def _config(text: str, tables: frozenset[str]) -> dict[str, Any]:
    """The config's values: scalars and flat lists, and under the keys `tables` objects of objects of scalars."""
    if len(text) > CONFIG_LENGTH:
        raise Unread("bad_config", f"config of {len(text)} characters")
    try:
        values = json.loads(text, parse_constant=_no_constant, object_pairs_hook=_pairs)
    except RecursionError as error:
        raise Unread("bad_config", "config is nested too deeply") from error
    except ValueError as error:
        raise Unread("bad_config", f"config is not JSON: {error}") from error
    if not isinstance(values, dict):
        raise Unread("bad_config", "config is not a JSON object")
    for key, value in values.items():
        for one in _table(value) if key in tables else value if isinstance(value, list) else (value,):
            if isinstance(one, (dict, list)):
                raise Unread("bad_config", f"config key {quoted(key)} holds a nested value")
            if isinstance(one, float) and not math.isfinite(one):
                raise Unread("bad_config", f"config key {quoted(key)} holds a number beyond a double's range")
    return values


def _table(value: object) -> list[Any]:
    """The values of an object of objects, or what stands in their place."""
    if not isinstance(value, dict):
        return [value]
    return [one for row in value.values() for one in (row.values() if isinstance(row, dict) else [row])]


def _no_constant(text: str) -> None:
    raise ValueError(f"{text} is no JSON value")


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) != len(pairs):
        raise ValueError("a key stands twice")
    return values


def _unmet(shape: Shape, values: Mapping[str, Any]) -> str:
    """What keeps a shape from claiming a row, or nothing."""
    for key, wanted in shape.where.items():
        value = values.get(key)
        if not allowed(value, wanted):
            return f"{key} is {json.dumps(value)}, not {json.dumps(wanted)}"
    return ""


def _evaluate(catalog: Catalog, kernel: Kernel, shape: Shape, x: str, config: Mapping[str, Any]) -> Reading:
    names = named(config)
    names |= _named_by_x(catalog, shape, x, config)
    try:
        axes = {axis: parse(text).value(names) if isinstance(text, str) else text for axis, text in shape.axes.items()}
        for text in shape.zero:
            if parse(text).value(names):
                raise Unread("unmet_condition", f"{kernel.name}, shape {shape.id}: {text} is not zero")
        gpus = parse(shape.gpus).value(names)
    except ExpressionError as error:
        raise Unread("unmet_condition", f"{kernel.name}, shape {shape.id}: {error}") from error
    for axis, size in (*axes.items(), ("gpus", gpus)):
        if size <= 0:
            raise Unread("unmet_condition", f"{kernel.name}, shape {shape.id}: {axis} is {size}, not positive")
    scalars = {
        name: _scalar(names, scalar.value, scalar.dtype)
        if isinstance(scalar, TypedScalar)
        else _scalar(names, scalar, "fp32")
        for name, scalar in shape.scalars.items()
    }
    dtypes = {name: _dtype(names, dtype) for name, dtype in shape.dtypes.items()}
    dtype = _dtype(names, shape.dtype)
    operation = catalog.operation(kernel, shape)
    name = x if shape.reads in ("model", "name") else ""
    key = case_key(axes, dtype, _switches(shape, scalars))
    return Reading(kernel, shape, operation, axes, dtype, key, dtypes, scalars, gpus, name)


def named(config: Mapping[str, Any]) -> dict[str, Any]:
    """A config's values by the names that expressions use: `key`, and `key_0`, `key_1` … of lists."""
    names = dict(config)
    for key, value in config.items():
        if isinstance(value, list):
            names |= {f"{key}_{index}": one for index, one in enumerate(value)}
    return names


def integer(x: str) -> int | None:
    """An x that is a positive integer which JSON keeps exact."""
    if not _INTEGER.fullmatch(x):
        return None
    number = int(x)
    return number if number <= SAFE else None


def _named_by_x(catalog: Catalog, shape: Shape, x: str, config: Mapping[str, Any]) -> dict[str, Any]:
    if shape.reads == "name":
        return {}
    if shape.reads == "model":
        models = catalog.models if shape.models is None else config.get(shape.models)
        model = models.get(x) if isinstance(models, Mapping) else None
        if not isinstance(model, Mapping):
            where = "in the catalogue" if shape.models is None else f"under config key {shape.models!r}"
            raise Unread("bad_x", f"no model {quoted(x)} {where}")
        return {f"model_{name}": value for name, value in model.items()}
    if shape.reads == "tuple":
        found = _TUPLE.fullmatch(x)
        parts = [int(part) for part in found.group(1).split(",")] if found else []
        if len(parts) != len(shape.parts):
            raise Unread("bad_x", f"x {quoted(x)} is not ({', '.join(shape.parts)})")
        return dict(zip(shape.parts, parts, strict=True))
    number = integer(x)
    if number is None:
        raise Unread("bad_x", f"x {quoted(x)} is not a positive integer")
    return {"x": number}


def _dtype(names: Mapping[str, Any], dtype: str | FromConfig) -> str:
    if not isinstance(dtype, FromConfig):
        return dtype
    text = names.get(dtype.key)
    if isinstance(text, str) and text in DTYPES:
        return DTYPES[text]
    if isinstance(text, str) and text in DTYPES.values():
        return text
    raise Unread("unmet_condition", f"{dtype.key} {quoted(text)} is no dtype that the catalogue knows")


def _scalar(names: Mapping[str, Any], value: float | str, dtype: str) -> tuple[str, int | float]:
    found = names.get(value) if isinstance(value, str) else value
    if isinstance(found, bool):
        return dtype, int(found)
    if not isinstance(found, (int, float)) or not abs(found) <= SAFE:
        raise Unread("unmet_condition", f"{value} is {quoted(found)}, not a number")
    if isinstance(found, float) and found.is_integer():
        return dtype, int(found)
    return dtype, found


def _switches(shape: Shape, scalars: Scalars) -> dict[str, str]:
    return {name: _switch(*scalars[name]) for name in shape.switches}


def _switch(dtype: str, value: float) -> str:
    if dtype == "bool":
        return "true" if value else "false"
    return number(value)
