"""`--version --verbose`: versions for a bug report, nothing that tells whose it is."""

from __future__ import annotations

import getpass
import json
import os
import platform
import re
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from click.testing import CliRunner

import kernelindex_liger
from kernelindex_liger.cli import _version, main
from kernelindex_liger.conversion import Options, convert
from tests.conftest import FIXTURES, ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(main, list(arguments))
    return result.exit_code, result.output


def names(requirements: list[str]) -> list[str]:
    return [re.split(r"[>=<;]", one)[0] for one in requirements]


@pytest.fixture
def declared(monkeypatch: pytest.MonkeyPatch) -> None:
    """The metadata that the project's table becomes, whether or not the package is installed here."""
    needed = [
        *PROJECT["dependencies"],
        *(
            f'{one} ; extra == "{extra}"' if ";" not in one else f'{one} and extra == "{extra}"'
            for extra, listed in PROJECT["optional-dependencies"].items()
            for one in listed
        ),
    ]
    monkeypatch.setattr(metadata, "requires", lambda _name: needed)


def test_the_version_is_that_of_the_project() -> None:
    for flag in ("-V", "--version"):
        assert run(flag) == (0, f"ligerimport, version {PROJECT['version']}\n")


@pytest.mark.parametrize(
    "arguments", [("--version", "--verbose"), ("--verbose", "--version"), ("-V", "--verbose"), ("--verbose", "-V")]
)
@pytest.mark.usefixtures("declared")
def test_verbose_may_stand_before_or_after(arguments: tuple[str, ...]) -> None:
    code, output = run(*arguments)
    assert code == 0
    assert output.startswith(f"ligerimport, version {kernelindex_liger.__version__}\n")
    assert f"{platform.python_implementation()} {platform.python_version()}" in output
    assert output == run("--version", "--verbose")[1]


@pytest.mark.usefixtures("declared")
def test_every_dependency_and_extra_is_named_with_its_version() -> None:
    _, output = run("--version", "--verbose")
    _, _, rest = output.partition("dependencies:\n")
    groups = re.split(r"^extra (.+):\n", rest, flags=re.MULTILINE)
    said = {"": groups[0], **dict(zip(groups[1::2], groups[2::2], strict=True))}
    wanted = {"": PROJECT["dependencies"], **PROJECT["optional-dependencies"]}
    assert said.keys() == wanted.keys()
    for extra, requirements in wanted.items():
        lines = dict(line.split(maxsplit=1) for line in said[extra].splitlines())
        assert list(lines) == names(requirements)
        for name, version in lines.items():
            try:
                assert version == metadata.version(name)
            except metadata.PackageNotFoundError:
                assert version == "not installed"
    assert {line.split()[0] for line in groups[0].splitlines() if "not installed" in line} == set()


@pytest.mark.usefixtures("declared")
def test_the_catalogue_is_named_as_a_report_names_it(tmp_path: Path) -> None:
    convert([FIXTURES / "csv" / "seeds.csv"], tmp_path / "out", Options())
    digest = json.loads((tmp_path / "out" / "report.json").read_text())["catalog"]
    assert re.fullmatch("sha256:[0-9a-f]{64}", digest)
    assert f"kernels, {digest}\n" in run("--version", "--verbose")[1]


@pytest.mark.usefixtures("declared")
def test_nothing_tells_whose_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("LOGNAME", "USER", "HOSTNAME", "HOME", "VIRTUAL_ENV"):
        monkeypatch.setenv(variable, f"secret-{variable}")
    monkeypatch.setattr(platform, "node", lambda: "secret-node")
    _, output = run("--version", "--verbose")
    assert "secret" not in output
    for path in (str(ROOT), sys.prefix, sys.executable, str(Path.home()), os.sep + getpass.getuser() + os.sep):
        assert path not in output
    assert "/" not in output


def test_run_from_a_folder_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_version, "DISTRIBUTION", "no-such-package-anywhere")
    code, output = run("--version", "--verbose")
    assert code == 0
    assert "without having been installed" in output


@pytest.mark.parametrize("arguments", [["--verbose", "csv", "-h"], ["--verbose", "catalog", "list"]])
def test_verbose_alone_means_nothing(arguments: list[str]) -> None:
    code, output = run(*arguments)
    assert (code, "--verbose belongs to --version" in output) == (2, True)


def test_no_optional_package_is_imported() -> None:
    code = (
        "import sys\nfrom kernelindex_liger.cli import main\n"
        "try: main(['--version', '--verbose'])\nexcept SystemExit: pass\n"
        "print(sorted({name.partition('.')[0] for name in sys.modules} & set(sys.argv[1:])))"
    )
    optional = [name.replace("-", "_") for extra in PROJECT["optional-dependencies"].values() for name in names(extra)]
    command = [sys.executable, "-c", code, *optional, "pynvml", "polars", "rich"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.splitlines()[-1] == "[]"
