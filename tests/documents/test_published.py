"""Documents against those that KernelIndex publishes."""

import hashlib
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelindex_liger.documents import KINDS, canonical, case_key, digest, pretty, slug
from tests.conftest import FIXTURES

SEEDS = sorted((FIXTURES / "seeds").glob("*.json"))


@pytest.mark.parametrize("seed", SEEDS, ids=lambda path: path.stem)
def test_seeds_print_byte_for_byte_and_fit_the_models(seed: Path) -> None:
    content = seed.read_text()
    bundle = json.loads(content)
    assert pretty(bundle) == content
    for document in bundle.values():
        assert KINDS[document["kind"]].model_validate(document).to_dict() == document
    assert bundle["run"]["spec"]["protocolDigest"] == digest(bundle["protocol"])
    assert bundle["run"]["spec"]["environmentDigest"] == digest(bundle["environment"])


@pytest.mark.parametrize("name", ["operations", "implementations", "protocols", "environments", "projects"])
def test_published_documents_keep_their_digest_through_the_models(shared: Path, name: str) -> None:
    entries = json.loads((shared / "kernelindex" / f"{name}.json").read_text())
    assert entries
    for entry in entries:
        document = KINDS[entry["document"]["kind"]].model_validate(entry["document"])
        assert document.to_dict() == entry["document"]
        assert document.digest == entry["digest"]


def test_digest_is_sha256_of_the_canonical_identity_members() -> None:
    document = {"apiVersion": "a", "kind": "K", "spec": {"b": 1.0, "a": [1e-7, "é"]}, "metadata": {"name": "n"}}
    text = '{"apiVersion":"a","kind":"K","spec":{"a":[1e-7,"é"],"b":1}}'
    assert digest(document) == "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def test_metadata_is_no_part_of_the_digest() -> None:
    document = {"apiVersion": "a", "kind": "K", "spec": {}}
    assert digest(document | {"metadata": {"name": "one"}}) == digest(document | {"metadata": {"name": "two"}})


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.floats(-1e300, 1e300)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner),
)  # fmt: skip


@given(JSON)
def test_pretty_and_canonical_hold_the_same_value(value: object) -> None:
    assert json.loads(pretty(value)) == json.loads(canonical(value))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("NVIDIA H100 80GB HBM3", "nvidia-h100-80gb-hbm3"),
        ("2026-04-07 21:27:38", "2026-04-07-21-27-38"),
        ("  --x__Y--  ", "x-y"),
        ("", ""),
        ("a" * 99 + "_b", "a" * 99 + "-"),
    ],
)
def test_slug_by_example(text: str, expected: str) -> None:
    assert slug(text) == expected


@given(st.text(max_size=300))
def test_slug_is_bounded_plain_and_stable(text: str) -> None:
    once = slug(text)
    assert len(once) <= 100
    assert set(once) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
    assert "--" not in once
    assert not once.startswith("-")
    assert slug(once).rstrip("-") == once.rstrip("-")


def test_case_key_sorts_axes_and_switches() -> None:
    assert case_key({"rows": 2048, "hidden": 1024}, "fp32") == "hidden1024-rows2048-fp32"
    assert case_key({"tokens": 1, "hidden": 2}, "bf16", {"beta": "true"}) == "betatrue-hidden2-tokens1-bf16"
