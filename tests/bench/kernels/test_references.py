"""The PyTorch references against definitions written another way: loops, PyTorch itself, known properties."""

import math

import pytest

from tests.conftest import need

pytestmark = pytest.mark.bench

need("torch")

import torch  # noqa: E402
from torch.nn import functional  # noqa: E402

from kernelindex_liger.bench.references import (  # noqa: E402
    activations,
    attention,
    distillation,
    divergences,
    hyper,
    hyper_lm,
    mlp,
    moe,
    norms,
    policy,
    preference,
    rope,
    tiled,
)


@pytest.fixture(autouse=True)
def _seeded():
    torch.manual_seed(7)


def close(a, b, **kind):
    torch.testing.assert_close(a, b, **{"rtol": 1e-4, "atol": 1e-5, **kind})


def test_rms_norm_is_pytorchs():
    x, norm = torch.randn(5, 16), norms.RMSNorm(16, 1e-6)
    torch.nn.init.normal_(norm.weight)
    close(norm(x), functional.rms_norm(x, (16,), norm.weight, 1e-6))


def test_rms_norm_of_bfloat16_is_float32_under_a_float32_weight():
    assert norms.RMSNorm(16, 1e-6)(torch.randn(2, 16, dtype=torch.bfloat16)).dtype == torch.float32


def test_add_rms_norm_gives_the_sum_and_its_norm():
    x, residual = torch.randn(3, 8), torch.randn(3, 8)
    normed, total = norms.AddRMSNorm(8, 1e-6)(x, residual)
    close(total, x + residual)
    close(normed, functional.rms_norm(x + residual, (8,), None, 1e-6))


def test_modulation_scales_by_one_more_and_shifts():
    x, scale, shift = (torch.randn(3, 8) for _ in range(3))
    plain = functional.rms_norm(x, (8,), None, 1e-6)
    close(norms.ModulatedRMSNorm(8, 1e-6)(x, scale, shift), plain + plain * scale + shift)
    close(norms.ModulatedRMSNorm(8, 1e-6)(x, torch.zeros(3, 8)), plain)


def test_poly_norm_by_hand():
    row = [1.0, -2.0, 0.5]

    def normed(values):
        root = math.sqrt(sum(v * v for v in values) / 3 + 1e-6)
        return [v / root for v in values]

    parts = [normed([v**power for v in row]) for power in (3, 2, 1)]
    expected = [sum(part[i] for part in parts) / 3 + 1 for i in range(3)]
    close(norms.PolyNorm(1e-6)(torch.tensor([row])), torch.tensor([expected]))


@pytest.mark.parametrize("beta", [False, True])
def test_dyt_by_hand(beta):
    layer = norms.DyT(4, beta=beta)
    if beta:
        torch.nn.init.constant_(layer.beta, 0.25)
    x = torch.tensor([[0.0, 1.0, -1.0, 4.0]])
    close(layer(x), torch.tensor([[math.tanh(v / 2) + 0.25 * beta for v in (0.0, 1.0, -1.0, 4.0)]]))


def test_relu_squared_by_hand():
    close(activations.relu_squared(torch.tensor([-3.0, 0.0, 2.0])), torch.tensor([0.0, 0.0, 4.0]))


def projected(row):
    """The point of the simplex next to a row, by bisection of the threshold."""
    low, high = min(row) - 1, max(row)
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if sum(max(v - middle, 0) for v in row) > 1 else (low, middle)
    return [max(v - low, 0) for v in row]


def test_sparsemax_projects_onto_the_simplex():
    x = torch.randn(6, 9) * 2
    close(activations.sparsemax(x), torch.tensor([projected(row) for row in x.tolist()]))
    close(activations.sparsemax(x.t(), 0), activations.sparsemax(x).t())


def test_causal_sparsemax_projects_what_the_mask_leaves():
    scores = torch.randn(5, 5) * 2
    found = activations.causal_sparsemax(scores)[0]
    for i, row in enumerate(scores.tolist()):
        close(found[i], torch.tensor(projected(row[: i + 1]) + [0.0] * (4 - i)))


def entropy(p):
    return -(p * p.log()).sum(-1)


