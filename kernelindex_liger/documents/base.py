"""What every document kind shares: the envelope, metadata, and the types of names and digests."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from kernelindex_liger.documents.canonical import digest

API_VERSION: Final = "kernelindex.dev/v1alpha1"
SAFE = 2**53 - 1
"""The largest integer that every JSON reader keeps exact."""

Token = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]*$", max_length=200)]
Digest = Annotated[str, Field(pattern=r"^sha256:[0-9a-f]{64}$")]
Commit = Annotated[str, Field(pattern=r"^[0-9a-f]{40}$")]
Integer = Annotated[int, Field(ge=-SAFE, le=SAFE)]
Count = Annotated[int, Field(ge=0, le=SAFE)]
Positive = Annotated[int, Field(gt=0, le=SAFE)]
Text = Annotated[str, Field(max_length=200)]
Short = Annotated[str, Field(max_length=100)]
Url = Annotated[str, Field(max_length=2000)]
Duration = Count | Annotated[str, Field(pattern=r"^\d+(\.\d+)?\s?(ns|us|µs|ms|s)$")]
"""Nanoseconds as an integer, or a number with its unit."""


class Part(BaseModel):
    """A piece of a document: camelCase in JSON, unknown members refused, values never changed after checking."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        extra="forbid",
        frozen=True,
        defer_build=True,
    )


class SourceRef(Part):
    """Where a fact can be looked up."""

    url: Url


class Author(Part):
    """Who contributed a document."""

    name: Text | None = None
    github: Short | None = None


class Metadata(Part):
    """Name, title and labels of a document; never part of its digest."""

    name: Name
    title: Text | None = None
    description: Annotated[str, Field(max_length=2000)] | None = None
    labels: dict[Token, Text] | None = None
    authors: list[Author] | None = None
    source_refs: list[SourceRef] | None = None


class Document(Part):
    """A document: `apiVersion`, `kind`, `metadata` and the `spec` that its kind defines."""

    folder: ClassVar[str]
    """Where documents of this kind stand under `linked/`."""

    api_version: Literal["kernelindex.dev/v1alpha1"] = API_VERSION
    kind: str
    metadata: Metadata

    def to_dict(self) -> dict[str, Any]:
        """The document as JSON values, members that are not given left out."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)

    @property
    def digest(self) -> str:
        """`sha256:…` of the canonical form of `apiVersion`, `kind` and `spec`."""
        return digest(self.to_dict())
