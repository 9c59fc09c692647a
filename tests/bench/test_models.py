"""The runner's model profiles are the models that the catalogue reads rows by."""

from __future__ import annotations

from dataclasses import asdict

from kernelindex_liger.bench.models import MODELS
from kernelindex_liger.catalog import load

RUNNER_ONLY = {"name", "rms_norm_eps"}
"""What no row is read by: the key itself, and an epsilon that rows carry in their config."""


def test_profiles_and_catalogue_agree() -> None:
    catalogued = load().models
    assert set(MODELS) <= set(catalogued)
    for name, profile in MODELS.items():
        facts = {fact: value for fact, value in asdict(profile).items() if fact not in RUNNER_ONLY}
        facts["dtype"] = {"torch.bfloat16": "bf16"}[profile.dtype]
        assert {fact: catalogued[name][fact] for fact in facts} == facts, name
