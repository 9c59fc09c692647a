"""Oddities of upstream's measurements that several kernels share, with what is done about each."""

from __future__ import annotations

from kernelindex_liger.bench.spec import Deviation, NoCaveat

COMPARABLE = "Rows under these names must mean what upstream's mean."
BACKWARD_AND_FULL = ("backward", "full")


def gradient_drawn(caveat: str = "gradient-drawn-in-full-helper") -> Deviation:
    """The shared rule of the full pass; kernels whose older rows did so too have another caveat."""
    return Deviation(
        slug="gradient-drawn-in-full",
        text="full draws its random gradient inside what is timed.",
        decision="reproduced",
        reason=COMPARABLE,
        caveat=caveat,
        passes=("full",),
    )


def gradients_accumulate(caveat: str) -> Deviation:
    """The shared rule of what is dropped between repetitions; what is not differs in size."""
    return Deviation(
        slug="weight-gradients-accumulate",
        text="The gradients of the parameters are not dropped between repetitions, nor in most kernels those of inputs "
        "other than the first: they accumulate, so that backward includes an addition for each of them after the "
        "first call.",
        decision="reproduced",
        reason=COMPARABLE,
        caveat=caveat,
        passes=BACKWARD_AND_FULL,
    )


def float32_output(caveat: str, *providers: str) -> Deviation:
    """Float32 parameters under a bfloat16 input, and what a plain PyTorch layer makes of them."""
    return Deviation(
        slug="float32-output",
        text="Parameters stay float32 whatever the input's dtype is; a plain PyTorch layer then gives a float32 "
        "output, while a fused kernel gives the input's dtype.",
        decision="reproduced",
        reason=COMPARABLE,
        caveat=caveat,
        providers=providers,
    )


def backward_holds_forward(caveat: str) -> Deviation:
    """The rule of all scripts for Megatron's kernels."""
    return Deviation(
        slug="backward-includes-forward",
        text="The pass called backward runs forward, sum and backward, as full does; forward's time must be "
        "subtracted.",
        decision="reproduced",
        reason=COMPARABLE,
        caveat=caveat,
        passes=("backward",),
    )


HEAD_GRADIENTS = gradients_accumulate("head-gradients-added")
PARAMETER_GRADIENTS = gradients_accumulate("parameter-gradients-added")
WEIGHT_GRADIENTS = gradients_accumulate("weight-gradients-added")

RANDOM_SCALAR_GRADIENT = Deviation(
    slug="random-scalar-gradient",
    text="The scalar loss is differentiated with a random factor instead of one.",
    decision="reproduced",
    reason=COMPARABLE + " The work is the same for any factor but exactly one, for which some kernels skip it.",
    caveat="random-scalar-gradient",
    passes=BACKWARD_AND_FULL,
)

GRADIENTS_IN_FORWARD = Deviation(
    slug="backward-is-a-rescaling",
    text="Liger computes the gradients in forward; its backward only multiplies them by the incoming one.",
    decision="reproduced",
    reason=COMPARABLE,
    caveat="gradients-in-forward",
    providers=("liger",),
    passes=("forward", "backward"),
)

INPUT_IS_NOT_A_LEAF = Deviation(
    slug="input-is-not-a-leaf",
    text="The measured tensor is computed from a leaf once, before timing. Each backward runs on "
    "through that computation, forward excludes it, and the leaf's gradient is never dropped.",
    decision="reproduced",
    reason=COMPARABLE,
    caveat="softmax-backward-included",
    passes=BACKWARD_AND_FULL,
)

EMPTY_CHOSEN_HALF = Deviation(
    slug="batch-of-one-is-nan",
    text="The first half of the batch is the chosen answers: at batch 1 it is empty and the loss is "
    "NaN, both at the first x and in the whole model_config sweep.",
    decision="reproduced",
    reason="The time of those rows is still that of the work done; leaving them out would lose upstream's rows.",
    caveat="empty-chosen-half",
)

T_FROM_CONFIG = Deviation(
    slug="seq-len-unused",
    text="In the model_config sweep the sequence length is the config's T; seq_len is written but not used.",
    decision="reproduced",
    reason=COMPARABLE,
    caveat="sequence-length-not-used",
)

INPUT_WITHOUT_GRADIENT = Deviation(
    slug="input-without-gradient",
    text="The hidden states do not require a gradient: the baseline's backward gives those of the head alone. "
    "Liger computes the input's all the same.",
    decision="reproduced",
    reason=COMPARABLE,
    caveat="input-without-gradient",
    passes=BACKWARD_AND_FULL,
)

CUDNN_DETERMINISTIC = Deviation(
    slug="cudnn-deterministic",
    text="Importing upstream's reference puts cuDNN in deterministic mode for the whole process. The "
    "reference here has no such side effect; the mode is set on purpose.",
    decision="reproduced",
    reason="It costs nothing here, since no cuDNN call is timed, and keeps the settings equal.",
    caveat=NoCaveat("No number depends on it: none of these kernels calls cuDNN."),
)

FULLY_DETERMINISTIC = Deviation(
    slug="deterministic-algorithms",
    text="Importing upstream's reference turns on deterministic algorithms (and the filling of uninitialised "
    "memory) for the whole process, so that both providers are timed with them.",
    decision="reproduced",
    reason=COMPARABLE + " The mode is set on purpose, for every provider.",
    caveat="deterministic-algorithms",
)

HEAD_DIM = Deviation(
    slug="head-dim-from-hidden-size",
    text="The head dimension is hidden_size // heads, not the model's own: 56 instead of 128 for deepseek_v3.",
    decision="reproduced",
    reason=COMPARABLE,
    caveat="head-dim-not-the-models",
)

QUERY_ONLY = Deviation(
    slug="gradient-of-query-only",
    text="Only the rotated query is differentiated; the key's output gets no gradient.",
    decision="reproduced",
    reason=COMPARABLE,
    caveat="query-gradient-only",
    passes=BACKWARD_AND_FULL,
)

MEAN_OF_SQUARES = Deviation(
    slug="loss-of-its-own",
    text="backward and full start from a scalar that PyTorch makes of the outputs: the mean of their squares, "
    "summed over several outputs, or of the logits of the language model.",
    decision="reproduced",
    reason=COMPARABLE,
    caveat="mean-square-included",
    passes=BACKWARD_AND_FULL,
)

REPAIRED_SWEEP = Deviation(
    slug="model-config-sweep-repaired",
    text="Upstream's model_config sweep raises TypeError before it measures anything; it runs here, with the "
    "rows that it would write if its memory probe were called with the number of tokens that it asks for.",
    decision="corrected",
    reason="No upstream row can exist to compare with; the config text is the one its code would write.",
    caveat=NoCaveat("Upstream has no such rows, and ours mean what they say."),
)

TABLES_OF_OUR_OWN = Deviation(
    slug="rope-tables",
    text="Cosine and sine tables are computed here, not by a transformers class whose constructor changed in "
    "version 5.",
    decision="corrected",
    reason="They are inputs, computed before timing; the values are the same and any transformers version works.",
    caveat=NoCaveat("The tables are the same, and making them is not timed."),
)
