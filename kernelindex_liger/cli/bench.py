"""`ligerimport bench`: run Liger's benchmarks, list them, plan them, rehearse them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kernelindex_liger.bench.plan import Selection
    from kernelindex_liger.bench.spec import Kernel

FAILED, BAD_INPUT, CANNOT_WRITE = 4, 3, 6


@click.command(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option("-k", "--kernel", "kernels", multiple=True, metavar="NAME", help="Kernel, glob or `all`. Repeatable.")
@click.option("--list", "listing", is_flag=True, help="List kernels and what is missing to run them.")
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
    from kernelindex_liger.bench import registry

    kernels = options["kernels"] or (("all",) if options["listing"] else ())
    if not kernels:
        raise click.UsageError("name a kernel with --kernel (`--kernel all` runs all, `--list` shows them)")
    try:
        names = registry.matching(kernels)
    except LookupError as error:
        raise click.UsageError(f"no kernel matches {error}; `--list` shows them") from error
    chosen = [registry.kernel(name) for name in names]
    if options["listing"]:
        return _list(chosen)
    selection = _selection(chosen, options)
    if options["plan"]:
        return _plan(chosen, selection, options)
    return _run(chosen, selection, options)


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


def _list(kernels: Sequence[Kernel]) -> None:
    from kernelindex_liger.bench.listing import HEADINGS, line_of
    from kernelindex_liger.bench.summary import plain

    rows = [HEADINGS, *(line_of(kernel) for kernel in kernels)]
    if not sys.stdout.isatty():
        click.echo(plain(rows))
        return
    _table("", rows, stderr=False)


def _table(title: str, rows: Sequence[Sequence[str]], *, stderr: bool = True) -> None:
    """A table for a person on a terminal."""
    from rich.console import Console
    from rich.table import Table

    shown = Table(*rows[0], title=title or None)
    for row in rows[1:]:
        shown.add_row(*row)
    Console(stderr=stderr).print(shown)


def _plan(kernels: Sequence[Kernel], selection: Selection, options: dict[str, Any]) -> None:
    import csv

    from kernelindex_liger.bench import table
    from kernelindex_liger.bench.device import described
    from kernelindex_liger.bench.models import MODELS
    from kernelindex_liger.bench.plan import left_out, series_of
    from kernelindex_liger.bench.requirements import version
    from kernelindex_liger.bench.spec import Request
    from kernelindex_liger.files import OutputError

    output: Path | None = options["output"]
    if output and output.exists() and not options["overwrite"]:
        raise click.UsageError(f"{output} is there; a plan would replace it: choose another -o, or --overwrite")
    name, found_gib = described(options["devices"].split(",")[0])
    gib = options["gpu_memory"] or found_gib
    request = Request(model=MODELS[options["model"]], bt=options["bt"], total_gib=gib)
    rows = [
        row
        for kernel in kernels
        for series in series_of(kernel, selection, request)
        for row in table.rows_of(series, gpu=name, liger_version=version("liger-kernel") or "")
    ]
    _say_left_out(left_out(kernels, selection))
    click.echo(f"{len(rows)} rows, planned for {gib} GiB with estimates of memory", err=True)
    if output is None:
        from kernelindex_liger.documents.upstream import COLUMNS

        writer = csv.DictWriter(sys.stdout, fieldnames=COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
        return
    try:
        table.write(output, rows)
    except OutputError as error:
        _fail(str(error), CANNOT_WRITE)


def _run(kernels: Sequence[Kernel], selection: Selection, options: dict[str, Any]) -> None:
    from kernelindex_liger.bench import requirements
    from kernelindex_liger.bench.plan import left_out

    missing = requirements.missing_extra()
    if missing:
        _fail(f"bench needs {', '.join(missing)}: {requirements.INSTALL}", FAILED)
    _say_left_out(left_out(kernels, selection))
    outcome, rows = _measure(kernels, selection, options)
    baselines = {kernel.name: kernel.baseline for kernel in kernels}
    if not options["rehearse"]:
        _say_summary(rows, baselines)
    said = [f"{outcome.done} measured", f"{outcome.failed} failed"]
    if outcome.present:
        said.append(f"{outcome.present} were there already (--overwrite measures them again)")
    if outcome.interrupted:
        said.append("interrupted: the same command goes on from here")
    click.echo(f"{options['output'] or 'results.csv'}: {', '.join(said)}", err=True)
    if not outcome.done and not outcome.failed and not outcome.present and not outcome.fatal:
        _fail("nothing to run: no series is left by these options and this installation", 2)
    if outcome.unwritable:
        raise SystemExit(CANNOT_WRITE)
    if outcome.failed or outcome.fatal or outcome.interrupted:
        raise SystemExit(FAILED)


def _measure(kernels: Sequence[Kernel], selection: Selection, options: dict[str, Any]) -> Any:
    """Run; (outcome, the CSV's rows)."""
    import signal

    from kernelindex_liger.bench import table
    from kernelindex_liger.bench.cases import REHEARSAL, REHEARSAL_ENVIRONMENT, Options
    from kernelindex_liger.bench.locks import Target, cuda_target
    from kernelindex_liger.bench.models import MODELS
    from kernelindex_liger.bench.progress import progress
    from kernelindex_liger.bench.runner import Runner, output_of
    from kernelindex_liger.bench.spec import Request

    def request(total_gib: int) -> Request:
        return Request(model=MODELS[options["model"]], bt=options["bt"], total_gib=total_gib)

    impl = "" if options["impl"] == "default" else options["impl"]
    run = {name: options[name] for name in ("timeout", "rep", "warmup", "skip_failed", "rehearse")}
    try:
        if options["rehearse"]:
            targets = [Target("cpu", REHEARSAL_ENVIRONMENT)]
            run["backend"] = REHEARSAL
        else:
            targets = [cuda_target(label.strip()) for label in options["devices"].split(",")]
    except ValueError as error:
        raise click.UsageError(f"--device: {error}") from error
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        results = output_of(options["output"] or Path("results.csv"), overwrite=options["overwrite"])
        with progress() as observer:
            runner = Runner(
                kernels,
                selection,
                request,
                results,
                Options(**run, environment={"LIGER_KERNEL_IMPL": impl}),
                observer,
            )
            outcome = runner.run(targets)
        return outcome, table.read(results.path)
    except table.BadTableError as error:
        _fail(str(error), BAD_INPUT)
    except OSError as error:
        _fail(f"{error.filename or options['output']}: {error.strerror}", CANNOT_WRITE)


def _say_left_out(left: Sequence[Any]) -> None:
    for provider in left:
        click.echo(f"{provider.kernel}: without {provider.provider}: {'; '.join(provider.reasons)}", err=True)


def _say_summary(rows: Sequence[Any], baselines: dict[str, str]) -> None:
    from kernelindex_liger.bench.summary import HEADINGS, against_baselines, cells, plain

    lines = [cells(line) for line in against_baselines(rows, baselines)]
    if not lines:
        return
    if sys.stderr.isatty():
        _table("providers against their baselines", [HEADINGS, *lines])
    else:
        click.echo(plain([HEADINGS, *lines]), err=True)


def _fail(message: str, status: int) -> None:
    """Say what is wrong and end with the status."""
    click.echo(f"Error: {message}", err=True)
    raise SystemExit(status)
