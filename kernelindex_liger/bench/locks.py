"""Locks that keep two runs from timing on one device, and from writing one CSV, at once."""

from __future__ import annotations

import hashlib
import os
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from filelock import FileLock


@dataclass(frozen=True, slots=True)
class Target:
    """A device that a worker gets to itself: its label, its worker's variables, its lock's name."""

    label: str
    environment: Mapping[str, str] = field(default_factory=dict)
    lock: str = ""


def cuda_target(label: str) -> Target:
    """The device `label` (an index or UUID) among those that CUDA_VISIBLE_DEVICES leaves visible.

    Raises ValueError for an index that is not visible.
    """
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    entry = label
    if visible is not None and label.isdigit():
        entries = [e.strip() for e in visible.split(",") if e.strip()]
        if int(label) >= len(entries):
            raise ValueError(f"there is no device {label}: CUDA_VISIBLE_DEVICES leaves {len(entries)}")
        entry = entries[int(label)]
    order = os.environ.get("CUDA_DEVICE_ORDER", "PCI_BUS_ID")
    environment = {"CUDA_VISIBLE_DEVICES": entry, "CUDA_DEVICE_ORDER": order}
    return Target(label, environment, f"gpu-{_identity(entry)}")


def _identity(entry: str) -> str:
    """One name for a device, however it was asked for."""
    if entry.isdigit():
        try:
            import pynvml

            pynvml.nvmlInit()
            entry = str(pynvml.nvmlDeviceGetUUID(pynvml.nvmlDeviceGetHandleByIndex(int(entry))))
        except Exception:  # noqa: BLE001, S110 - no NVML: the index is the device's name
            pass
    return hashlib.sha256(entry.encode()).hexdigest()[:16]


def lock_of(name: str) -> FileLock:
    """A lock of that name, shared by all processes of this machine that have the same temporary folder."""
    from filelock import FileLock

    from kernelindex_liger.files import unlinked

    folder = Path(tempfile.gettempdir()) / "kernelindex-liger"
    if not folder.exists():
        folder.mkdir(exist_ok=True)
        folder.chmod(0o1777)  # other users' runs must meet ours
    return FileLock(unlinked(folder / f"{name}.lock"), mode=0o666)


def file_lock(path: Path) -> FileLock:
    """The lock for reading, merging and replacing one file."""
    return lock_of("file-" + hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:16])
