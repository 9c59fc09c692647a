"""`bench --list`: the kernels, and what deviates from upstream in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from kernelindex_liger.cli._bench_shared import print_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kernelindex_liger.bench.spec import Kernel


def list_kernels(kernels: Sequence[Kernel]) -> None:
    """Print both tables."""
    from kernelindex_liger.bench.listing import DEVIATION_HEADINGS, HEADINGS, deviation_line, deviations_of, line_of

    print_table([HEADINGS, *(line_of(kernel) for kernel in kernels)])
    found = deviations_of(kernels)
    if found:
        click.echo(
            "\nOdd in upstream and kept, or done otherwise here; `ligerimport catalog caveats` has the evidence:\n"
        )
        print_table([DEVIATION_HEADINGS, *(deviation_line(*one) for one in found)])
