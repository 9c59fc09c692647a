"""`ligerimport bench`: run Liger's benchmarks, list them, plan them, rehearse them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kernelindex_liger.bench.plan import Selection
    from kernelindex_liger.bench.spec import Kernel


@click.command(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option("-k", "--kernel", "kernels", multiple=True, metavar="NAME", help="Kernel, glob or `all`. Repeatable.")
@click.option(
    "--list",
    "listing",
    is_flag=True,
    help="List kernels, what is missing to run them, and what deviates from upstream.",
)
@click.option("--plan", is_flag=True, help="Write the rows that would be measured, values empty, and stop.")
@click.option("--rehearse", is_flag=True, help="Run every case once on the CPU and compare with the reference.")
@click.option("--provider", "providers", multiple=True, metavar="NAME", help="Only these providers (globs).")
@click.option("--pass", "passes", multiple=True, metavar="NAME", help="Only these passes.")
@click.option("--metric", "metrics", multiple=True, type=click.Choice(["speed", "memory"]), help="Only this metric.")
@click.option(
    "--sweep",
    "sweeps",
    multiple=True,
    default=("token_length",),
    show_default=True,
    metavar="NAME",
    help="token_length, model_config, or a kernel's own (see --list).",
)
@click.option("--model", default="llama_3_8b", show_default=True, help="Model profile of a token_length sweep.")
@click.option("--bt", type=click.IntRange(1), default=2048, show_default=True, help="Tokens of a model_config sweep.")
@click.option("--x", "x_values", multiple=True, metavar="X", help="Only these x values.")
@click.option("--quick", is_flag=True, help="Only the first and the last x of each series.")
@click.option(
    "--impl",
    type=click.Choice(["default", "cutile", "cutedsl"]),
    default="default",
    show_default=True,
    help="liger-kernel's backend; its providers are named after it.",
)
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="CSV [results.csv].")
@click.option("--overwrite", is_flag=True, help="Measure again what the CSV has, and replace it.")
@click.option("--skip-failed", is_flag=True, help="Do not try again what the last run failed at.")
@click.option("--device", "devices", default="0", show_default=True, metavar="0,1,...", help="GPUs to spread over.")
@click.option(
    "--timeout",
    type=click.FloatRange(1),
    default=600.0,
    show_default=True,
    help="Seconds that a case may take.",
)
@click.option("--rep", type=click.IntRange(1), help="do_bench's window in ms [upstream's: 10 or 100].")
@click.option("--warmup", type=click.IntRange(0), help="do_bench's warm-up in ms [25].")
@click.option(
    "--gpu-memory",
    type=click.IntRange(1),
    metavar="GIB",
    help="--plan: memory to plan for [the GPU's, or 80].",
)
@click.option("--all-providers", is_flag=True, help="--plan: also what is not installed.")
def command(**options: Any) -> None:
    """Run Liger's benchmarks and write the CSV that upstream's scripts would write.

    Finished series are in the CSV at once; running the same command again measures only what is missing. What
    the CSV cannot say (driver, versions, clocks, failures) goes to NAME.meta.jsonl beside it.
    """
    kernels = options["kernels"] or (("all",) if options["listing"] else ())
    if not kernels:
        raise click.UsageError("name a kernel with --kernel (`--kernel all` runs all, `--list` shows them)")
    chosen = _kernels(kernels)
    if options["listing"]:
        from kernelindex_liger.cli._bench_list import list_kernels

        return list_kernels(chosen)
    selection = _selection(chosen, options)
    if options["plan"]:
        from kernelindex_liger.cli._bench_plan import plan

        return plan(chosen, selection, options)
    from kernelindex_liger.cli._bench_run import run

    return run(chosen, selection, options)


def _kernels(patterns: Sequence[str]) -> list[Kernel]:
    """The kernels that are asked for. Raises UsageError for a pattern that none fits."""
    from kernelindex_liger.bench import registry

    try:
        return [registry.kernel(name) for name in registry.matching(patterns)]
    except LookupError as error:
        raise click.UsageError(f"no kernel matches {error}; `--list` shows them") from error


def _selection(kernels: Sequence[Kernel], options: dict[str, Any]) -> Selection:
    """The options as a selection. Raises UsageError for names that no chosen kernel has."""
    from kernelindex_liger.bench.models import MODELS
    from kernelindex_liger.bench.plan import Selection

    def known(option: str, asked: Sequence[str], names: set[str]) -> None:
        for name in asked:
            if name not in names:
                raise click.UsageError(f"{option} {name}: choose from {', '.join(sorted(names))}")

    known("--model", (options["model"],), set(MODELS))
    known("--sweep", options["sweeps"], {n for k in kernels for s in k.sweeps for n in s.answers})
    known("--pass", options["passes"], {p for k in kernels for p in (*k.speed, *k.memory)})
    names = ("sweeps", "providers", "passes", "metrics", "x_values", "quick", "impl", "all_providers")
    return Selection(**{name: options[name] for name in names})
