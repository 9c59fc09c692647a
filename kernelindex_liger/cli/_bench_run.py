"""`bench` without --list or --plan: measure, or rehearse, and say how it went."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kernelindex_liger.cli._bench_shared import print_table, request_of, say_left_out
from kernelindex_liger.cli._shared import BAD_INPUT, BENCH_FAILED, OUTPUT_FAILED, USAGE, fail

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kernelindex_liger.bench.locks import Target
    from kernelindex_liger.bench.outcome import Outcome
    from kernelindex_liger.bench.plan import Selection
    from kernelindex_liger.bench.reach import Beyond
    from kernelindex_liger.bench.spec import Kernel
    from kernelindex_liger.bench.table import Row

RESULTS = Path("results.csv")


def run(kernels: Sequence[Kernel], selection: Selection, options: dict[str, Any]) -> None:
    """Measure, print the comparison with the baselines, and end with the exit status."""
    from kernelindex_liger.bench import requirements
    from kernelindex_liger.bench.plan import left_out
    from kernelindex_liger.bench.planning import EXPECTED_GIB
    from kernelindex_liger.bench.reach import beyond

    missing = requirements.missing_extra()
    if missing:
        fail(f"bench needs {', '.join(missing)}: {requirements.INSTALL}", BENCH_FAILED)
    out_of_reach = beyond(kernels, selection, request_of(options, EXPECTED_GIB))
    say_left_out(left_out(kernels, selection), out_of_reach)
    outcome, rows = _measure(kernels, selection, options)
    if not options["rehearse"]:
        _print_summary(rows, {kernel.name: kernel.baseline for kernel in kernels})
    click.echo(f"{options['output'] or RESULTS}: {_words(outcome, out_of_reach)}", err=True)
    if not (outcome.done or outcome.failed or outcome.present or outcome.fatal):
        fail("nothing to run: no series is left by these options and this installation", USAGE)
    if outcome.unwritable:
        raise SystemExit(OUTPUT_FAILED)
    if outcome.failed or outcome.fatal or outcome.interrupted:
        raise SystemExit(BENCH_FAILED)


def _measure(kernels: Sequence[Kernel], selection: Selection, options: dict[str, Any]) -> tuple[Outcome, list[Row]]:
    """What came of it, and the CSV's rows."""
    import signal

    from kernelindex_liger.bench import table
    from kernelindex_liger.bench.progress import progress
    from kernelindex_liger.bench.results import Results
    from kernelindex_liger.bench.runner import Runner

    targets, run_options = _targets(options), _run_options(options)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    path: Path = options["output"] or RESULTS
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        results = Results(path, overwrite=options["overwrite"])
        with progress() as observer:
            make_request = lambda gib: request_of(options, gib)  # noqa: E731 - one argument is bound, the other not
            runner = Runner(kernels, selection, make_request, results, run_options, observer)
            return runner.run(targets), table.read(path)
    except table.BadTableError as error:
        fail(str(error), BAD_INPUT)
    except OSError as error:
        fail(f"{error.filename or path}: {error.strerror}", OUTPUT_FAILED)


def _targets(options: dict[str, Any]) -> list[Target]:
    from kernelindex_liger.bench.cases import REHEARSAL_ENVIRONMENT
    from kernelindex_liger.bench.locks import Target, cuda_target

    if options["rehearse"]:
        return [Target("cpu", REHEARSAL_ENVIRONMENT)]
    try:
        return [cuda_target(label.strip()) for label in options["devices"].split(",")]
    except ValueError as error:
        raise click.UsageError(f"--device: {error}") from error


def _run_options(options: dict[str, Any]) -> Any:
    from kernelindex_liger.bench.cases import CUDA, REHEARSAL, Options

    return Options(
        **{name: options[name] for name in ("timeout", "rep", "warmup", "skip_failed", "rehearse")},
        backend=REHEARSAL if options["rehearse"] else CUDA,
        environment={"LIGER_KERNEL_IMPL": "" if options["impl"] == "default" else options["impl"]},
    )


def _words(outcome: Outcome, out_of_reach: Sequence[Beyond]) -> str:
    said = [f"{outcome.done} measured", f"{outcome.failed} failed"]
    if outcome.present:
        said.append(f"{outcome.present} were there already (--overwrite measures them again)")
    if out_of_reach:
        said.append(f"{sum(one.cases for one in out_of_reach)} not measured (they need several GPUs at once)")
    if outcome.interrupted:
        said.append("interrupted: the same command goes on from here")
    return ", ".join(said)


def _print_summary(rows: Sequence[Row], baselines: Mapping[str, str]) -> None:
    from kernelindex_liger.bench.summary import HEADINGS, against_baselines, cells

    lines = [cells(line) for line in against_baselines(rows, baselines)]
    if lines:
        print_table([HEADINGS, *lines], "providers against their baselines", stderr=True)
