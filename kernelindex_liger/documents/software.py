"""SoftwareProject and ImplementationRevision: whose code was timed."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from kernelindex_liger.documents.base import (
    Commit,
    Digest,
    Document,
    Name,
    Part,
    Positive,
    Short,
    Text,
    Token,
    Url,
)


class Host(Part):
    """Where a project lives, and what it is called there."""

    kind: Literal["github", "huggingface", "gitlab", "other"]
    id: Text


class Package(Part):
    """A project's package in an ecosystem."""

    ecosystem: Token
    name: Text


class SoftwareProjectSpec(Part):
    """What a project is and where it lives."""

    name: Text
    kind: Literal["library", "individual", "vendor"]
    repository: Url | None = None
    homepage: Url | None = None
    host: Host | None = None
    packages: list[Package] | None = None


class SoftwareProject(Document):
    """A project that implementations come from."""

    folder: ClassVar[str] = "projects"
    kind: Literal["SoftwareProject"] = "SoftwareProject"
    spec: SoftwareProjectSpec


class ProjectRevision(Part):
    """Which state of the project; empty where the source does not say."""

    repository: Url | None = None
    commit: Commit | None = None
    version: Short | None = None
    tree_digest: Digest | None = None


class OperationLink(Part):
    """The operation that is implemented."""

    spec_digest: Digest


class Callable(Part):
    """What is called, in which language it is written."""

    language: Token
    path: Annotated[str, Field(max_length=500)] | None = None
    symbol: Text | None = None
    interface: Token | None = None


class Support(Part):
    """What the implementation is declared to support; empty lists where nothing is declared."""

    hardware_architectures: tuple[Token, ...] = ()
    products_tested: list[Short] | None = None
    axes: list[Text] | None = None
    dtypes: tuple[Token, ...] = ()
    layouts: list[Annotated[str, Field(max_length=50)]] | None = None


class Source(Part):
    """The source file that holds the implementation."""

    content_digest: Digest
    file_name: Text | None = None
    size_bytes: Positive | None = None


class Install(Part):
    """How a build variant is installed."""

    kind: Literal["git", "pip", "package", "container", "source"]
    repository: Url | None = None
    commit: Commit | None = None
    package: Text | None = None
    version: Short | None = None
    command: Annotated[str, Field(max_length=1000)] | None = None


class BuildVariant(Part):
    """One way to get the implementation."""

    name: Name
    install: Install
    requirements: dict[Token, Text] | None = None


class LicenseEvidence(Part):
    """The file that a concluded licence rests on."""

    path: Annotated[str, Field(max_length=500)]
    digest: Digest | None = None


class Licensing(Part):
    """SPDX expressions: what the project declares, and what a review concluded."""

    declared: Text | None = None
    concluded: Text | None = None
    evidence: LicenseEvidence | None = None


class ImplementationRevisionSpec(Part):
    """One implementation of one operation."""

    project_revision: ProjectRevision = ProjectRevision()
    operation: OperationLink
    callable: Callable
    support: Support = Support()
    source: Source | None = None
    build_variants: list[BuildVariant] | None = None
    licensing: Licensing


class ImplementationRevision(Document):
    """Whose implementation of an operation a run timed."""

    folder: ClassVar[str] = "implementations"
    kind: Literal["ImplementationRevision"] = "ImplementationRevision"
    spec: ImplementationRevisionSpec
