"""The nightly job: one lock, the steps in their order, a line each, and a status at the end."""

from __future__ import annotations

import shutil
import time
from typing import TYPE_CHECKING, Any

from kernelindex_liger.files import OutputError, refusal, unlinked
from kernelindex_liger.history.errors import BadInputError, HistoryError
from kernelindex_liger.nightly import retention, steps
from kernelindex_liger.nightly.night import Night, all_nights, take_up
from kernelindex_liger.nightly.source import parse

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from kernelindex_liger.nightly.log import Log
    from kernelindex_liger.nightly.settings import Settings

STEPS = {"measure": "measure", "import": "import_", "history": "history", "judge": "judge", "report": "report"}
"""Steps and their functions in `steps`, in the order in which they are done; `latest` and retention follow."""


def run(home: Path, settings: Settings, log: Log, csv: str | None = None) -> int:
    """Do a night, or what is left of one, and return its exit status.

    `csv` names a source instead of the settings' own. Raises `OutputError` when another job is at work in `home`
    or `home` cannot be written.
    """
    import filelock

    try:
        home.mkdir(parents=True, exist_ok=True)
        unlinked(home / "nights")
        with filelock.FileLock(unlinked(home / ".lock"), timeout=0):
            return _night(home, settings, log, csv or settings.csv.source)
    except filelock.Timeout as error:
        raise OutputError(f"{home}: another nightly job is at work; nothing was done") from error
    except OSError as error:
        raise refusal(home, error) from error


def _night(home: Path, settings: Settings, log: Log, csv: str | None) -> int:
    kind = csv or "bench"
    source = None if csv is None else parse(csv, settings.csv, home)
    _mend(home)
    seen = _seen(home, kind)
    night, old = take_up(home, kind, labels=_labels(home))
    log.line(night.name, "lock", "done", "taking up an unfinished night" if old else f"{kind} begins")
    job = steps.Job(home, night, settings, source, seen)
    for name, function in STEPS.items():
        if night.done(name) is not None:
            log.line(night.name, name, "skipped", "done before")
            continue
        outcome = _step(job, name, getattr(steps, function), log)
        if outcome is not None:
            log.line(night.name, "night", "ended", f"exit status {outcome}, after {name}")
            return outcome
    status = steps.status(night)
    if not night.complete:
        night.close(status)
    if night.measured:
        retention.publish(home, night)
        log.line(night.name, "latest", "done", "points at this night")
    else:
        log.line(night.name, "latest", "skipped", "nothing was measured")
    gone = retention.tidy(home, settings.keep, night.name)
    log.line(night.name, "retention", "done", f"{len(gone)} nights removed")
    log.line(night.name, "night", "done", f"exit status {status}")
    return status


def _step(job: steps.Job, name: str, step: Callable[[steps.Job], dict[str, Any]], log: Log) -> int | None:
    """Do one step; a status when the night ends here."""
    started = time.monotonic()
    tries = job.night.state.setdefault("tries", {})
    tries[name] = tries.get(name, 0) + 1
    job.night.save()
    try:
        found = step(job)
    except steps.NothingNewError as nothing:
        log.line(job.night.name, name, "skipped", str(nothing), time.monotonic() - started)
        _forget(job.night)
        return steps.NOTHING
    except (HistoryError, OutputError) as error:
        log.line(job.night.name, name, "failed", str(error), time.monotonic() - started)
        if error.status == BadInputError.status:
            # The next try asks the source again: what it gave this time will not get better.
            job.night.state["steps"] = {}
            job.night.save()
        return error.status
    job.night.finish(name, found)
    shown = ", ".join(f"{key} {value}" for key, value in found.items() if value is not None)
    log.line(job.night.name, name, "done", shown, time.monotonic() - started)
    return None


def _labels(home: Path) -> frozenset[str]:
    from kernelindex_liger.history.store import History

    return frozenset(run.label for run in History(home / "history").runs())


def _mend(home: Path) -> None:
    """Point `latest` at the newest complete night with runs, should a job have been killed just before it did so."""
    measured = [night for night in all_nights(home) if night.measured]
    latest = home / "latest"
    if measured and not (latest.is_symlink() and latest.readlink().name == measured[-1].name):
        retention.publish(home, measured[-1])


def _seen(home: Path, kind: str) -> str | None:
    """What the last complete night took from this source."""
    for night in reversed(list(all_nights(home))):
        if night.complete and night.state["kind"] == kind:
            identity = (night.done("measure") or {}).get("identity")
            return identity if isinstance(identity, str) else None
    return None


def _forget(night: Night) -> None:
    """A night with nothing new leaves no folder."""
    shutil.rmtree(night.folder, ignore_errors=True)
