"""What the kernels that replace Megatron's have in common."""

from __future__ import annotations

from kernelindex_liger.bench.kernels.shared.common import MEGATRON
from kernelindex_liger.bench.spec import Provider

NEEDS_GPU = "Megatron's function needs its own package and a GPU's process group"

MEGATRON_PROVIDER = Provider(name="megatron", role="other", requires=(MEGATRON,))
"""Megatron's own implementation: listed always, run where megatron-core is installed."""