@pytest.mark.parametrize("beta", [0.5, 0.25])
def test_jensen_shannon_is_a_difference_of_entropies(beta):
    q, p = torch.randn(2, 6, 11).softmax(-1)
    expected = entropy(beta * p + (1 - beta) * q) - beta * entropy(p) - (1 - beta) * entropy(q)
    close(divergences.jensen_shannon(q.log(), p.log(), beta), expected.mean())
    target = torch.tensor([0, -100, 3, 4, -100, 1])
    close(
        divergences.masked_jensen_shannon(q.log() + 3, p.log() - 2, target, -100, beta),
        expected[target != -100].mean(),
    )


def test_cosine_distance_by_hand():
    a, b = torch.tensor([[3.0, 4.0], [1.0, 0.0]]), torch.tensor([[6.0, 8.0], [0.0, 2.0]])
    close(divergences.cosine_distance(a, b, 0.5), torch.tensor(0.25))


def test_total_variation_by_hand():
    p, q = torch.tensor([[0.5, 0.5], [1.0, 0.0]]), torch.tensor([[0.25, 0.75], [0.0, 1.0]])
    for reduction, expected in (("sum", 1.25), ("batchmean", 0.625), ("mean", 0.3125)):
        close(divergences.total_variation(p, q, reduction), torch.tensor(expected))
    close(divergences.total_variation(p, q, "none").sum(-1), torch.tensor([0.25, 1.0]))
    with pytest.raises(ValueError, match="median"):
        divergences.total_variation(p, q, "median")


def test_distillation_weighs_hard_and_soft_losses():
    student, teacher, target = torch.randn(5, 4), torch.randn(5, 8), torch.randint(0, 9, (5,))
    weights = torch.randn(9, 4), torch.randn(9, 8)
    found = distillation.distilled(
        lambda s, t, _: (s - t).square().mean(),
        student=student,
        student_weight=weights[0],
        teacher=teacher,
        teacher_weight=weights[1],
        target=target,
        hard_share=0.25,
        soft_share=2.0,
        ignored=-100,
    )
    logits, other = student @ weights[0].T, teacher @ weights[1].T
    hard = -logits.log_softmax(-1)[torch.arange(5), target].mean()
    close(found, 0.25 * hard + 2 * (logits - other).square().mean())


def logps_by_loop(logits, labels, ignored, average):
    found = []
    for rows, wanted in zip(logits.log_softmax(-1), labels, strict=True):
        kept = [rows[t, int(label)] for t, label in enumerate(wanted) if label != ignored]
        found.append(sum(kept) / (len(kept) if average else 1))
    return found


@pytest.fixture
def answers():
    hidden, weight, bias = torch.randn(4, 3, 6), torch.randn(8, 6), torch.randn(8)
    target = torch.randint(1, 8, (4, 3))
    target[1, 2] = target[3, 0] = 0
    return hidden, preference.Head(weight, bias), target


@pytest.mark.parametrize(("gamma", "average"), [(0.0, False), (0.5, True)])
def test_cpo_and_simpo_by_loop(answers, gamma, average):
    hidden, head, target = answers
    loss, _ = preference.paired(
        preference.cpo(0.1, gamma), head=head, hidden=hidden, target=target, ignored=0, average=average
    )
    logits = hidden @ head.weight.T + head.bias
    found = logps_by_loop(logits, target, 0, average)
    wrong = [
        -math.log(1 / (1 + math.exp(-(0.1 * float(a - b) - gamma)))) for a, b in zip(found, found[2:], strict=False)
    ]
    chosen = [
        -float(logits.log_softmax(-1)[b, t, target[b, t]]) for b in range(2) for t in range(3) if target[b, t] != 0
    ]
    close(float(loss), sum(wrong) / 2 + sum(chosen) / len(chosen))


def test_orpo_by_loop(answers):
    hidden, head, target = answers
    loss, _ = preference.paired(
        preference.orpo(0.1), head=head, hidden=hidden, target=target, ignored=0, average=True, nll=False
    )
    p = [math.exp(v) for v in logps_by_loop(hidden @ head.weight.T + head.bias, target, 0, True)]
    ratios = [(a / (1 - a)) / (b / (1 - b)) for a, b in zip(p, p[2:], strict=False)]
    close(float(loss), sum(-0.1 * math.log(r / (1 + r)) for r in ratios) / 2)


