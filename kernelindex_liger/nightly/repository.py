"""CSVs in a git repository at the tip of a branch; `git` itself does the work, and the commit becomes the label."""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from kernelindex_liger.files import refusal
from kernelindex_liger.history.errors import BadInputError
from kernelindex_liger.nightly.source import SUFFIXES, Fetched, UnreachableError, check_size

if TYPE_CHECKING:
    from kernelindex_liger.nightly.settings import Csv

FORM = re.compile(r"git\+(?P<url>.+?)@(?P<branch>[^@:]+):(?P<path>[^:]*)")
BRANCH = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._/-]*")
FILES = ("100644", "100755")
"""Modes of files in a tree."""

PROTOCOLS = "file:git:http:https:ssh"


@dataclass(frozen=True)
class Repository:
    """One path on one branch of one repository."""

    url: str
    branch: str
    path: str
    limits: Csv
    home: Path

    @classmethod
    def parse(cls, text: str, limits: Csv, home: Path) -> Repository:
        """Read `git+URL@BRANCH:PATH`; URL may be a folder, relative to `home`."""
        found = FORM.fullmatch(text)
        if found is None:
            raise BadInputError(f"{text}: a repository is named git+URL@BRANCH:PATH, PATH a CSV or a folder of CSVs")
        url, branch, path = found["url"], found["branch"], found["path"].strip("/")
        if not BRANCH.fullmatch(branch) or url.startswith("-") or ".." in PurePosixPath(path).parts:
            raise BadInputError(f"{text}: not a repository, branch and path that can be read")
        if "://" not in url and not re.match(r"[^/]+@[^/]+:", url):
            url = str(home / url)
        return cls(url, branch, path, limits, home)

    def fetch(self, into: Path, seen: str | None) -> Fetched:
        """Ask for the branch's commit; only a commit that was not seen is fetched."""
        commit = self._tip()
        fetched = Fetched(f"git:{commit}:{self.path}", commit[:12])
        if fetched.identity == seen:
            return fetched
        mirror = self.home / "source.git"
        if not mirror.exists():
            self._git("init", "--quiet", "--bare", str(mirror))
        self._git("-C", str(mirror), "fetch", "--quiet", "--depth", "1", "--no-tags", "--", self.url, commit)
        for name in self._names(mirror, commit):
            self._extract(mirror, commit, name, into)
        return fetched

    def _tip(self) -> str:
        out = self._git("ls-remote", "--exit-code", "--", self.url, f"refs/heads/{self.branch}").decode()
        return out.split()[0]

    def _names(self, mirror: Path, commit: str) -> list[str]:
        listed = self._git("-C", str(mirror), "ls-tree", "-r", "-l", "-z", commit, "--", self.path or ".").decode()
        names, total = [], 0
        for entry in listed.split("\0"):
            about, _, name = entry.partition("\t")
            # A link's content is the path that it points at, not a CSV.
            if name.endswith(SUFFIXES) and about.split()[0] in FILES:
                names.append(name)
                total += int(about.split()[3])
        if not names:
            raise UnreachableError(f"{self.url}: no CSV at {self.path or '/'} on {self.branch} ({commit[:12]})")
        check_size(total, self.limits, self.url)
        return names

    def _extract(self, mirror: Path, commit: str, name: str, into: Path) -> None:
        inside = PurePosixPath(name).relative_to(self.path) if self.path else PurePosixPath(name)
        target = into / (inside if inside.parts else PurePosixPath(name).name)
        content = self._git("-C", str(mirror), "cat-file", "blob", f"{commit}:{name}")
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        except OSError as error:
            raise refusal(target, error) from error

    def _git(self, *arguments: str) -> bytes:
        environment = os.environ | {
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_ALLOW_PROTOCOL": PROTOCOLS,
            "GIT_HTTP_LOW_SPEED_LIMIT": "1000",
            "GIT_HTTP_LOW_SPEED_TIME": str(max(1, round(self.limits.seconds))),
            "LC_ALL": "C",
        }
        try:
            done = subprocess.run(
                ["git", *arguments], capture_output=True, check=False, env=environment, timeout=20 * self.limits.seconds
            )
        except FileNotFoundError as error:
            raise BadInputError("git is not installed, which a git+ source needs") from error
        except subprocess.TimeoutExpired as error:
            raise UnreachableError(f"{self.url}: git took longer than {20 * self.limits.seconds:.0f} s") from error
        if done.returncode:
            said = done.stderr.decode(errors="replace").strip().splitlines()
            raise UnreachableError(f"{self.url}: git {arguments[0]} failed ({said[-1] if said else 'no such branch'})")
        return done.stdout
