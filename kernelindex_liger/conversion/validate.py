"""Validate: documents in a folder against their models, digests, links and places."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import rfc8785
from pydantic import ValidationError

from kernelindex_liger.conversion import report
from kernelindex_liger.conversion.atomic import TEMPORARY
from kernelindex_liger.conversion.rows import InputError
from kernelindex_liger.documents import KINDS, digest
from kernelindex_liger.untrusted import lines, quoted, read_small

DOCUMENT = 16 << 20
"""Bytes of one document, or of one line."""

WHOLE = 512 << 20
"""Bytes of a submission, or of a report."""

FAULTS = 10_000
"""Faults after which checking ends: beyond that, a folder is wrong as a whole."""


@dataclass(frozen=True)
class Fault:
    """What is wrong, and where: a path below the folder, with a line or member where it has several."""

    place: str
    problem: str


@dataclass
class Outcome:
    """Documents checked, by kind, and the faults found."""

    documents: Counter[str] = field(default_factory=Counter)
    faults: list[Fault] = field(default_factory=list)


class _Check:
    def __init__(self, out: Path) -> None:
        self.out = out
        self.outcome = Outcome()
        self.known: dict[str, dict[str, dict[str, Any]]] = {kind: {} for kind in KINDS}
        self.wanted: list[tuple[str, str, str]] = []
        self.ids: dict[str, str] = {}
        self.fits: list[tuple[str, str, str]] = []
        self._checked: dict[str, str | None] = {}

    def fault(self, place: str, problem: str) -> None:
        self.outcome.faults.append(Fault(place, problem))
        if len(self.outcome.faults) >= FAULTS:
            raise _TooManyError

    def document(self, place: str, value: object, kind: str | None = None) -> str | None:
        """Check one document by its model; its digest, or None where it is no document."""
        if not isinstance(value, dict) or not isinstance(value.get("kind"), str) or value["kind"] not in KINDS:
            self.fault(place, "not a document of a known kind")
            return None
        if kind is not None and value["kind"] != kind:
            self.fault(place, f"a {value['kind']} where a {kind} belongs")
            return None
        self.outcome.documents[value["kind"]] += 1
        text = json.dumps(value, sort_keys=True)
        if text in self._checked:
            return self._checked[text]
        found = self._checked_digest(place, value)
        if value["kind"] != "BenchmarkRun":
            self._checked[text] = found
        return found

    def _checked_digest(self, place: str, value: dict[str, Any]) -> str | None:
        try:
            KINDS[value["kind"]].model_validate(value)
            found = digest(value)
        except ValidationError as error:
            first = error.errors()[0]
            self.fault(place, f"{'.'.join(str(part) for part in first['loc'])}: {first['msg']}")
            return None
        except (rfc8785.CanonicalizationError, ValueError) as error:
            # ValueError: texts that cannot be encoded
            self.fault(place, f"has no canonical form: {error}")
            return None
        self.known[value["kind"]][found] = value
        spec = value["spec"]
        if value["kind"] == "WorkloadCase":
            self.wanted.append((place, "OperationSpec", spec["operationSpecDigest"]))
        if value["kind"] == "ImplementationRevision":
            self.wanted.append((place, "OperationSpec", spec["operation"]["specDigest"]))
        return found

    def bundle(self, place: str, value: object) -> str | None:
        """Check a bundle; the run's external id."""
        if not isinstance(value, dict) or set(value) != {"run", "protocol", "environment"}:
            self.fault(place, "not a bundle of run, protocol and environment")
            return None
        run = value["run"]
        named = run.get("spec") if isinstance(run, dict) else None
        if self.document(f"{place} run", run, "BenchmarkRun") is None or not isinstance(named, dict):
            return None
        for part, kind in (("protocol", "BenchmarkProtocol"), ("environment", "ExecutionEnvironment")):
            found = self.document(f"{place} {part}", value[part], kind)
            if found is not None and found != named[f"{part}Digest"]:
                self.fault(place, f"{part}Digest is not the digest of the bundle's {part}")
        self.wanted.append((place, "WorkloadCase", named["workloadDigest"]))
        self.wanted.append((place, "ImplementationRevision", named["implementationDigest"]))
        self.fits.append((place, named["workloadDigest"], named["implementationDigest"]))
        external_id = (named.get("sourceNative") or {}).get("externalId")
        if external_id is None:
            self.fault(place, "the run has no external id")
            return None
        if external_id in self.ids:
            self.fault(place, f"its external id stands at {self.ids[external_id]} too")
        self.ids[external_id] = place
        return str(external_id)

    def links(self) -> None:
        """Follow every link, once all documents are known."""
        for place, kind, name in self.wanted:
            if name not in self.known[kind]:
                self.fault(place, f"names {kind} {name}, which is not there")
        for place, workload, implementation in self.fits:
            case, code = (
                self.known["WorkloadCase"].get(workload),
                self.known["ImplementationRevision"].get(implementation),
            )
            if case and code and case["spec"]["operationSpecDigest"] != code["spec"]["operation"]["specDigest"]:
                self.fault(place, "its workload and its implementation are of different operations")


class _TooManyError(Exception):
    pass


def validate(out: Path) -> Outcome:
    """Check a folder of documents in any of the formats.

    Raises:
        InputError: if the folder holds nothing that `ligerimport csv` writes.
    """
    check = _Check(out)
    try:
        found = [_tree(check), _jsonl(check), _submissions(check), _parquet(check)]
        if not any(found):
            raise InputError(f"{out}: holds no documents; expected runs/, runs.jsonl, submission.yaml or runs.parquet")
        check.links()
        _report(check)
    except _TooManyError:
        pass
    return check.outcome


