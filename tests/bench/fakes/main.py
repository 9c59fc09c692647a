"""A run of fake kernels as a process of its own, so that a test can kill it: OUT LOCK KERNEL..."""

import sys
from pathlib import Path

from kernelindex_liger.bench.cases import Options
from kernelindex_liger.bench.locks import Target
from kernelindex_liger.bench.models import MODELS
from kernelindex_liger.bench.plan import Selection
from kernelindex_liger.bench.progress import PlainProgress
from kernelindex_liger.bench.registry import kernel
from kernelindex_liger.bench.results import Results
from kernelindex_liger.bench.runner import Runner
from kernelindex_liger.bench.spec import Request

BACKEND, TABLE = "fakes.device:FakeBackend", "fakes"


def runner(out: Path, names, observer=None, selection=None, overwrite=False, **options) -> Runner:
    return Runner(
        [kernel(name, TABLE) for name in names],
        selection or Selection(),
        lambda gib: Request(model=MODELS["llama_3_8b"], bt=2048, total_gib=gib),
        Results(out, overwrite=overwrite),
        Options(backend=BACKEND, table=TABLE, **options),
        observer or PlainProgress(),
    )


if __name__ == "__main__":
    out, lock, *names = sys.argv[1:]
    outcome = runner(Path(out), names).run([Target("0", {}, lock)])
    print(outcome, file=sys.stderr)
    raise SystemExit(1 if outcome.interrupted else 0)
