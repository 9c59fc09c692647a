"""Bytes of documents: the canonical form that digests are taken of, and the form that people read."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

import rfc8785

IDENTITY = ("apiVersion", "kind", "spec")
"""The members of a document that its digest covers; `metadata` may change without changing what is named."""


def canonical(value: Any) -> str:
    """RFC 8785 text of a JSON value.

    Raises:
        rfc8785.CanonicalizationError: for NaN, infinities and integers beyond ±(2^53 - 1).
    """
    return rfc8785.dumps(value).decode()


def digest(document: Mapping[str, Any]) -> str:
    """`sha256:` and the SHA-256 of the canonical form of a document's identity members."""
    return sha256(canonical({key: document[key] for key in IDENTITY}))


def sha256(text: str) -> str:
    """`sha256:` and the SHA-256 of a text's UTF-8 bytes, in hexadecimal."""
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def number(value: float) -> str:
    """A number as RFC 8785 prints it: shortest digits that round-trip, no fraction where there is none."""
    return canonical(value)


def seed_order(key: str) -> tuple[int, str]:
    """Sort key of the published files: shorter keys first, keys of one length alphabetically."""
    return len(key), key


def pretty(value: Any) -> str:
    """The published file form: two-space JSON in `seed_order`, numbers as RFC 8785 prints them, one newline."""
    return _pretty(value, "\n") + "\n"


def _pretty(value: Any, newline: str) -> str:
    inner = newline + "  "
    if isinstance(value, Mapping):
        if not value:
            return "{}"
        members = (
            f"{json.dumps(key, ensure_ascii=False)}: {_pretty(value[key], inner)}"
            for key in sorted(value, key=seed_order)
        )
        return "{" + inner + ("," + inner).join(members) + newline + "}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        if not value:
            return "[]"
        return "[" + inner + ("," + inner).join(_pretty(item, inner) for item in value) + newline + "]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return canonical(value)
