"""`ligerimport --version`, alone or with `--verbose`: what a bug report needs, and nothing that tells whose it is."""

from __future__ import annotations

import click

import kernelindex_liger

DISTRIBUTION = "kernelindex-liger"
WIDTH = 20


def print_version(context: click.Context, _parameter: click.Parameter, wanted: bool) -> None:
    """Print the version and exit, where it is asked for; `--verbose` has been read before."""
    if not wanted or context.resilient_parsing:
        return
    click.echo(f"ligerimport, version {kernelindex_liger.__version__}")
    if context.params.get("verbose"):
        click.echo("\n".join(details()))
    context.exit()


def details() -> list[str]:
    """Lines on Python, the platform, the catalogue, what is depended on and each extra.

    Versions come from installed metadata: no dependency is imported for its own. Neither host, user nor folder is told.
    """
    import platform

    lines = [
        _line("Python", f"{platform.python_implementation()} {platform.python_version()}"),
        _line("platform", platform.platform()),
        _line("catalogue", catalogue()),
    ]
    needed = requirements()
    if not needed:
        return [*lines, f"{DISTRIBUTION} is run without having been installed"]
    for extra, names in needed.items():
        lines.append(f"extra {extra}:" if extra else "dependencies:")
        lines += [_line(f"  {name}", installed(name) or "not installed") for name in names]
    return lines


def _line(name: str, text: str) -> str:
    return f"{name:<{WIDTH}} {text}"


def requirements() -> dict[str, list[str]]:
    """Packages that the installed metadata names, by extra ("" is none), both in the metadata's order."""
    import re
    from importlib import metadata

    try:
        required = metadata.requires(DISTRIBUTION) or []
    except metadata.PackageNotFoundError:
        return {}
    groups: dict[str, list[str]] = {}
    for text in required:
        extra = re.search(r"""extra\s*==\s*["']([^"']+)["']""", text)
        name = re.match(r"[\w.-]+", text)
        if name:
            groups.setdefault(extra[1] if extra else "", []).append(name[0])
    return groups


def installed(name: str) -> str | None:
    """The version of an installed package, or None."""
    from importlib import metadata

    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def catalogue() -> str:
    """How many kernels the package's catalogue knows, and the digest that a `report.json` names it by."""
    try:
        from kernelindex_liger.catalog import load
    except ImportError as error:
        return f"cannot be loaded without {error.name}"
    facts = load()
    return f"{len(facts.kernels)} kernels, {facts.digest}"
