"""Fuzz targets one after the other, guided by coverage (atheris). usage: python -m tests.fuzz.run [-h]

What is found stands in `.fuzz/`: `.fuzz/<target>/` grows from run to run, `.fuzz/crash-…` is what went wrong.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

# nothing of the package may be imported here: it is instrumented when it is imported first
ROOT = Path(__file__).resolve().parents[2]
CORPUS = Path(__file__).parent / "corpus"
WORK = ROOT / ".fuzz"
NAMES = (
    "reader", "gzip", "table", "binder", "catalogue", "expression", "sidecar", "part", "values", "files", "documents",
    "shown",
)  # fmt: skip


def main() -> int:
    """Fuzz what the command line names; 1 if anything was found."""
    parser = argparse.ArgumentParser(prog="scripts/fuzz", description="Fuzz the readers of what others wrote.")
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"one of {', '.join(NAMES)} [default: all]")
    parser.add_argument("--minutes", type=float, default=10.0, help="for all targets together [default: 10]")
    parser.add_argument(
        "--minimise",
        action="store_true",
        help="fuzz nothing; put the fewest known inputs that reach as much in .fuzz/minimal/",
    )
    options = parser.parse_args()
    if unknown := sorted(set(options.targets) - set(NAMES)):
        parser.error(f"no target {', '.join(unknown)}")
    names = options.targets or NAMES
    if options.minimise:
        failed = [name for name in names if not _minimised(name)]
        return 1 if failed else 0
    found = [name for name in names if not _fuzzed(name, options.minutes * 60 / len(names))]
    for path in sorted(WORK.glob("crash-*")) if found else ():
        print(f"found: {path.relative_to(ROOT)}; mend it and move it to {CORPUS.relative_to(ROOT)}/", file=sys.stderr)
    return 1 if found else 0


def _fuzzed(name: str, seconds: float) -> bool:
    """Fuzz one target in a process of its own; whether it came through."""
    print(f"{name}: {seconds:.0f} s", file=sys.stderr, flush=True)
    limits = (f"-max_total_time={round(seconds)}", "-print_final_stats=1", "-use_value_profile=1")
    return _run(name, *limits, WORK / name, CORPUS / name)


def _minimised(name: str) -> bool:
    folder = WORK / "minimal" / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return _run(name, "-set_cover_merge=1", folder, CORPUS / name, WORK / name)


def _run(name: str, *arguments: str | Path) -> bool:
    for folder in (WORK / name, CORPUS / name):
        folder.mkdir(parents=True, exist_ok=True)
    # a program of its own, because libFuzzer starts itself again when it compares inputs
    program = WORK / f"run-{name}"
    call = f"import sys; from tests.fuzz.run import fuzz; fuzz({name!r}, {str(program)!r}, sys.argv[1:])"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -c {shlex.quote(call)} "$@"\n')
    program.chmod(0o755)
    memory = Path("/dev/shm")
    # libFuzzer ends without tidying up
    with tempfile.TemporaryDirectory(prefix="fuzz-", dir=memory if memory.is_dir() else None) as scratch:
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": scratch}
        return subprocess.run([program, *arguments], cwd=ROOT, check=False, env=environment).returncode == 0


def fuzz(name: str, program: str, arguments: list[str]) -> None:
    """Run libFuzzer on a target; it ends the process."""
    import atheris

    with atheris.instrument_imports(include=["kernelindex_liger"]):
        from tests.fuzz.targets import TARGETS
    from tests.fuzz.test_corpus import PIECES

    target, seeds = TARGETS[name]
    for number, seed in enumerate(seeds):
        (WORK / name / f"seed-{number}").write_bytes(seed)
    words = WORK / "words.dict"
    quoted = ("".join(f"\\x{one:02x}" for one in piece) for piece in PIECES if piece)
    words.write_text("".join(f'"{one}"\n' for one in quoted))
    atheris.Setup(
        [
            program, f"-dict={words}", f"-artifact_prefix={WORK}/crash-{name}-", "-max_len=20000", "-timeout=60",
            "-rss_limit_mb=3000", *arguments,
        ],
        target,
    )  # fmt: skip
    atheris.Fuzz()


if __name__ == "__main__":
    sys.exit(main())