def test_dpo_and_kto_by_loop(answers):
    hidden, head, target = answers
    frozen, frozen_hidden = preference.Head(torch.randn(8, 6)), torch.randn(4, 3, 6)
    ours = logps_by_loop(hidden @ head.weight.T + head.bias, target, 0, True)
    theirs = logps_by_loop(frozen_hidden @ frozen.weight.T, target, 0, True)
    ratio = [float(a - b) for a, b in zip(ours, theirs, strict=True)]
    loss, _ = preference.paired_dpo(
        0.1,
        head=head,
        hidden=hidden,
        frozen=frozen,
        frozen_hidden=frozen_hidden,
        target=target,
        ignored=0,
    )
    close(float(loss), sum(math.log(1 + math.exp(-0.1 * (ratio[i] - ratio[i + 2]))) for i in range(2)) / 2)
    preferred = torch.tensor([True, False, False, True])
    loss, _ = preference.kto(
        head=head,
        hidden=hidden,
        reference_head=frozen,
        reference_hidden=frozen_hidden,
        target=target,
        preferred=preferred,
        kl=torch.tensor([0.3]),
        beta=0.1,
        ignored=0,
        average=True,
    )
    each = [
        1 - 1 / (1 + math.exp(-0.1 * ((r - 0.3) if good else (0.3 - r))))
        for r, good in zip(ratio, preferred.tolist(), strict=True)
    ]
    close(float(loss), sum(each) / 4)


def test_a_batch_of_one_has_no_chosen_answer(answers):
    hidden, head, target = answers
    loss, _ = preference.paired(
        preference.cpo(0.1), head=head, hidden=hidden[:1], target=target[:1], ignored=0, average=False
    )
    assert math.isnan(float(loss))


def grpo_case(level):
    hidden = torch.randn(2, 3, 6, requires_grad=True)
    head, frozen = preference.Head(torch.randn(8, 6)), preference.Head(torch.randn(8, 6))
    given = {
        "head": head,
        "hidden": hidden,
        "reference_head": frozen,
        "reference_hidden": torch.randn(2, 3, 6),
        "tokens": torch.randint(0, 8, (2, 3)),
        "mask": torch.ones(2, 3),
        "advantages": torch.randn(2),
        "level": level,
    }
    return hidden, given


@pytest.mark.parametrize("level", ["token", "sequence"])
def test_on_policy_grpo_is_minus_advantage_plus_kl(level):
    hidden, given = grpo_case(level)
    loss, _ = policy.grpo_head(**given)
    ours = preference.token_logps(given["head"].logits(hidden), given["tokens"])
    theirs = preference.token_logps(given["reference_head"].logits(given["reference_hidden"]), given["tokens"])
    kl = (theirs - ours).exp() - 1 - (theirs - ours)
    close(loss, -given["advantages"].mean() + 0.1 * kl.mean())
    # The surrogate's gradient on policy: that of the advantage-weighted log-probability.
    (found,) = torch.autograd.grad(loss, hidden, retain_graph=True)
    wanted = (-given["advantages"][:, None] * ours + 0.1 * kl).mean()
    close(found, torch.autograd.grad(wanted, hidden)[0])


def test_the_upstream_baseline_of_grpo_has_no_policy_gradient():
    logits = torch.randn(2, 4, 8, requires_grad=True)
    given = {
        "logits": logits,
        "tokens": torch.randint(0, 8, (2, 3)),
        "mask": torch.ones(2, 3, dtype=torch.bool),
        "advantages": torch.randn(2),
        "reference": torch.randn(2, 3),
        "beta": 0.0,
    }
    for detach, moves in ((False, False), (True, True)):
        (gradient,) = torch.autograd.grad(policy.grpo_logits(**given, detach_old=detach), logits)
        assert bool((gradient.abs() > 1e-6).any()) is moves


def test_clipping_is_pessimistic():
    ratio, advantage = torch.tensor([0.5, 1.5, 0.5, 1.5]), torch.tensor([1.0, 1.0, -1.0, -1.0])
    close(policy.clipped(ratio, advantage, 0.2, 0.2), torch.tensor([-0.5, -1.2, 0.8, 1.5]))


