"""The steps of a night. Each does its work again from the start if it was interrupted, and says what it found."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kernelindex_liger.files import refusal, write_text
from kernelindex_liger.history.errors import BadInputError, HistoryError
from kernelindex_liger.nightly import benchmark

if TYPE_CHECKING:
    from pathlib import Path

    from kernelindex_liger.history.judgement import RunJudgement
    from kernelindex_liger.history.store import History
    from kernelindex_liger.history.thresholds import Thresholds
    from kernelindex_liger.nightly.night import Night
    from kernelindex_liger.nightly.settings import Settings
    from kernelindex_liger.nightly.source import Source

NOTHING = 5
"""Status of a night with nothing to judge."""

REHEARSED = "the benchmark was a rehearsal on the CPU, which measures nothing"
"""Why a night has no runs."""

INPUT = "input"
"""The folder in a night that holds its CSVs."""


class NothingNewError(Exception):
    """The source has nothing that the history does not have."""


class BenchFailedError(HistoryError):
    """The benchmark gave no row."""

    status = benchmark.FAILED


@dataclass(frozen=True)
class Job:
    """One night at work."""

    home: Path
    night: Night
    settings: Settings
    source: Source | None
    """Where the CSV comes from; None runs the benchmark."""
    seen: str | None
    """Identity of what the last complete night took from this source."""

    @property
    def input(self) -> Path:
        """The night's CSVs."""
        return self.night.folder / INPUT

    @property
    def labels(self) -> list[str]:
        """Labels to judge, the newest first: all that the night added, but only the newest of a history's first night.

        A source that was not asked for some weeks gives several at once, each of which may say that a kernel vanished.
        """
        found = self.night.done("history") or {}
        labels = list(reversed(found.get("labels", [])))
        return labels[:1] if found.get("began") else labels


def measure(job: Job) -> dict[str, Any]:
    """Run the benchmark, or bring the CSV. Raises `NothingNewError` when the source has not changed."""
    if job.source is None:
        return _bench(job)
    if job.input.exists():
        shutil.rmtree(job.input)
    fetched = job.source.fetch(job.input, job.seen)
    if fetched.identity == job.seen:
        raise NothingNewError(f"nothing new at the source ({fetched.identity[:19]})")
    return {"identity": fetched.identity, "label": fetched.label, "status": 0}


def _bench(job: Job) -> dict[str, Any]:
    """`ligerimport bench` as a process of its own; it goes on where an earlier try left off."""
    results = job.input / "results.csv"
    job.input.mkdir(parents=True, exist_ok=True)
    command = [*benchmark.COMMAND, *job.settings.bench.arguments, "-o", str(results)]
    try:
        with (job.night.folder / "bench.log").open("ab") as log:
            status = benchmark.run(command, log, job.settings.bench.hours)
    except OSError as error:
        raise refusal(job.night.folder, error) from error
    if not results.exists():
        raise BenchFailedError(
            f"the benchmark measured nothing (status {status}); see {job.night.folder / 'bench.log'}"
        )
    return {"identity": None, "label": job.night.name, "status": benchmark.FAILED if status else 0}


def import_(job: Job) -> dict[str, Any]:
    """Documents of the night's CSVs, in `out/`."""
    from kernelindex_liger.conversion import InputError, Options, convert

    chosen = job.settings.import_
    options = Options(format=chosen.format, edition=chosen.edition, memory=True, catalog=chosen.catalog)
    try:
        report = convert([job.input], job.night.folder / "out", options)
    except InputError as error:
        raise BadInputError(str(error)) from error
    reasons = report.skipped_by_reason
    rehearsed = job.source is None and report.bundles == 0 and set(reasons) == {"rehearsal"}
    found = {"bundles": report.bundles, "skipped": report.skipped_rows, "bad": report.bad_input and not rehearsed}
    return found | ({"rehearsed": True} if rehearsed else {})


