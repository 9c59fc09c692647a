"""The model profiles that upstream's sweeps take their sizes from (linkedin/Liger-Kernel at ead96b61)."""

from __future__ import annotations

from dataclasses import dataclass

DEFAULT_MODEL = "llama_3_8b"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelProfile:
    """Sizes of one model; `dtype` is the text that the CSV's config carries (`torch.bfloat16`)."""

    name: str
    hidden_size: int
    intermediate_size: int
    vocab_size: int
    num_attention_heads: int
    num_key_value_heads: int
    max_position_embeddings: int
    head_dim: int = 128
    hidden_act: str = "silu"
    rms_norm_eps: float = 1e-05
    dtype: str = "torch.bfloat16"


MODELS: dict[str, ModelProfile] = {
    m.name: m
    for m in (
        ModelProfile(
            name="llama_2_7b",
            hidden_size=4096,
            intermediate_size=11008,
            vocab_size=32000,
            num_attention_heads=32,
            num_key_value_heads=32,
            max_position_embeddings=4096,
        ),
        ModelProfile(
            name="llama_3_8b",
            hidden_size=4096,
            intermediate_size=14336,
            vocab_size=128256,
            num_attention_heads=32,
            num_key_value_heads=8,
            max_position_embeddings=8192,
        ),
        ModelProfile(
            name="qwen2.5_7b",
            hidden_size=3584,
            intermediate_size=18944,
            vocab_size=152064,
            num_attention_heads=28,
            num_key_value_heads=4,
            max_position_embeddings=32768,
        ),
        ModelProfile(
            name="qwen2.5_14b",
            hidden_size=5120,
            intermediate_size=13824,
            vocab_size=152064,
            num_attention_heads=40,
            num_key_value_heads=8,
            max_position_embeddings=32768,
        ),
        ModelProfile(
            name="qwen2.5_72b",
            hidden_size=8192,
            intermediate_size=29568,
            vocab_size=152064,
            num_attention_heads=64,
            num_key_value_heads=8,
            max_position_embeddings=32768,
        ),
        ModelProfile(
            name="deepseek_v2_lite",
            hidden_size=2048,
            intermediate_size=10944,
            vocab_size=102400,
            num_attention_heads=16,
            num_key_value_heads=16,
            max_position_embeddings=163840,
        ),
        ModelProfile(
            name="deepseek_v3",
            hidden_size=7168,
            intermediate_size=18432,
            vocab_size=129280,
            num_attention_heads=128,
            num_key_value_heads=128,
            max_position_embeddings=163840,
        ),
    )
}
"""Upstream's registry, in its order: the x values of every model_config sweep."""
