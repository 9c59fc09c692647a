"""A CSV at an https address: capped, timed, retried, and whole or not at all."""

from __future__ import annotations

import hashlib
import http.client
import queue
import re
import shutil
import tempfile
import threading
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING
from urllib.parse import urlsplit

from kernelindex_liger.files import refusal
from kernelindex_liger.history.errors import BadInputError
from kernelindex_liger.nightly.source import SUFFIXES, Fetched, UnreachableError, check_size
from kernelindex_liger.untrusted import quoted

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
        try:
            into.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=into.parent) as file:
                identity = f"sha256:{self._tried(file)}"
                if identity != seen:
                    into.mkdir(exist_ok=True)
                    file.seek(0)
                    with target.open("wb") as copy:
                        shutil.copyfileobj(file, copy)
        except OSError as error:
            raise refusal(target, error) from error
        return Fetched(identity, None)

    def _tried(self, file: IO[bytes]) -> str:
        """Download into `file`, again where that may help; the content's SHA-256."""
        for attempt in range(self.limits.retries + 1):
            try:
                return self._download(file)
            except _Again as error:
                if attempt == self.limits.retries:
                    tried = f"{attempt + 1} attempts" if attempt else "1 attempt"
                    raise UnreachableError(f"{self.address}: {error}, after {tried}") from error
                self.sleep(min(2.0**attempt, self.limits.seconds))
        raise AssertionError(self.limits.retries)

    def _download(self, file: IO[bytes]) -> str:
        file.seek(0)
        file.truncate()
        digest, size = hashlib.sha256(), 0
        ends = time.monotonic() + SLOWEST * self.limits.seconds
        try:
            with self._answer() as answer:
                promised = _length(answer.headers.get("Content-Length"))
                check_size(promised or 0, self.limits, self.address)
                while block := answer.read1(BLOCK):
                    size += len(block)
                    check_size(size, self.limits, self.address)
                    digest.update(block)
                    file.write(block)
                    if time.monotonic() > ends:
                        raise _Again("too slow")
                if promised is not None and size < promised:
                    raise _Again(f"broke off after {size} of {promised} bytes")
                return digest.hexdigest()
        except urllib.error.HTTPError as error:
            answer_text = f"the server answered {error.code} {error.reason}"
            if error.code >= 500 or error.code == 429:
                raise _Again(answer_text) from error
            raise UnreachableError(f"{self.address}: {answer_text}") from error
        except (TimeoutError, urllib.error.URLError, http.client.HTTPException, ConnectionError) as error:
            raise _Again(_words(error)) from error
        except ValueError as error:
            raise UnreachableError(f"{self.address}: the server leads to what is no address ({error})") from error

    def _answer(self) -> http.client.HTTPResponse:
        """The server's answer up to its headers.

        In a thread of its own: the time-out holds for each piece that arrives, and headers may come a byte at a time.
        """
        opener = urllib.request.build_opener(_OnlySafe)
        request = urllib.request.Request(self.address, headers={"User-Agent": "kernelindex-liger"})  # noqa: S310 - checked
        came: queue.SimpleQueue[http.client.HTTPResponse | Exception] = queue.SimpleQueue()

        def ask() -> None:
            try:
                came.put(opener.open(request, timeout=self.limits.seconds))
            except Exception as error:  # noqa: BLE001 - raised again where it is waited for
                came.put(error)

        threading.Thread(target=ask, daemon=True).start()
        try:
            answer = came.get(timeout=SLOWEST * self.limits.seconds)
        except queue.Empty as error:
            raise _Again("too slow") from error
        if isinstance(answer, Exception):
            raise answer
        return answer


def _length(promised: str | None) -> int | None:
    """A Content-Length, where it is one."""
    return int(promised) if promised is not None and re.fullmatch(r"[0-9]{1,15}", promised) else None


def _words(error: Exception) -> str:
    reason = getattr(error, "reason", error)
    if isinstance(reason, TimeoutError):
        return "no answer in time"
    return f"the connection failed ({reason})"


def _check(address: str) -> None:
    try:
        parts = urlsplit(address)
    except ValueError as error:
        raise BadInputError(f"{address}: not an address: {error}") from error
    if not address.isascii() or not address.isprintable() or " " in address:
        raise BadInputError(f"{quoted(address)}: an address is of printable ASCII characters, all others as %XX")
    if parts.scheme == "https" and parts.hostname:
        return
    if parts.scheme == "http" and parts.hostname in LOCAL:
        return
    raise BadInputError(f"{address}: only https addresses are asked")
