"""A CSV at an https address: capped, timed, retried, and whole or not at all."""

from __future__ import annotations

import hashlib
import http.client
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING
from urllib.parse import urlsplit

from kernelindex_liger.files import refusal
from kernelindex_liger.history.errors import BadInputError
from kernelindex_liger.nightly.source import SUFFIXES, Fetched, UnreachableError, check_size

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from kernelindex_liger.nightly.settings import Csv

LOCAL = {"localhost", "127.0.0.1", "::1"}
"""Hosts to which plain http is spoken: nobody stands between."""

BLOCK = 1 << 16
SLOWEST = 20
"""A whole download may take so many times the seconds of silence that are allowed."""


class _Again(Exception):  # noqa: N818 - no error for anybody else: the next attempt may succeed
    """This attempt failed in a way that may pass."""


class _OnlySafe(urllib.request.HTTPRedirectHandler):
    """Follows redirects to addresses that could have been named in the first place."""

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: http.client.HTTPMessage,
        newurl: str,
    ) -> urllib.request.Request | None:
        """Check the new address, then do as usual."""
        _check(newurl)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


@dataclass(frozen=True)
class Web:
    """An https address of one CSV."""

    address: str
    limits: Csv
    sleep: Callable[[float], None] = time.sleep

    @classmethod
    def parse(cls, text: str, limits: Csv) -> Web:
        """Check that `text` is an address that may be asked."""
        _check(text)
        return cls(text, limits)

    def fetch(self, into: Path, seen: str | None) -> Fetched:
        """Download the CSV; only what passes is tried again: timeouts, broken connections, 5xx and 429."""
        name = urlsplit(self.address).path.rsplit("/", 1)[-1]
        target = into / (name if name.endswith(SUFFIXES) else "download.csv")
        for attempt in range(self.limits.retries + 1):
            try:
                content = self._download()
            except _Again as error:
                if attempt == self.limits.retries:
                    tried = f"{attempt + 1} attempts" if attempt else "1 attempt"
                    raise UnreachableError(f"{self.address}: {error}, after {tried}") from error
                self.sleep(min(2.0**attempt, self.limits.seconds))
            else:
                break
        fetched = Fetched(f"sha256:{hashlib.sha256(content).hexdigest()}", None)
        if fetched.identity != seen:
            try:
                into.mkdir(parents=True, exist_ok=True)
                target.write_bytes(content)
            except OSError as error:
                raise refusal(target, error) from error
        return fetched

    def _download(self) -> bytes:
        opener = urllib.request.build_opener(_OnlySafe)
        request = urllib.request.Request(self.address, headers={"User-Agent": "kernelindex-liger"})  # noqa: S310 - checked
        ends = time.monotonic() + SLOWEST * self.limits.seconds
        try:
            with opener.open(request, timeout=self.limits.seconds) as answer:
                promised = answer.headers.get("Content-Length")
                if promised is not None and promised.isdigit():
                    check_size(int(promised), self.limits, self.address)
                blocks, size = [], 0
                while block := answer.read1(BLOCK):
                    size += len(block)
                    check_size(size, self.limits, self.address)
                    blocks.append(block)
                    if time.monotonic() > ends:
                        raise _Again("too slow")
                if promised is not None and promised.isdigit() and size < int(promised):
                    raise _Again(f"broke off after {size} of {promised} bytes")
                return b"".join(blocks)
        except urllib.error.HTTPError as error:
            answer_text = f"the server answered {error.code} {error.reason}"
            if error.code >= 500 or error.code == 429:
                raise _Again(answer_text) from error
            raise UnreachableError(f"{self.address}: {answer_text}") from error
        except (TimeoutError, urllib.error.URLError, http.client.HTTPException, ConnectionError) as error:
            raise _Again(_words(error)) from error


def _words(error: Exception) -> str:
    reason = getattr(error, "reason", error)
    if isinstance(reason, TimeoutError):
        return "no answer in time"
    return f"the connection failed ({reason})"


def _check(address: str) -> None:
    parts = urlsplit(address)
    if parts.scheme == "https" and parts.hostname:
        return
    if parts.scheme == "http" and parts.hostname in LOCAL:
        return
    raise BadInputError(f"{address}: only https addresses are asked")
