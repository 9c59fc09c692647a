"""Oddities of upstream's measurements that several kernels share, with what is done about each."""

from __future__ import annotations

from kernelindex_liger.bench.spec import Deviation

COMPARABLE = "Rows under these names must mean what upstream's mean."

GRADIENTS_ACCUMULATE = Deviation(
    slug="weight-gradients-accumulate",
    text="Only the first input's gradient is dropped between repetitions; those of the other inputs "
    "and of the parameters accumulate, so that backward includes an addition for each of them "
    "after the first call.",
    decision="reproduced",
    reason=COMPARABLE,
    passes=("backward", "full"),
)

RANDOM_SCALAR_GRADIENT = Deviation(
    slug="random-scalar-gradient",
    text="The scalar loss is differentiated with a random factor instead of one.",
    decision="reproduced",
    reason=COMPARABLE + " The work is the same for any factor but exactly one, for which some kernels skip it.",
    passes=("backward", "full"),
)

FLOAT32_WEIGHTS = Deviation(
    slug="float32-weights",
    text="Parameters stay float32 whatever the input's dtype is; a plain PyTorch layer then gives a float32 output.",
    decision="reproduced",
    reason=COMPARABLE,
)

INPUT_IS_NOT_A_LEAF = Deviation(
    slug="input-is-not-a-leaf",
    text="The measured tensor is computed from a leaf once, before timing. Each backward runs on "
    "through that computation, forward excludes it, and the leaf's gradient is never dropped.",
    decision="reproduced",
    reason=COMPARABLE,
    passes=("backward", "full"),
)

EMPTY_CHOSEN_HALF = Deviation(
    slug="batch-of-one-is-nan",
    text="The first half of the batch is the chosen answers: at batch 1 it is empty and the loss is "
    "NaN, both at the first x and in the whole model_config sweep.",
    decision="reproduced",
    reason="The time of those rows is still that of the work done; leaving them out would lose upstream's rows.",
)

T_FROM_CONFIG = Deviation(
    slug="seq-len-unused",
    text="In the model_config sweep the sequence length is the config's T; seq_len is written but not used.",
    decision="reproduced",
    reason=COMPARABLE,
)

INPUT_WITHOUT_GRADIENT = Deviation(
    slug="input-without-gradient",
    text="The hidden states do not require a gradient: backward gives those of the head alone.",
    decision="reproduced",
    reason=COMPARABLE,
    passes=("backward", "full"),
)

CUDNN_DETERMINISTIC = Deviation(
    slug="cudnn-deterministic",
    text="Importing upstream's reference puts cuDNN in deterministic mode for the whole process. The "
    "reference here has no such side effect; the mode is set on purpose.",
    decision="reproduced",
    reason="It costs nothing here, since no cuDNN call is timed, and keeps the settings equal.",
)

FULLY_DETERMINISTIC = Deviation(
    slug="deterministic-algorithms",
    text="Importing upstream's reference turns on deterministic algorithms (and the filling of uninitialised "
    "memory) for the whole process, so that both providers are timed with them.",
    decision="reproduced",
    reason=COMPARABLE + " The mode is set on purpose, for every provider.",
)

HEAD_DIM = Deviation(
    slug="head-dim-from-hidden-size",
    text="The head dimension is hidden_size // heads, not the model's own: 56 instead of 128 for deepseek_v3.",
    decision="reproduced",
    reason=COMPARABLE,
)

QUERY_ONLY = Deviation(
    slug="gradient-of-query-only",
    text="Only the rotated query is differentiated; the key's output gets no gradient.",
    decision="reproduced",
    reason=COMPARABLE,
    passes=("backward", "full"),
)

BACKWARD_HOLDS_FORWARD = Deviation(
    slug="backward-includes-forward",
    text="The pass called backward runs forward, sum and backward; forward's time must be subtracted.",
    decision="reproduced",
    reason=COMPARABLE,
    passes=("backward",),
)

REPAIRED_SWEEP = Deviation(
    slug="model-config-sweep-repaired",
    text="Upstream's model_config sweep raises TypeError before it measures anything; it runs here, with the "
    "rows that it would write if its memory probe were called with the number of tokens that it asks for.",
    decision="corrected",
    reason="No upstream row can exist to compare with; the config text is the one its code would write.",
)

TABLES_OF_OUR_OWN = Deviation(
    slug="rope-tables",
    text="Cosine and sine tables are computed here, not by a transformers class whose constructor changed in "
    "version 5.",
    decision="corrected",
    reason="They are inputs, computed before timing; the values are the same and any transformers version works.",
)

EAGER_ON_CPU = "torch.compile is left out on a CPU"