def history(job: Job) -> dict[str, Any]:
    """Add the night's runs; a rehearsal has none. Raises `NothingNewError` when the history has all of them."""
    from kernelindex_liger.history.feed import feed
    from kernelindex_liger.history.store import History

    if (job.night.done("import") or {}).get("rehearsed"):
        return {"labels": [], "rows": 0, "known": 0}
    kept = History(job.home / "history")
    found = job.night.done("measure") or {}
    folders = any(path.is_dir() for path in job.input.iterdir())
    label = None if folders else found.get("label") or job.night.name
    before = job.night.state.get("before")
    if before is None:
        # Noted ahead of adding: a job killed in between still knows which runs are this night's.
        before = job.night.state["before"] = sorted({run.label for run in kept.runs()})
        job.night.save()
    added = feed(kept, [job.input], label, catalog=job.settings.import_.catalog)
    named = {one.label for one in added if one.new or one.label not in before}
    if not named and job.night.state["tries"]["history"] > 1:
        named = {one.label for one in added}
    labels = list(dict.fromkeys(run.label for run in kept.runs() if run.label in named))
    if not labels:
        raise NothingNewError("the history has every row of it already")
    return {
        "labels": labels,
        "began": not before,
        "rows": sum(one.new for one in added),
        "known": sum(one.known for one in added),
    }


def judge(job: Job) -> dict[str, Any]:
    """The judgement of the night's runs, as JSON."""
    from kernelindex_liger.history.judgement import exit_status
    from kernelindex_liger.report import json_

    judgements = _judgements(job)
    write_text(job.night.folder / "judgement.json", json_.render(judgements, _note(job)))
    slower = sum(judgement.confirmed_slower.height for judgement in judgements)
    judged = sum(judgement.judged for judgement in judgements)
    return {"labels": job.labels, "status": exit_status(judgements), "judged": judged, "confirmed slower": slower}


def report(job: Job) -> dict[str, Any]:
    """The judgement as text and Markdown, and the page."""
    from kernelindex_liger.report import markdown, text

    judgements = _judgements(job)
    write_text(job.night.folder / "report.txt", text.render(judgements, _note(job)))
    write_text(job.night.folder / "report.md", markdown.render(judgements, _note(job)))
    if not job.settings.html:
        return {"html": "switched off"}
    if not job.labels:
        return {"html": "skipped: nothing was measured"}
    from kernelindex_liger.report import charts, html, sheets

    found = sheets.of_labels(_history(job), _limits(job), job.labels)
    try:
        page = html.render(found, f"Liger kernel benchmarks, night {job.night.name}")
    except charts.MissingExtraError as error:
        return {"html": f"skipped: {error}"}
    write_text(job.night.folder / "report.html", page)
    return {"html": "written"}


def _judgements(job: Job) -> list[RunJudgement]:
    from kernelindex_liger.history.judge import judge_each

    return judge_each(_history(job), _limits(job), job.labels) if job.labels else []


def _note(job: Job) -> str | None:
    return None if job.labels else REHEARSED


def _history(job: Job) -> History:
    from kernelindex_liger.history.store import History

    return History(job.home / "history")


def _limits(job: Job) -> Thresholds:
    from kernelindex_liger.history import thresholds

    chosen = job.settings.judge
    if chosen.thresholds is not None:
        return thresholds.load(chosen.thresholds)
    return thresholds.preset(chosen.preset or "default")


def status(night: Night) -> int:
    """The night's exit status, from what its steps found.

    1 when something is confirmed slower, whatever else happened; then 4 when the benchmark failed in part, 3 when a
    CSV was bad in part, 5 when nothing could be judged, else 0.
    """
    judged = (night.done("judge") or {}).get("status", NOTHING)
    if judged == 1:
        return 1
    if (night.done("measure") or {}).get("status"):
        return benchmark.FAILED
    if (night.done("import") or {}).get("bad"):
        return BadInputError.status
    return int(judged)