def _load(check: _Check, place: str, text: bytes) -> object:
    try:
        value = json.loads(text, parse_constant=_constant)
        # what is read at the limit of nesting could not be written down again
        json.dumps(value)
        if value is None:
            check.fault(place, "null, where something belongs")
        return value
    except (ValueError, RecursionError) as error:
        check.fault(place, f"not JSON: {error}")
        return None


def _read(check: _Check, place: str, path: Path, most: int) -> object:
    try:
        return _load(check, place, read_small(path, most))
    except OSError as error:
        check.fault(place, f"cannot be read: {error.strerror or error}")
        return None


def _constant(text: str) -> None:
    raise ValueError(f"{text} is no JSON value")


def _tree(check: _Check) -> bool:
    runs, linked = check.out / "runs", check.out / "linked"
    for path in _files(runs):
        place = str(path.relative_to(check.out))
        value = _read(check, place, path, DOCUMENT) if _regular(check, path, place) else None
        external_id = check.bundle(place, value) if value is not None else None
        if external_id is not None and place != f"runs/{external_id}.json":
            check.fault(place, f"its external id belongs at runs/{external_id}.json")
    for path in _files(linked):
        place = str(path.relative_to(check.out))
        value = _read(check, place, path, DOCUMENT) if _regular(check, path, place) else None
        if value is None or check.document(place, value) is None:
            continue
        assert isinstance(value, dict)  # noqa: S101 - checked as a document
        belongs = f"linked/{KINDS[value['kind']].folder}/{value['metadata']['name']}.json"
        if place != belongs:
            check.fault(place, f"its name belongs at {belongs}")
    return runs.is_dir()


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if not path.is_dir() or path.is_symlink())


def _regular(check: _Check, path: Path, place: str) -> bool:
    if path.name.startswith(TEMPORARY):
        check.fault(place, "an unfinished file of a run that was killed; the next run removes it")
    elif path.is_symlink() or not path.is_file():
        check.fault(place, "not a regular file")
    elif path.suffix != ".json":
        check.fault(place, "not a document's file")
    else:
        return True
    return False


def _jsonl(check: _Check) -> bool:
    path = check.out / "runs.jsonl"
    if not path.is_file():
        return False
    for kind in KINDS.values():
        file = check.out / f"{kind.folder}.jsonl"
        if not file.is_file():
            continue
        with file.open("rb") as opened:
            for number, line in lines(opened, DOCUMENT):
                place = f"{file.name}:{number}"
                if line is None:
                    check.fault(place, f"longer than {DOCUMENT:,} bytes")
                    continue
                value = _load(check, place, line)
                if value is None:
                    continue
                if kind.folder == "runs":
                    check.bundle(place, value)
                else:
                    check.document(place, value, kind.__name__)
    return True


def _submissions(check: _Check) -> bool:
    paths = sorted(check.out.glob("submission*.yaml"))
    for path in paths:
        value = _read(check, path.name, path, WHOLE)
        if not isinstance(value, dict):
            check.fault(path.name, "not a submission")
            continue
        _submission(check, path.name, value)
    return bool(paths)


def _submission(check: _Check, name: str, value: Mapping[str, Any]) -> None:
    sections: dict[str, list[Any]] = {}
    for section in ("projects", "operations", "workloads", "implementations", "runs"):
        found = value.get(section, [])
        sections[section] = found if isinstance(found, list) else []
        if not isinstance(found, list):
            check.fault(f"{name} {section}", "not a list")
    projects: set[str] = set()
    for section, kind in (
        ("projects", "SoftwareProject"),
        ("operations", "OperationSpec"),
        ("workloads", "WorkloadCase"),
    ):
        for index, one in enumerate(sections[section]):
            if check.document(f"{name} {section}[{index}]", one, kind) is not None and section == "projects":
                projects.add(one["metadata"]["name"])
    for index, one in enumerate(sections["implementations"]):
        place = f"{name} implementations[{index}]"
        if not isinstance(one, dict):
            check.fault(place, "not an object")
            continue
        check.document(place, one.get("manifest"), "ImplementationRevision")
        slug = one.get("projectSlug")
        if not isinstance(slug, str) or slug not in projects:
            check.fault(place, f"names project {quoted(slug)}, which is not there")
    for index, one in enumerate(sections["runs"]):
        check.bundle(f"{name} runs[{index}]", one)


def _parquet(check: _Check) -> bool:
    path = check.out / "runs.parquet"
    if not path.is_file():
        return False
    import polars as pl

    from kernelindex_liger import tables

    try:
        ids = tables.read([path], ["external_id"]).to_series()
    except tables.BrokenTableError as error:
        check.fault(path.name, f"not the table of runs: {error}")
        return True
    if ids.dtype != pl.String:
        check.fault(path.name, f"not the table of runs: external_id is {ids.dtype}")
        return True
    check.outcome.documents["table rows"] += ids.len()
    for external_id in ids.filter(ids.is_duplicated()).unique().sort().to_list():
        check.fault(path.name, f"external id {external_id} stands twice")
    return True


def _report(check: _Check) -> None:
    path = check.out / "report.json"
    if not path.is_file():
        check.fault("report.json", "is not there")
        return
    try:
        found = report.parse(read_small(path, WHOLE).decode(errors="replace"))
    except OSError:
        found = None
    if found is None:
        check.fault("report.json", "is not a report")
    elif not found.adds_up:
        check.fault("report.json", "its rows do not add up")
