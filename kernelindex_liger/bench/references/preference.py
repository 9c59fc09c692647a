"""Preference losses on top of a language-model head, in plain PyTorch.

The head's logits [B, T, V] are materialised; that is what the fused losses avoid. Where a loss is paired,
the first B // 2 sequences are the chosen answers and the rest the rejected ones, so that a batch of one has
no chosen answer and its loss is NaN. Every function also computes what trainers log (mean logits of both
halves, rewards): those reductions run over the full logits and belong to what is timed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import torch
from torch import Tensor
from torch.nn import functional

Losses: TypeAlias = Callable[[Tensor, Tensor], tuple[Tensor, ...]]
"""(chosen log-probabilities, rejected ones) -> (loss of each pair, values that are only logged ...)."""


@dataclass(frozen=True, slots=True)
class Head:
    """A head's weight [V, H] and bias [V] (or None)."""

    weight: Tensor
    bias: Tensor | None = None

    def logits(self, hidden: Tensor) -> Tensor:
        """[..., H] -> [..., V] in the head's dtype."""
        found = hidden @ self.weight.t()
        return found if self.bias is None else found + self.bias


def token_logps(logits: Tensor, labels: Tensor) -> Tensor:
    """Log-probability of each label: [..., V], [...] -> [...]."""
    return picked(logits.log_softmax(-1), labels)


def picked(values: Tensor, labels: Tensor) -> Tensor:
    """Each label's value: [..., V], [...] -> [...]."""
    return values.gather(-1, labels.unsqueeze(-1)).squeeze(-1)


def sequence_logps(logits: Tensor, labels: Tensor, ignored: int, *, average: bool) -> Tensor:
    """Log-probability of each sequence, a sum or mean over labels that count: [B, T, V], [B, T] -> [B]."""
    counts = labels != ignored
    each = token_logps(logits, torch.where(counts, labels, 0)) * counts
    return each.sum(-1) / counts.sum(-1) if average else each.sum(-1)


def paired(
    losses: Losses,
    *,
    head: Head,
    hidden: Tensor,
    target: Tensor,
    ignored: int,
    average: bool,
    nll_target: Tensor | None = None,
    nll: bool = True,
    alpha: float = 1.0,
) -> tuple[Tensor, tuple[Tensor, ...]]:
    """Mean preference loss plus alpha times the chosen half's cross entropy -> (scalar, logged values).

    hidden [B, T, H], target and nll_target [B, T]; `nll_target` defaults to the target.
    """
    half = hidden.shape[0] // 2
    labels = (target if nll_target is None else nll_target) if nll else None
    logits, logps, chosen_nll = _policy(head, hidden, target, ignored, average=average, nll_labels=labels)
    each, *logged = losses(logps[:half], logps[half:])
    means = (logits[:half].detach().mean(), logits[half:].detach().mean())
    return alpha * chosen_nll + each.mean(), (*means, *logged)


def _policy(
    head: Head, hidden: Tensor, target: Tensor, ignored: int, *, average: bool, nll_labels: Tensor | None
) -> tuple[Tensor, Tensor, Tensor]:
    """Float32 logits [B, T, V], sequence log-probabilities [B] and the chosen half's cross entropy."""
    # Held until this returns, next to its float32 copy: the baseline's peak memory counts both.
    narrow = head.logits(hidden)
    logits = narrow.float()
    chosen_nll = torch.tensor(0.0, device=logits.device)
    if nll_labels is not None:
        half = hidden.shape[0] // 2
        chosen_nll = functional.cross_entropy(
            logits[:half].view(-1, logits.shape[-1]), nll_labels[:half].view(-1), ignore_index=ignored
        )
    return logits, sequence_logps(logits, target, ignored, average=average), chosen_nll


