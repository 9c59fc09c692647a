"""Documents of what was recorded: environments that name their software, protocols that name their window.

Both start from the document that the catalogue gives for rows of a CSV alone, and are others, with other digests.
"""

from __future__ import annotations

from collections.abc import Callable

from kernelindex_liger.catalog import Catalog
from kernelindex_liger.conversion.combine import Combination
from kernelindex_liger.conversion.link import Linker
from kernelindex_liger.conversion.linked import Linked, linked
from kernelindex_liger.conversion.recorded import HARNESS, Facts, facts_of
from kernelindex_liger.documents import BenchmarkProtocol, ExecutionEnvironment, Metadata, sidecar

TIMERS = {
    "triton.testing.do_bench": "cuda_events",
    "event_loop": "cuda_event_loop",
    "peak_allocation": "peak_memory_allocation",
}
"""The timer of the catalogue's protocols that a recorded way of measuring is."""

UNRECORDED = (
    "The upstream CSV records no CUDA, driver, or torch version; the Liger release rides each run's labels.",
    "Versions of torch, CUDA and driver are not recorded.",
    "Versions of torch, CUDA, NCCL and driver are not recorded.",
)
"""Sentences of the catalogue's notes that hold for a CSV alone."""

NOTES_LENGTH = 1000
TITLE_LENGTH = 200


class Recorder:
    """Combinations with the facts of their series; asking twice gives the same object."""

    def __init__(self, catalog: Catalog, linker: Linker) -> None:
        self.facts: list[Facts] = []
        self._catalog = catalog
        self._linker = linker
        self._numbers: dict[str, int] = {}
        self._timers: dict[int, str] = {}
        self._documents: dict[tuple[int, int], Linked] = {}

    def number(self, meta: sidecar.SeriesMeta) -> int:
        """The index of a line's facts in `facts`, the same for equal ones.

        Raises:
            ValueError: as `facts_of`.
        """
        facts = facts_of(meta)
        known = self._numbers.setdefault(repr(facts), len(self.facts))
        if known == len(self.facts):
            self.facts.append(facts)
        return known

    def apply(self, combination: Combination, number: int) -> Combination | None:
        """The combination as the facts tell it; None where it was measured in a way that it cannot have been."""
        base = self._protocol(combination, TIMERS.get(self.facts[number].harness))
        if base is None:
            return None
        return combination._replace(
            protocol=self._once(base, number, protocol),
            environment=self._once(combination.environment, number, environment),
        )

    def _protocol(self, combination: Combination, timer: str | None) -> Linked | None:
        """The combination's protocol, if it has that timer, or else the one of a correction that the catalogue knows.

        The published reading takes some rows for what they are not; what was recorded says which is right.
        """
        if self._timer(combination.protocol) == timer:
            return combination.protocol
        kernel, pass_ = combination.reading.kernel.name, combination.shared.pass_
        for correction in self._catalog.corrections:
            about = correction.match.kernel or ()
            found = self._catalog.protocols.get(correction.protocol or "")
            fits = found is not None and found.timer == timer and pass_ in found.passes
            if fits and correction.protocol and kernel in ((about,) if isinstance(about, str) else about):
                return self._linker.protocol(correction.protocol, pass_)
        return None

    def _timer(self, protocol: Linked) -> str:
        key = id(protocol)
        if key not in self._timers:
            self._timers[key] = protocol.document["spec"]["measurement"]["timer"]
        return self._timers[key]

    def _once(self, base: Linked, number: int, make: Callable[[Linked, Facts], Linked]) -> Linked:
        key = (id(base), number)
        if key not in self._documents:
            self._documents[key] = make(base, self.facts[number])
        return self._documents[key]


def environment(base: Linked, facts: Facts) -> Linked:
    """The ExecutionEnvironment of a GPU with everything that was recorded about it."""
    plain = base.document
    metadata, spec = plain["metadata"], plain["spec"]
    document = ExecutionEnvironment.model_validate(
        {
            "metadata": {"name": metadata["name"]},
            "spec": {
                "hardware": spec["hardware"] | facts.hardware,
                "software": facts.software,
                "settings": facts.settings,
            },
        }
    )
    software = facts.software
    versions = (
        ("driver", software.driver),
        ("CUDA", software.cuda_toolkit),
        ("torch", software.framework.version if software.framework else None),
        ("Triton", (software.libraries or {}).get("triton")),
    )
    title = " · ".join([metadata["title"], *(f"{name} {version}" for name, version in versions if version)])
    return _named(document, title, facts.labels)


def protocol(base: Linked, facts: Facts) -> Linked:
    """The BenchmarkProtocol of a pass with what was recorded of warm-up, window and caches."""
    plain = base.document
    metadata, spec = plain["metadata"], plain["spec"]
    comparability = spec.get("comparability", {})
    notes = str(comparability.get("notes", ""))
    for sentence in UNRECORDED:
        notes = notes.replace(sentence, "What was recorded of torch, CUDA and driver stands in the environment.")
    room = NOTES_LENGTH - len(facts.notes) - 1
    notes = notes if len(notes) <= room else notes[: room - 1] + "…"
    document = BenchmarkProtocol.model_validate(
        {
            "metadata": {"name": metadata["name"]},
            "spec": {
                "harness": {"name": HARNESS},
                "measurement": spec["measurement"] | facts.measurement,
                "comparability": comparability | {"notes": f"{notes} {facts.notes}".strip()},
            },
        }
    )
    return _named(document, f"{metadata['title']} · {HARNESS}", facts.runner)


def _named(document: ExecutionEnvironment | BenchmarkProtocol, title: str, labels: dict[str, str]) -> Linked:
    """A document under a name of its own: the base's, and the beginning of its digest."""
    name = f"{document.metadata.name}-{document.digest.removeprefix('sha256:')[:12]}"
    metadata = Metadata(name=name, title=title[:TITLE_LENGTH], labels=labels or None)
    return linked(document.model_copy(update={"metadata": metadata}))
