"""On PYTHONPATH, leaves of an environment what the extra `bench` brings: other packages are not found.

Python imports a module of this name at start-up, in worker processes too.
"""

import re
import sys
import tomllib
from importlib import metadata
from importlib.machinery import PathFinder
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[3]


def canonical(name):
    return re.sub("[-_.]+", "-", name).lower()


def brought():
    """What the package needs with the extra, and what that needs in turn."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    asked = [*project["dependencies"], *project["optional-dependencies"]["bench"]]
    found, left = {"kernelindex-liger"}, [canonical(Requirement(one).name) for one in asked]
    while left:
        name = left.pop()
        found.add(name)
        try:
            wanted = [Requirement(one) for one in metadata.requires(name) or ()]
        except metadata.PackageNotFoundError:  # not for this platform
            continue
        needed = {canonical(one.name) for one in wanted if not one.marker or one.marker.evaluate({"extra": ""})}
        left += needed - found
    return found


BROUGHT = brought()
HIDDEN = {
    module
    for module, packages in metadata.packages_distributions().items()
    if not BROUGHT & {canonical(one) for one in packages}
}


class Only(PathFinder):
    @classmethod
    def find_spec(cls, fullname, path=None, target=None):
        if fullname.partition(".")[0] in HIDDEN:
            return None
        return super().find_spec(fullname, path, target)


sys.meta_path[:] = [Only if finder is PathFinder else finder for finder in sys.meta_path]
for loaded in [name for name in sys.modules if name.partition(".")[0] in HIDDEN]:
    del sys.modules[loaded]
