"""Settings and servers that mean harm: said at once, or given up within the time that the settings allow."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kernelindex_liger.history.errors import BadInputError, HistoryError
from kernelindex_liger.nightly import settings
from kernelindex_liger.nightly.settings import Csv
from kernelindex_liger.nightly.source import parse
from kernelindex_liger.nightly.web import SLOWEST, Web

LIMITS = Csv(seconds=0.2, retries=1, megabytes=1)


def drip(connection: socket.socket) -> None:
    """Headers that never end, a byte at a time, each in time."""
    connection.sendall(b"HTTP/1.1 200 OK\r\nX: ")
    while True:
        connection.sendall(b"x")
        time.sleep(0.05)


def headers(connection: socket.socket) -> None:
    """Headers without end, as fast as they go."""
    connection.sendall(b"HTTP/1.1 200 OK\r\n")
    while True:
        connection.sendall(b"X: " + b"x" * 1000 + b"\r\n")


def answer(*said: bytes) -> Callable[[socket.socket], None]:
    def give(connection: socket.socket) -> None:
        for one in said:
            connection.sendall(one)

    return give


def chunks(connection: socket.socket) -> None:
    """A body without end."""
    connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    while True:
        connection.sendall(b"10000\r\n" + b"x" * 65536 + b"\r\n")


def slow(connection: socket.socket) -> None:
    """A body a byte at a time, each in time."""
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
    while True:
        connection.sendall(b"x")
        time.sleep(0.05)


OK = b"HTTP/1.1 200 OK\r\n"
SERVERS: dict[str, tuple[Callable[[socket.socket], None], str]] = {
    "drip": (drip, "too slow"),
    "headers": (headers, "got more than 100 headers"),
    "a long header": (answer(OK, b"X: " + b"x" * 100_000 + b"\r\n\r\n"), "header line"),
    "no HTTP": (answer(b"\x00\xff\x1b[2J\r\n\r\n"), "the connection failed"),
    "an endless status": (answer(b"HTTP/1.1 200 " + b"x" * 100_000), "the connection failed"),
    "a status that is none": (answer(b"HTTP/1.1 99999999999999999999 OK\r\n\r\n"), "the connection failed"),
    "chunks": (chunks, "more than the 1 MB"),
    "slow": (slow, "too slow"),
    "a huge length": (answer(OK, b"Content-Length: 999999999999999\r\n\r\n"), "more than the 1 MB"),
    "a chunk of no size": (answer(OK, b"Transfer-Encoding: chunked\r\n\r\n-5\r\n"), "the connection failed"),
    "itself again": (answer(b"HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n"), "infinite loop"),
    "elsewhere": (answer(b"HTTP/1.1 302 Found\r\nLocation: http://[\r\nContent-Length: 0\r\n\r\n"), "no address"),
}


class Served:
    def __init__(self, behave: Callable[[socket.socket], None]) -> None:
        self.behave = behave
        self.listener = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.listener.getsockname()[1]}/results.csv"

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        try:
            connection.recv(10_000)
            self.behave(connection)
        except OSError:
            pass
        finally:
            connection.close()


@pytest.fixture
def serve() -> Iterator[Callable[[Callable[[socket.socket], None]], str]]:
    servers: list[Served] = []

    def start(behave: Callable[[socket.socket], None]) -> str:
        servers.append(Served(behave))
        return servers[-1].address

    yield start
    for one in servers:
        one.listener.close()


@pytest.mark.parametrize("server", SERVERS)
def test_a_server_that_means_harm(
    tmp_path: Path, serve: Callable[[Callable[[socket.socket], None]], str], server: str
) -> None:
    behave, said = SERVERS[server]
    started = time.monotonic()
    with pytest.raises(HistoryError, match=said):
        Web(serve(behave), LIMITS, sleep=lambda _: None).fetch(tmp_path / "in", None)
    assert time.monotonic() - started < 3 * SLOWEST * LIMITS.seconds + 10
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("length", ["\xb2", "9" * 5000, "-1", "0x10", "1e3", "", "abc"])
def test_a_length_that_is_none_is_no_length(
    tmp_path: Path, serve: Callable[[Callable[[socket.socket], None]], str], length: str
) -> None:
    address = serve(answer(OK, f"Content-Length: {length}\r\n\r\n".encode("latin-1"), b"a,b\n"))
    Web(address, LIMITS, sleep=lambda _: None).fetch(tmp_path / "in", None)
    assert (tmp_path / "in" / "results.csv").read_bytes() == b"a,b\n"


@pytest.mark.parametrize(
    "address",
    ["https://[", "https://", "https:///x.csv", "https://exa\u043cple.com/x.csv", "https://x/\x1b[2J", "https://x/a b",
     "https://x/\r\nHost: y", "javascript://x", "http://127.0.0.1.example.com/x.csv", "http://localhost@example.com/x"],
)  # fmt: skip
def test_an_address_that_is_none(tmp_path: Path, address: str) -> None:
    with pytest.raises(BadInputError):
        parse(address, LIMITS, tmp_path)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"x = " + b"[" * 100_000, "not readable as TOML"),
        (b"a = " + b"9" * 10_000, "not readable as TOML"),
        (b"\xff", "not readable as TOML"),
        (b"#" * (1 << 19), "larger than"),
        (b"version = 2", "version"),
        (b"keep = 0", "keep"),
        (b"keep = 0x" + b"f" * 1000, "keep"),
        (b"[csv]\nseconds = inf", "csv.seconds"),
        (b"[csv]\nseconds = nan", "csv.seconds"),
        (b"[csv]\nseconds = 1e300", "csv.seconds"),
        (b"[csv]\nmegabytes = inf", "csv.megabytes"),
        (b"[csv]\nretries = 10000", "csv.retries"),
        (b'[csv]\nsource = "a\\u0000b"', "csv.source"),
        (b'[bench]\narguments = ["a\\u0000b"]', "bench.arguments"),
        (b"[bench]\nhours = inf", "bench.hours"),
        (b"[bench]\narguments = [" + b'"a",' * 2000 + b"]", "bench.arguments"),
        (b"\n".join(b"k%d = 1" % number for number in range(10_000)), "k0: Extra inputs"),
        (b"judge = []", "judge"),
    ],
)
def test_settings_made_to_do_harm(tmp_path: Path, content: bytes, said: str) -> None:
    (tmp_path / "nightly.toml").write_bytes(content)
    with pytest.raises(BadInputError, match=said) as caught:
        settings.load(tmp_path)
    assert len(str(caught.value)) < 2000


def test_a_pipe_in_place_of_the_settings(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "nightly.toml")
    with pytest.raises(BadInputError, match="not a regular file"):
        settings.load(tmp_path)
