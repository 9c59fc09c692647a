"""Reading the catalogue: TOML files, the package's own and the user's, checked and merged."""

from __future__ import annotations

import dataclasses
import hashlib
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, ValidationError, model_validator

from kernelindex_liger.catalog.catalog import Catalog, Kernel
from kernelindex_liger.catalog.check import common_problems, kernel_problems, problems
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
from kernelindex_liger.documents.canonical import sha256
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


_OF_KERNELS = frozenset({"kernel", "operations", "shapes", "implementations"})


class Shelf(Mapping[str, Kernel]):
    """Kernels whose facts are taken from their files when they are asked for; each file bears its kernel's name.

    Args:
        contents: the files and what stands in them.
        common: all facts that are of no kernel, with the digest of all files.
    """

    def __init__(self, contents: Mapping[Path, bytes], common: Catalog) -> None:
        self._contents = {path.stem: (path, content) for path, content in contents.items()}
        self._kernels: dict[str, Kernel] = {}
        self.catalog = dataclasses.replace(common, kernels=self)

    def __getitem__(self, name: str) -> Kernel:
        """The kernel of that name.

        Raises:
            KeyError: if there is none.
            CatalogError: as `load`.
        """
        if name not in self._kernels:
            path, content = self._contents[name]
            file = _parsed(path, content)
            if file.kernel != name or file.model_fields_set - _OF_KERNELS:
                raise CatalogError(f"{path}: must hold facts on kernel {name} alone")
            # put down before it is checked: a check may ask for all kernels
            self._kernels[name] = _kernel(path, file)
            _refuse(kernel_problems(self.catalog, self._kernels[name]))
        return self._kernels[name]

    @property
    def taken(self) -> frozenset[str]:
        """Names of the kernels that were asked for so far."""
        return frozenset(self._kernels)

    def __iter__(self) -> Iterator[str]:
        """Names in sorted order."""
        return iter(sorted(self._contents))

    def __len__(self) -> int:
        return len(self._contents)

    def __contains__(self, name: object) -> bool:
        return name in self._contents


def load(extra: Sequence[Path] = ()) -> Catalog:
    """The package's catalogue, with the user's files added to it or, where names are equal, in place of it.

    Without files of the user, a kernel's facts are taken up and checked when they are first asked for.

    Args:
        extra: TOML files, or folders of which every `*.toml` below is read, in sorted order.

    Raises:
        CatalogError: if a file cannot be read, is not TOML, does not fit the models, or contradicts another.
    """
    builtin = _toml_files(Path(str(resources.files("kernelindex_liger.catalog") / "data")))
    files = [*builtin, *(path for entry in extra for path in _toml_files(entry))]
    contents = [(path, _content(path)) for path in files]
    digest = sha256("".join(hashlib.sha256(content).hexdigest() for _, content in contents))
    if extra:
        catalog = _merged(contents, digest)
        _refuse(problems(catalog))
        return catalog
    of_kernels = {path: content for path, content in contents if path.parent.name == "kernels"}
    common = _merged([(path, content) for path, content in contents if path not in of_kernels], digest)
    _refuse(common_problems(common))
    return Shelf(of_kernels, common).catalog


def read(path: Path) -> CatalogFile:
    """One catalogue file.

    Raises:
        CatalogError: as `load`.
    """
    return _parsed(path, _content(path))


def nothing() -> Catalog:
    """A catalogue without any facts."""
    return _merged([], sha256(""))


def _content(path: Path) -> bytes:
    try:
        return read_small(path, SIZE)
    except OSError as error:
        raise CatalogError(f"{path}: cannot be read: {error.strerror or error}") from error


def _parsed(path: Path, content: bytes) -> CatalogFile:
    try:
        data: dict[str, Any] = tomllib.loads(content.decode())
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


def _merged(contents: Sequence[tuple[Path, bytes]], digest: str) -> Catalog:
    """Files in order, later facts in place of earlier ones of the same name."""
    kernels: dict[str, Kernel] = {}
    projects: dict[str, Project] = {}
    providers: dict[str, Provider] = {}
    gpus: dict[tuple[str, str, str], Gpu] = {}
    metrics: dict[str, str] = {}
    protocols: dict[str, Protocol] = {}
    models: dict[str, dict[str, int | float | str]] = {}
    caveats: dict[str, Caveat] = {}
    corrections: dict[str, Correction] = {}
    for path, content in contents:
        file = _parsed(path, content)
        if file.kernel is not None:
            kernels[file.kernel] = _kernel(path, file)
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
    return Catalog(
        dict(sorted(kernels.items())),
        projects,
        providers,
        tuple(gpus.values()),
        metrics,
        protocols,
        models,
        tuple(caveats.values()),
        tuple(corrections.values()),
        digest,
    )


def _kernel(path: Path, file: CatalogFile) -> Kernel:
    operations = {one.slug: one for one in file.operations}
    return Kernel(file.kernel or "", operations, file.shapes, file.implementations, str(path))


def _refuse(problems: Iterable[str]) -> None:
    if found := list(problems):
        raise CatalogError("the catalogue contradicts itself:\n  " + "\n  ".join(found))


def _toml_files(entry: Path) -> list[Path]:
    if entry.is_dir():
        found = sorted(entry.rglob("*.toml"))
        if not found:
            raise CatalogError(f"{entry}: no *.toml file below this folder")
        return found
    return [entry]