def test_experts_are_a_weighted_sum_over_choices():
    x, gate_up, down = torch.randn(5, 4), torch.randn(3, 6, 4), torch.randn(3, 4, 3)
    chosen, shares = torch.tensor([[0, 1], [2, 0], [1, 2], [0, 2], [1, 0]]), torch.rand(5, 2)
    expected = torch.zeros(5, 4)
    for token in range(5):
        for k in range(2):
            e = int(chosen[token, k])
            gate, up = (gate_up[e] @ x[token])[:3], (gate_up[e] @ x[token])[3:]
            expected[token] += shares[token, k] * (down[e] @ (gate * gate.sigmoid() * up))
    close(moe.expert_loop(x, gate_up, down, chosen, shares), expected)


def test_attention_over_depth_of_one_block_is_that_block():
    block = torch.randn(1, 2, 3, 8)
    close(attention.attention_residual(block, torch.randn(8), torch.ones(8), 1e-6), block[0])


def test_attention_over_depth_weighs_blocks_by_their_keys():
    blocks, query = torch.randn(3, 1, 1, 8), torch.randn(8)
    keys = functional.rms_norm(blocks, (8,), None, 1e-6)[:, 0, 0]
    shares = torch.softmax(keys @ query, 0)
    close(attention.attention_residual(blocks, query, torch.ones(8), 1e-6)[0, 0], shares @ blocks[:, 0, 0])


def test_the_neighbourhood_mask_by_rule():
    mask = attention.neighborhood_mask(7, 5, 2, torch.device("cpu"))
    for query in range(7):
        for key in range(7):
            assert bool(mask[query, key]) is (abs(key - query) <= 4 and (key - query) % 2 == 0)


def test_a_neighbourhood_of_everything_is_plain_attention():
    layer, x = attention.NeighborhoodAttention(8, 2, size=21, dilation=1, bias=True), torch.randn(2, 6, 8)
    q, k, v = (p(x).view(2, 6, 2, 4).transpose(1, 2) for p in (layer.q_proj, layer.k_proj, layer.v_proj))
    mixed = functional.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(2, 6, 8)
    close(layer(x), layer.out_proj(mixed))


@pytest.mark.parametrize("sparse", [False, True])
def test_multi_token_attention_under_a_unit_kernel_is_the_causal_map(sparse):
    layer = attention.MultiTokenAttention(2, 2, 3, groups=1, bias=True, sparse=sparse)
    with torch.no_grad():
        layer.weight.zero_()
        layer.weight[0, 0, 1, 1] = layer.weight[1, 1, 1, 1] = 1
        layer.bias.zero_()
    scores = torch.randn(1, 2, 5, 5)
    if sparse:
        expected = activations.causal_sparsemax(scores)[0]
    else:
        hidden = torch.ones(5, 5, dtype=torch.bool).triu(1)
        expected = scores.masked_fill(hidden, float("-inf")).softmax(-1)
    close(layer(scores), expected)


def test_rotation_turns_pairs_and_keeps_lengths():
    x = torch.randn(1, 2, 5, 8)
    cos, sin = rope.tables(torch.arange(5).unsqueeze(0), 8, 100.0, torch.float32)
    turned, _ = rope.turned(x, x, cos, sin)
    close(turned.norm(dim=-1), x.norm(dim=-1))
    for t in range(5):
        for i in range(4):
            angle = t * 100.0 ** (-2 * i / 8)
            a, b = float(x[0, 0, t, i]), float(x[0, 0, t, i + 4])
            close(float(turned[0, 0, t, i]), a * math.cos(angle) - b * math.sin(angle), atol=1e-4)


def test_three_equal_axes_are_one():
    x, positions = torch.randn(1, 2, 5, 16), torch.arange(5).expand(3, 1, 5)
    cos, sin = rope.tables(positions, 16, 100.0, torch.float32)
    close(rope.multimodal(x, x, cos, sin, [2, 3, 3])[0], rope.turned(x, x, cos[0], sin[0])[0])


def test_multimodal_sections_take_their_axis():
    table = torch.stack([torch.full((1, 1, 8), float(axis)) for axis in range(3)])
    close(rope.sectioned(table, [2, 1, 1]).flatten(), torch.tensor([0.0, 0, 1, 2, 0, 0, 1, 2]))


