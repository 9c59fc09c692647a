"""One line a step, for people or as JSON, on standard error and in the home's `nightly.log`."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

from kernelindex_liger.untrusted import safe, safe_json

if TYPE_CHECKING:
    from pathlib import Path


class Log:
    """Writes lines; a full disk does not stop the job for its log's sake."""

    def __init__(self, path: Path | None, form: Literal["text", "json"] = "text", *, quiet: bool = False) -> None:
        self.path = path
        self.form = form
        self.quiet = quiet

    def line(self, night: str, step: str, outcome: str, detail: str = "", seconds: float | None = None) -> None:
        """Say what became of `step`: done, skipped, failed; of a whole night also ended."""
        moment = datetime.now(UTC).isoformat(timespec="seconds")
        taken = None if seconds is None else round(seconds, 3)
        if self.form == "json":
            fields = {
                "time": moment,
                "night": night,
                "step": step,
                "outcome": outcome,
                "seconds": taken,
                "detail": detail,
            }
            text = safe_json(json.dumps(fields, ensure_ascii=False))
        else:
            spent = "" if taken is None else f" ({taken:.1f} s)"
            text = safe(f"{moment} {night} {step}: {outcome}{spent}{f', {detail}' if detail else ''}")
        if not self.quiet or outcome == "failed":
            print(text, file=sys.stderr, flush=True)
        if self.path is not None:
            try:
                with self.path.open("a", encoding="utf-8") as file:
                    file.write(text + "\n")
            except OSError:
                print(safe(f"{self.path}: the log cannot be written"), file=sys.stderr)
