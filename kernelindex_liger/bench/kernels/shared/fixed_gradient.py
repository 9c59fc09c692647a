"""Measuring code that several scripts carry: one gradient drawn once, and a call before the timing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernelindex_liger.bench.spec import Step

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


def steps(
    forward: Callable[[], Any],
    gradient: Any,
    reset: Sequence[Any],
) -> Mapping[str, Callable[[], Step]]:
    """forward, backward and full against a fixed gradient of the output, the graph retained each time."""

    def full() -> None:
        forward().backward(gradient, retain_graph=True)

    def make_forward() -> Step:
        forward()
        return Step(call=forward, reset=reset)

    def make_backward() -> Step:
        full()
        out = forward()
        return Step(call=lambda: out.backward(gradient, retain_graph=True), reset=reset)

    def make_full() -> Step:
        full()
        return Step(call=full, reset=reset)

    return {"forward": make_forward, "backward": make_backward, "full": make_full}


def scalar_steps(
    forward: Callable[[], Any], loss: Callable[[], Any], reset: Sequence[Any]
) -> Mapping[str, Callable[[], Step]]:
    """Forward as it is; backward of a scalar built once (graph retained); full builds it anew each time."""

    def full() -> None:
        loss().backward()

    def make_backward() -> Step:
        scalar = loss()
        return Step(call=lambda: scalar.backward(retain_graph=True), reset=reset)

    return {
        "forward": lambda: Step(call=forward, reset=reset),
        "backward": make_backward,
        "full": lambda: Step(call=full, reset=reset),
    }


def summed_steps(
    forward: Callable[[], Any],
    x: Any,
    *,
    clear: Sequence[str],
) -> Mapping[str, Callable[[], Step]]:
    """The Megatron scripts': backward and full both run forward, sum and backward.

    x's gradient is dropped inside the timed call of the passes in `clear`.
    """

    def call(pass_name: str) -> Callable[[], None]:
        def plain() -> None:
            forward().sum().backward()

        def cleared() -> None:
            x.grad = None
            plain()

        return cleared if pass_name in clear else plain

    return {
        "forward": lambda: Step(call=forward),
        "backward": lambda: Step(call=call("backward")),
        "full": lambda: Step(call=call("full")),
    }