def test_complex_rotation_of_pairs_is_the_rotation_of_halves():
    x, positions = torch.randn(1, 5, 2, 8), torch.arange(5).unsqueeze(0)
    pairs, _ = rope.multiplied(x, x, rope.complex_table(positions, 8, 100.0))
    cos, sin = rope.tables(positions, 8, 100.0, torch.float32)
    apart = torch.cat((x[..., ::2], x[..., 1::2]), -1).transpose(1, 2)
    halves, _ = rope.turned(apart, apart, cos, sin)
    close(torch.cat((pairs[..., ::2], pairs[..., 1::2]), -1).transpose(1, 2), halves)
    close(rope.interleaved(x.transpose(1, 2), cos[0, :, :4], sin[0, :, :4]), halves)


SETTINGS = hyper.Settings(rounds=30, rms_eps=1e-6, pre_eps=0.0, sinkhorn_eps=1e-9, post_mult=2.0)


def test_mixing_weights_are_doubly_stochastic_and_the_others_bounded():
    x, phi = torch.randn(2, 3, 4, 8), torch.randn(32, 24) * 0.1
    one = torch.tensor(1.0)
    pre, post, res = hyper.coefficients(x, phi, torch.zeros(24), (one, one, one), SETTINGS)
    assert (pre.shape, post.shape, res.shape) == ((2, 3, 4), (2, 3, 4), (2, 3, 4, 4))
    close(res.sum(-1), torch.ones(2, 3, 4), atol=1e-4)
    close(res.sum(-2), torch.ones(2, 3, 4), atol=1e-4)
    logits = functional.rms_norm(x.flatten(-2), (32,), None, 1e-6) @ phi
    close(pre, logits[..., :4].sigmoid())
    close(post, 2 * logits[..., 4:8].sigmoid())


def test_streams_are_read_and_written_as_sums():
    x, out = torch.randn(3, 2, 4), torch.randn(3, 4)
    pre, post, res = torch.rand(3, 2), torch.rand(3, 2), torch.rand(3, 2, 2)
    close(hyper.read_streams(x, pre), pre[:, :1] * x[:, 0] + pre[:, 1:] * x[:, 1])
    written = hyper.write_streams(x, out, post, res)
    for o in range(2):
        mixed = res[:, o, :1] * x[:, 0] + res[:, o, 1:] * x[:, 1]
        close(written[:, o], mixed + post[:, o : o + 1] * out)


def test_the_language_model_is_causal():
    sizes = hyper_lm.Sizes(vocab=16, hidden=8, streams=2, layers=2, heads=2, mlp_factor=2, dtype=torch.float32)
    model = hyper_lm.LanguageModel(
        sizes,
        lambda layer: hyper.HyperConnection(layer, streams=2, width=8, settings=SETTINGS, dtype=torch.float32),
    )
    ids = torch.randint(0, 16, (2, 5))
    other = ids.clone()
    other[:, -1] = (ids[:, -1] + 1) % 16
    close(model(ids)[:, :-1], model(other)[:, :-1])
    assert not torch.allclose(model(ids)[:, -1], model(other)[:, -1])


@pytest.mark.parametrize("activation", ["silu", "gelu_pytorch_tanh"])
def test_tiles_give_the_mlp_and_its_gradients(activation):
    layer = mlp.GatedMLP(8, 12, activation)
    x, gradient = torch.randn(2, 6, 8, requires_grad=True), torch.randn(2, 6, 8)
    results = []
    for call in (layer, tiled.TiledMLP(layer, 4)):
        leaves = (x, *layer.parameters())
        for leaf in leaves:
            leaf.grad = None
        out = call(x)
        out.backward(gradient)
        results.append((out.detach(), *(leaf.grad.clone() for leaf in leaves)))
    for plain, in_tiles in zip(*results, strict=True):
        close(in_tiles, plain)


def test_the_gated_mlp_by_formula():
    layer, x = mlp.GatedMLP(4, 6, "silu"), torch.randn(3, 4)
    gate, up = x @ layer.gate_proj.weight.T, x @ layer.up_proj.weight.T
    close(layer(x), (gate * gate.sigmoid() * up) @ layer.down_proj.weight.T)
    with pytest.raises(ValueError, match="relu"):
        mlp.GatedMLP(4, 6, "relu")