def cpo(beta: float, gamma: float = 0.0) -> Losses:
    """Contrastive preference loss: -log sigmoid(beta * difference - gamma).

    gamma 0 is CPO (arXiv:2401.08417); with averaged log-probabilities and a positive gamma it is SimPO
    (arXiv:2405.14734).
    """

    def losses(chosen: Tensor, rejected: Tensor) -> tuple[Tensor, ...]:
        difference = chosen - rejected
        if gamma:
            difference = difference - gamma / beta
        # No label smoothing: its second term has the factor zero but is computed, and counts.
        right, wrong = functional.logsigmoid(beta * difference), functional.logsigmoid(-beta * difference)
        return -right * 1.0 - wrong * 0.0, beta * chosen, beta * rejected

    return losses


def orpo(beta: float) -> Losses:
    """Odds-ratio preference loss (arXiv:2403.07691): -beta * log sigmoid(log odds ratio)."""

    def losses(chosen: Tensor, rejected: Tensor) -> tuple[Tensor, ...]:
        against = torch.log1p(-torch.exp(chosen)) - torch.log1p(-torch.exp(rejected))
        log_odds = (chosen - rejected) - against
        ratio = functional.logsigmoid(log_odds)
        return -beta * ratio, beta * chosen, beta * rejected, ratio.mean(), log_odds.mean()

    return losses


def dpo(beta: float, reference: Callable[[], Tensor]) -> Losses:
    """Direct preference loss (arXiv:2305.18290) against the reference model's log-probabilities [B].

    They are asked for only when the policy's logits are there, which is when memory is at its peak.
    """

    def losses(chosen: Tensor, rejected: Tensor) -> tuple[Tensor, ...]:
        frozen, half = reference(), chosen.shape[0]
        chosen_ratio, rejected_ratio = chosen - frozen[:half], rejected - frozen[half:]
        each = -functional.logsigmoid(beta * (chosen_ratio - rejected_ratio))
        return each, beta * chosen_ratio, beta * rejected_ratio

    return losses


def reference_logps(head: Head, hidden: Tensor, target: Tensor, ignored: int, *, average: bool) -> Tensor:
    """The reference model's sequence log-probabilities [B], without a graph and in the head's dtype."""
    with torch.no_grad():
        return sequence_logps(head.logits(hidden), target, ignored, average=average)


def paired_dpo(
    beta: float,
    *,
    head: Head,
    hidden: Tensor,
    frozen: Head,
    frozen_hidden: Tensor,
    target: Tensor,
    ignored: int,
) -> tuple[Tensor, tuple[Tensor, ...]]:
    """DPO of averaged log-probabilities without a cross entropy; hidden states [B, T, H] for both heads."""
    return paired(
        dpo(beta, lambda: reference_logps(frozen, frozen_hidden, target, ignored, average=True)),
        head=head,
        hidden=hidden,
        target=target,
        ignored=ignored,
        average=True,
        nll=False,
    )


def kto(
    *,
    head: Head,
    hidden: Tensor,
    reference_head: Head,
    reference_hidden: Tensor,
    target: Tensor,
    preferred: Tensor,
    kl: Tensor,
    beta: float,
    ignored: int,
    average: bool,
) -> tuple[Tensor, tuple[Tensor, ...]]:
    """Kahneman-Tversky loss (arXiv:2402.01306) of unpaired answers -> (scalar, logged values).

    `preferred` [B] says which answers are wanted; `kl` [1] is what both sides are measured from.
    """
    logits, logps, _ = _policy(head, hidden, target, ignored, average=average, nll_labels=None)
    chosen_logits, rejected_logits = logits[preferred], logits[~preferred]
    reference = reference_logps(reference_head, reference_hidden, target, ignored, average=average)
    wanted = logps[preferred] - reference[preferred]
    unwanted = logps[~preferred] - reference[~preferred]
    each = torch.cat((1 - torch.sigmoid(beta * (wanted - kl)), 1 - torch.sigmoid(beta * (kl - unwanted))))
    sums = (chosen_logits.detach().sum(), rejected_logits.detach().sum())
    return each.mean(), (*sums, (beta * wanted).sum(), (beta * unwanted).sum())
