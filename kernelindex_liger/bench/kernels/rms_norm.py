"""RMS norm of hidden states [T, H]: Liger's module against a Llama-style norm in plain PyTorch."""

from __future__ import annotations

from kernelindex_liger.bench.spec import Case, Kernel, Provider, Tiny, Work
from kernelindex_liger.bench.sweeps import model_config, token_length


def build(case: Case) -> Work:
    """Input x [T, H] with a gradient; weight ones[H] in float32 as upstream leaves it, whatever x is."""
    import torch

    tokens = case.size("seq_len") if case.by_model else case.size("T", case.x)
    hidden = case.size("hidden_size")
    dtype = getattr(torch, case.size("dtype").removeprefix("torch."))
    x = torch.randn(tokens, hidden, dtype=dtype, device=case.device, requires_grad=True)
    eps = case.size("eps")
    if case.provider == "liger":
        from liger_kernel.transformers.rms_norm import LigerRMSNorm

        layer = LigerRMSNorm(hidden_size=hidden, eps=eps).to(case.device)
    else:
        from kernelindex_liger.bench.references.norms import RMSNorm

        layer = RMSNorm(hidden, eps).to(case.device)
    return Work(forward=lambda: layer(x), reset=[x], tensors={"x": x, "weight": layer.weight})


KERNELS = (
    Kernel(
        name="rms_norm",
        script="benchmark_rms_norm.py",
        liger=("liger_kernel.transformers.rms_norm",),
        providers=(Provider(name="huggingface", role="baseline"), Provider(name="liger", role="liger")),
        speed=("forward", "backward", "full"),
        memory=("full",),
        sweeps=(
            token_length(
                x_name="T",
                x_label="Sequence length",
                model_keys=("hidden_size", "dtype"),
                extra={"eps": 1e-06},
                probe_provider="huggingface",
                probe_x=1024,
                estimate=142639104,
            ),
            model_config(
                model_keys=("hidden_size", "dtype"),
                extra={"eps": 1e-06},
                probe_provider="huggingface",
                estimate=570490880,
            ),
        ),
        build=build,
        tiny=Tiny(x={"T": 8}, sizes={"hidden_size": 64, "seq_len": 8, "dtype": "torch.float32"}),
    ),
)
