"""Where CSVs come from: a server that misbehaves in every way, a git repository, files and folders."""

from __future__ import annotations

import json
import socket
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from made import write_csv

from kernelindex_liger.history.errors import BadInputError
from kernelindex_liger.history.store import History
from kernelindex_liger.nightly import job, settings
from kernelindex_liger.nightly.log import Log
from kernelindex_liger.nightly.repository import Repository
from kernelindex_liger.nightly.settings import Csv
from kernelindex_liger.nightly.source import UnreachableError, parse
from kernelindex_liger.nightly.web import Web

LIMITS = Csv(seconds=0.4, retries=2, megabytes=1)


class Server(ThreadingHTTPServer):
    """Answers by a script: one behaviour a request, the last one again and again."""

    daemon_threads = True

    def __init__(self, content):
        super().__init__(("127.0.0.1", 0), Handler)
        self.content = content
        self.script = ["ok"]
        self.asked = 0
        self.gate = threading.Event()

    @property
    def address(self):
        return f"http://127.0.0.1:{self.server_port}/results.csv"


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        server = self.server
        what = server.script[min(server.asked, len(server.script) - 1)]
        server.asked += 1
        if what in {"404", "500", "429"}:
            self.send_error(int(what))
        elif what == "stall":
            server.gate.wait(10)
        elif what == "redirect":
            self.send_response(302)
            self.send_header("Location", "file:///etc/passwd")
            self.end_headers()
        elif what == "huge":
            self.send_response(200)
            self.end_headers()
            for _ in range(40):
                self.wfile.write(b"x" * 100_000)
        else:
            self.send_response(200)
            self.send_header("Content-Length", str(len(server.content)))
            self.end_headers()
            if what == "ok":
                self.wfile.write(server.content)
            elif what == "break":
                self.wfile.write(server.content[: len(server.content) // 2])
                self.wfile.flush()
                self.connection.shutdown(socket.SHUT_RDWR)
            elif what == "stall-inside":
                self.wfile.write(server.content[:100])
                self.wfile.flush()
                server.gate.wait(10)

    def log_message(self, *_):
        pass


@pytest.fixture
def server(tmp_path):
    with Server(write_csv(tmp_path / "served.csv").read_bytes()) as found:
        thread = threading.Thread(target=found.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        yield found
        found.gate.set()
        found.shutdown()


def web(server, limits=LIMITS):
    return Web(server.address, limits, sleep=lambda _: None)


def test_a_download_is_whole(server, tmp_path):
    fetched = web(server).fetch(tmp_path / "in", None)
    assert (tmp_path / "in" / "results.csv").read_bytes() == server.content
    assert web(server).fetch(tmp_path / "again", fetched.identity) == fetched
    assert not (tmp_path / "again").exists()


@pytest.mark.parametrize("trouble", ["500", "429", "break", "stall", "stall-inside"])
def test_what_passes_is_tried_again(server, tmp_path, trouble):
    server.script = [trouble, trouble, "ok"]
    web(server).fetch(tmp_path / "in", None)
    assert server.asked == 3
    assert (tmp_path / "in" / "results.csv").read_bytes() == server.content


@pytest.mark.parametrize(
    ("trouble", "said", "asked"),
    [
        ("404", "answered 404", 1),
        ("500", "answered 500 .* after 3 attempts", 3),
        ("break", "broke off|connection failed", 3),
        ("stall", "no answer in time", 3),
        ("stall-inside", "no answer in time", 3),
    ],
)
def test_what_lasts_is_said_and_leaves_no_file(server, tmp_path, trouble, said, asked):
    server.script = [trouble]
    with pytest.raises(UnreachableError, match=said):
        web(server).fetch(tmp_path / "in", None)
    assert server.asked == asked
    assert not (tmp_path / "in").exists()


def test_too_large_a_file_is_refused_while_it_comes(server, tmp_path):
    server.script = ["huge"]
    with pytest.raises(BadInputError, match="more than the 1 MB"):
        web(server).fetch(tmp_path / "in", None)
    server.script = ["ok"]
    with pytest.raises(BadInputError, match="allows"):
        web(server, Csv(seconds=1, megabytes=0.001)).fetch(tmp_path / "in", None)


def test_a_redirect_to_a_file_is_not_followed(server, tmp_path):
    server.script = ["redirect"]
    with pytest.raises((BadInputError, UnreachableError)):
        web(server).fetch(tmp_path / "in", None)


@pytest.mark.parametrize("address", ["http://example.com/x.csv", "ftp://localhost/x.csv", "file:///etc/passwd"])
def test_only_https_is_asked(address, tmp_path):
    with pytest.raises(BadInputError, match="only https"):
        parse(address, LIMITS, tmp_path)


def nightly(home, csv):
    return job.run(home, settings.load(home), Log(home / "nightly.log", quiet=True), str(csv))


@pytest.mark.parametrize("trouble", ["404", "500", "break", "stall"])
def test_a_night_without_its_csv_is_bad_input_and_the_next_one_succeeds(home, server, monkeypatch, trouble):
    monkeypatch.setattr("time.sleep", lambda _: None)
    server.script = [trouble]
    assert nightly(home, server.address) == 3
    assert not (home / "latest").exists()
    server.script = ["ok"]
    assert nightly(home, server.address) == 5
    assert (home / "latest" / "judgement.json").exists()
    assert nightly(home, server.address) == 5
    assert len(History(home / "history").runs()) == 1


def git(folder, *arguments):
    command = ["git", "-C", str(folder), "-c", "user.name=T", "-c", "user.email=t@example.com", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def repository(tmp_path):
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch", "main")
    return folder


def commit(folder, night, name="data/all.csv"):
    write_csv(folder / name, night)
    git(folder, "add", "-A")
    git(folder, "commit", "--quiet", "-m", f"night {night}")
    return git(folder, "rev-parse", "HEAD")


def test_a_repository_gives_its_commit_as_label_and_nothing_twice(home, repository):
    source = f"git+{repository}@main:data/all.csv"
    first = commit(repository, 0)
    assert nightly(home, source) == 5
    assert nightly(home, source) == 5
    second = commit(repository, 1)
    (repository / "README.md").write_text("no CSV changed\n")
    git(repository, "add", "-A")
    git(repository, "commit", "--quiet", "-m", "words")
    third = git(repository, "rev-parse", "HEAD")
    assert nightly(home, source) == 5
    labels = [run.label for run in History(home / "history").runs()]
    assert labels == [first[:12], third[:12]]
    assert second[:12] not in labels


def test_a_branch_of_folders_gives_a_label_a_folder(home, repository):
    for night in range(5):
        commit(repository, night, f"benchmarks/c{night}/benchmark.csv")
    assert nightly(home, f"git+{repository}@main:benchmarks") == 0
    assert [run.label for run in History(home / "history").runs()] == [f"c{night}" for night in range(5)]


def test_a_folder_of_folders_does_too(home, tmp_path):
    for night in range(4):
        write_csv(tmp_path / "pages" / f"c{night}" / "benchmark.csv", night)
    assert nightly(home, tmp_path / "pages") == 0
    assert nightly(home, tmp_path / "pages") == 5
    write_csv(tmp_path / "pages" / "c4" / "benchmark.csv", 4)
    assert nightly(home, tmp_path / "pages") == 0
    assert [run.label for run in History(home / "history").runs()][-1] == "c4"


def test_several_runs_at_once_are_all_judged_except_on_a_historys_first_night(home, tmp_path):
    """Three weeks' folders come in one night: what vanished or was confirmed in any of them is in its reports."""
    for night in range(5):
        write_csv(tmp_path / "pages" / f"c{night}" / "benchmark.csv", night)
    assert nightly(home, tmp_path / "pages") == 0
    assert [run["label"] for run in judged(home)] == ["c4"]
    for night, slow in ((5, 1.3), (6, 1.3), (7, 1.0)):
        write_csv(tmp_path / "pages" / f"c{night}" / "benchmark.csv", night, slow=slow)
    assert nightly(home, tmp_path / "pages") == 1
    assert [(run["label"], run["alarming"]) for run in judged(home)] == [("c7", False), ("c6", True), ("c5", False)]
    report = (home / "latest" / "report.md").read_text()
    assert all(f"Benchmarks: {label} on" in report for label in ("c5", "c6", "c7"))


def judged(home):
    return json.loads((home / "latest" / "judgement.json").read_text())["runs"]


@pytest.mark.parametrize("branch", ["gone", "main"])
def test_a_repository_that_cannot_be_read_is_said(repository, tmp_path, branch):
    commit(repository, 0)
    path = "data/all.csv" if branch == "gone" else "nowhere"
    source = Repository.parse(f"git+{repository}@{branch}:{path}", LIMITS, tmp_path)
    with pytest.raises(UnreachableError):
        source.fetch(tmp_path / "in", None)


@pytest.mark.parametrize(
    "text", ["git+x", "git+--upload-pack=touch x@main:a.csv", "git+/r@--help:a.csv", "git+/r@main:../../etc/passwd"]
)
def test_a_repository_named_to_do_harm_is_refused(text, tmp_path):
    with pytest.raises(BadInputError):
        Repository.parse(text, LIMITS, tmp_path)


def test_an_external_helper_is_not_run(repository, tmp_path):
    mark = tmp_path / "mark"
    source = Repository.parse(f"git+ext::sh -c touch% {mark}@main:a.csv", LIMITS, tmp_path)
    with pytest.raises(UnreachableError):
        source.fetch(tmp_path / "in", None)
    assert not mark.exists()


def test_a_link_in_a_repository_is_not_followed(home, repository):
    commit(repository, 0)
    (repository / "data" / "more.csv").symlink_to("/etc/passwd")
    git(repository, "add", "-A")
    git(repository, "commit", "--quiet", "-m", "link")
    assert nightly(home, f"git+{repository}@main:data") == 5
    assert [path.name for path in (home / "latest" / "input").iterdir()] == ["all.csv"]


@pytest.mark.parametrize(
    ("text", "fault"),
    [("keeep = 3\n", "keeep"), ("[csv]\nretries = -1\n", "csv.retries"), ("[bench\n", "not readable as TOML")],
)
def test_settings_that_are_wrong_are_named(home, text, fault):
    (home / "nightly.toml").write_text(text)
    with pytest.raises(BadInputError, match=fault):
        settings.load(home)
