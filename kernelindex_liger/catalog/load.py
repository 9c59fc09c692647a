"""Reading the catalogue: TOML files, the package's own and the user's, checked and merged."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Sequence
from importlib import resources
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, ValidationError, model_validator

from kernelindex_liger.catalog.catalog import Catalog, Kernel
from kernelindex_liger.catalog.check import problems
from kernelindex_liger.catalog.facts import (
    Fact,
    Finite,
    Gpu,
    Identifier,
    Implementation,
    Operation,
    Project,
    Protocol,
    Provider,
    Shape,
)
from kernelindex_liger.catalog.matching import Caveat, Correction
from kernelindex_liger.documents.base import Integer
from kernelindex_liger.untrusted import read_small

SIZE = 1 << 20
"""Bytes that a catalogue file may have at the most."""


class CatalogError(ValueError):
    """A catalogue file that cannot be used; the message names the file, the place, and what to do."""


class CatalogFile(Fact):
    """What one TOML file may hold: a kernel with its operations and shapes, or any of the common tables."""

    kernel: Identifier | None = None
    operations: tuple[Operation, ...] = ()
    shapes: Annotated[tuple[Shape, ...], Field(max_length=500)] = ()
    """Each is held against each other, so there is a limit."""
    implementations: dict[str, Implementation] = {}
    projects: dict[str, Project] = {}
    providers: dict[Identifier, Provider] = {}
    gpus: tuple[Gpu, ...] = ()
    metrics: dict[str, str] = {}
    protocols: dict[str, Protocol] = {}
    models: dict[str, dict[str, Integer | Finite | str]] = {}
    caveats: Annotated[tuple[Caveat, ...], Field(max_length=1000)] = ()
    """Each is held against every row, as corrections are."""
    corrections: Annotated[tuple[Correction, ...], Field(max_length=1000)] = ()

    @model_validator(mode="after")
    def _kernel_named(self) -> CatalogFile:
        if self.kernel is None and (self.operations or self.shapes or self.implementations):
            raise ValueError('operations, shapes and implementations belong to a kernel: name it with kernel = "…"')
        return self


def load(extra: Sequence[Path] = ()) -> Catalog:
    """The package's catalogue, with the user's files added to it or, where names are equal, in place of it.

    Args:
        extra: TOML files, or folders of which every `*.toml` below is read, in sorted order.

    Raises:
        CatalogError: if a file cannot be read, is not TOML, does not fit the models, or contradicts another.
    """
    builtin = _toml_files(Path(str(resources.files("kernelindex_liger.catalog") / "data")))
    files = [*builtin, *(path for entry in extra for path in _toml_files(entry))]
    return merge((path, read(path)) for path in files)


def read(path: Path) -> CatalogFile:
    """One catalogue file.

    Raises:
        CatalogError: as `load`.
    """
    try:
        data: dict[str, Any] = tomllib.loads(read_small(path, SIZE).decode())
    except OSError as error:
        raise CatalogError(f"{path}: cannot be read: {error.strerror or error}") from error
    except RecursionError as error:
        raise CatalogError(f"{path}: nested too deeply") from error
    except ValueError as error:
        # besides its own error, tomllib lets through Python's of a number with too many digits
        raise CatalogError(f"{path}: not TOML: {error}") from error
    try:
        return CatalogFile.model_validate(data)
    except ValidationError as error:
        lines = (
            f"{'.'.join(str(part)[:100] for part in one['loc']) or 'file'}: "
            f"{one['msg'].removeprefix('Value error, ')[:500]}"
            for one in error.errors(include_url=False, include_context=False, include_input=False)[:10]
        )
        raise CatalogError(f"{path}: does not fit the catalogue's form:\n  " + "\n  ".join(lines)) from error


def merge(files: Iterable[tuple[Path, CatalogFile]]) -> Catalog:
    """Files in order, later facts in place of earlier ones of the same name; checked as a whole.

    Raises:
        CatalogError: if facts contradict one another or name what is not there.
    """
    kernels: dict[str, Kernel] = {}
    projects: dict[str, Project] = {}
    providers: dict[str, Provider] = {}
    gpus: dict[tuple[str, str, str], Gpu] = {}
    metrics: dict[str, str] = {}
    protocols: dict[str, Protocol] = {}
    models: dict[str, dict[str, int | float | str]] = {}
    caveats: dict[str, Caveat] = {}
    corrections: dict[str, Correction] = {}
    for path, file in files:
        if file.kernel is not None:
            kernels[file.kernel] = Kernel(
                file.kernel,
                {one.slug: one for one in file.operations},
                file.shapes,
                file.implementations,
                str(path),
            )
        projects |= file.projects
        providers |= file.providers
        for gpu in file.gpus:
            key = (gpu.vendor, gpu.product, gpu.architecture)
            known = gpus.get(key)
            gpus[key] = gpu if known is None else gpu.model_copy(update={"names": known.names | gpu.names})
        metrics |= file.metrics
        protocols |= file.protocols
        models |= file.models
        caveats |= {one.id: one for one in file.caveats}
        corrections |= {one.id: one for one in file.corrections}
    catalog = Catalog(
        dict(sorted(kernels.items())),
        projects,
        providers,
        tuple(gpus.values()),
        metrics,
        protocols,
        models,
        tuple(caveats.values()),
        tuple(corrections.values()),
    )
    if found := problems(catalog):
        raise CatalogError("the catalogue contradicts itself:\n  " + "\n  ".join(found))
    return catalog


def _toml_files(entry: Path) -> list[Path]:
    if entry.is_dir():
        found = sorted(entry.rglob("*.toml"))
        if not found:
            raise CatalogError(f"{entry}: no *.toml file below this folder")
        return found
    return [entry]
