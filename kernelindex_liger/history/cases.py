"""What makes two measurements comparable: the case, the machine it ran on, and the machine's software.

A *case* is kernel, pass, provider, metric, workload and protocol on one machine. A *machine* is a GPU model and
how many of them took part. An *environment* is the machine with everything that was recorded about its
software and settings; live readings such as clocks and temperatures are no part of it, and neither is the
version of liger-kernel, which is what a history watches.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

import polars as pl

from kernelindex_liger.documents.base import SAFE
from kernelindex_liger.history.errors import BadInputError

PARTS_OF_ENVIRONMENT = ("hardware", "software", "settings", "imageDigest")
"""Keys of an ExecutionEnvironment's spec that count; any other key would be a reading of the moment."""

LENGTH = 100_000
"""Characters of an environment's text; real ones have some hundred."""

WATCHED_LIBRARIES = ("liger_kernel", "liger_kernel_nightly")
"""Libraries whose version changes from run to run because they are what is measured."""

CASE_FIELDS = ("kernel", "pass", "provider", "metric", "machine", "workload_digest", "protocol_digest")
"""What a case's digest is taken over, in this order."""

NAME_FIELDS = ("kernel", "pass", "provider", "metric", "case_key", "machine")
"""What a case's readable name is joined from. Several cases can share a name: scalars are not in `case_key`."""


def settings(environment: str | None) -> dict[str, Any]:
    """What identifies an environment, from the JSON text of an ExecutionEnvironment's spec.

    Raises `BadInputError` for text that is no JSON object of the form that environments have.
    """
    if len(environment or "") > LENGTH:
        raise BadInputError(f"an environment of more than {LENGTH:,} characters")
    try:
        spec = json.loads(environment or "{}")
        # what follows writes it down again, key by key
        json.dumps(spec, ensure_ascii=False, allow_nan=False).encode()
        flat(spec)
    except (ValueError, RecursionError) as error:
        raise BadInputError(f"an environment is not JSON: {error}") from error
    except AttributeError as error:
        raise BadInputError("an environment is not a JSON object") from error
    kept = {key: spec[key] for key in PARTS_OF_ENVIRONMENT if key in spec}
    hardware = kept.get("hardware", {})
    if not isinstance(hardware, dict) or not isinstance(kept.get("software", {}), dict):
        raise BadInputError("an environment's hardware and software are not JSON objects")
    count = hardware.get("count")
    if count is not None and (type(count) is not int or not 0 < count <= SAFE):
        raise BadInputError("an environment's count is not a positive integer")
    libraries = kept.get("software", {}).get("libraries")
    if isinstance(libraries, dict):
        others = {name: version for name, version in libraries.items() if name not in WATCHED_LIBRARIES}
        kept["software"] = {**kept["software"], "libraries": others}
        if not others:
            del kept["software"]["libraries"]
    return kept


def flat(value: dict[str, Any], above: str = "") -> dict[str, str]:
    """`value` as `a.b.c` → text, so that two environments can be compared key by key."""
    out: dict[str, str] = {}
    for key, item in sorted(value.items()):
        path = f"{above}{key}"
        if isinstance(item, dict):
            out |= flat(item, f"{path}.")
        else:
            out[path] = item if isinstance(item, str) else json.dumps(item)
    return out


def differences(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """What changed from one environment to the next, one sentence each: `driver 550.54 → 560.35`."""
    old, new = flat(before), flat(after)
    out = []
    for path in sorted(old.keys() | new.keys()):
        if old.get(path) != new.get(path) and not (path == FRAMEWORK and path not in old.keys() & new.keys()):
            name = _short(path, new.get(FRAMEWORK) or old.get(FRAMEWORK))
            out.append(f"{name} {old.get(path, 'not recorded')} → {new.get(path, 'not recorded')}")
    return out


FRAMEWORK = "software.framework.name"
"""The framework's name: said with its version, and by itself only where it changed."""


def _short(path: str, framework: str | None) -> str:
    """The part of a path that a person calls it by; a framework's version goes by the framework."""
    if path == "software.framework.version":
        return framework or "framework version"
    return "framework" if path == FRAMEWORK else path.rsplit(".", 1)[-1]


def digest(text: str) -> str:
    """Sixteen hex digits of the SHA-256 of `text`: enough to name every case and environment of a history."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def with_cases(runs: pl.DataFrame) -> pl.DataFrame:
    """`runs` with the columns `machine`, `environment_key`, `case` and `name`, all text.

    Environments and cases are worked out once each and joined back.
    """
    texts = runs.select("environment").unique()
    known = [settings(text) for text in texts["environment"]]
    keys = texts.with_columns(
        pl.Series("settings", [json.dumps(item, sort_keys=True, ensure_ascii=False) for item in known], pl.String),
        pl.Series("count", [int(item.get("hardware", {}).get("count") or 1) for item in known], pl.Int64),
    )
    runs = runs.join(keys, on="environment", how="left", nulls_equal=True, maintain_order="left")
    runs = runs.with_columns(
        pl.when(pl.col("count") > 1)
        .then(pl.col("gpu") + " x" + pl.col("count").cast(pl.String))
        .otherwise(pl.col("gpu"))
        .alias("machine"),
    ).drop("count")
    runs = _digest_of(runs, ("machine", "settings"), "environment_key")
    runs = _digest_of(runs, CASE_FIELDS, "case")
    return runs.with_columns(pl.concat_str(NAME_FIELDS, separator="/", ignore_nulls=True).alias("name"))


def _digest_of(frame: pl.DataFrame, fields: tuple[str, ...], name: str) -> pl.DataFrame:
    """`frame` with a column `name`: the digest of the values of `fields`."""
    distinct = frame.select(fields).unique()
    texts = [json.dumps(row, ensure_ascii=False) for row in distinct.iter_rows()]
    distinct = distinct.with_columns(pl.Series(name, [digest(text) for text in texts], pl.String))
    return frame.join(distinct, on=list(fields), how="left", nulls_equal=True, maintain_order="left")
