"""Documents that others name by digest, each as its canonical text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kernelindex_liger.documents import Document, canonical
from kernelindex_liger.documents.canonical import digest


# not frozen, since frozen ones take three times as long to make and there can be a million; nothing changes them
@dataclass(eq=False, slots=True)
class Linked:
    """A document that others name by its digest; `links` are those that it names in turn."""

    kind: str
    name: str
    text: str
    """The document's canonical text."""
    digest: str
    links: tuple[Linked, ...] = ()

    @property
    def document(self) -> Mapping[str, Any]:
        """The document as JSON values."""
        value: Mapping[str, Any] = json.loads(self.text)
        return value


@dataclass(eq=False, slots=True)
class LinkedImplementation(Linked):
    """An implementation, with the slug of the project that it belongs to."""

    project: str = ""
    role: str | None = None


def linked(document: Document, *links: Linked) -> Linked:
    """A checked document with its digest."""
    data = document.to_dict()
    return Linked(document.kind, document.metadata.name, canonical(data), digest(data), links)
