"""What is recorded of the machine: versions and set-up, never a host name, user, serial number or UUID."""

from __future__ import annotations

import platform
from typing import TYPE_CHECKING, Any

import kernelindex_liger
from kernelindex_liger.bench.requirements import version
from kernelindex_liger.documents.sidecar import Gpu, Readings, Software

if TYPE_CHECKING:
    from collections.abc import Callable

REASONS = {
    0x1: "gpu_idle",
    0x2: "applications_clocks_setting",
    0x4: "sw_power_cap",
    0x8: "hw_slowdown",
    0x10: "sync_boost",
    0x20: "sw_thermal_slowdown",
    0x40: "hw_thermal_slowdown",
    0x80: "hw_power_brake_slowdown",
    0x100: "display_clock_setting",
}
"""NVML's bits of why clocks are held back."""


def software(*, driver: str | None, cuda: str | None) -> Software:
    """Versions here; driver and CUDA come from whoever asked the device."""
    return Software(
        operating_system=_operating_system(),
        kernel=platform.release() or None,
        python=platform.python_version(),
        driver=driver,
        cuda=cuda,
        torch=version("torch"),
        triton=version("triton"),
        liger_kernel=version("liger-kernel"),
        transformers=version("transformers"),
        runner=kernelindex_liger.__version__,
    )


def _operating_system() -> str | None:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME")
    except OSError:
        return platform.system() or None


def clock_event_reasons(bits: int) -> tuple[str, ...]:
    """Names of the bits that are set."""
    return tuple(name for bit, name in REASONS.items() if bits & bit)


class Nvml:
    """One device through NVML; everything that the driver does not tell is None."""

    def __init__(self, uuid: str | None) -> None:
        """`uuid` as torch gives it, without prefix; with None, or without NVML, nothing is known."""
        self._handle: Any = None
        try:
            import pynvml
        except ImportError:
            return
        self._nvml: Any = pynvml
        try:
            pynvml.nvmlInit()
            if uuid:
                self._handle = pynvml.nvmlDeviceGetHandleByUUID(f"GPU-{uuid}")
        except pynvml.NVMLError:
            self._handle = None

    def _ask(self, function: str, *arguments: object) -> Any:
        """An NVML function's answer for this device, None where it has none."""
        if self._handle is None:
            return None
        try:
            return getattr(self._nvml, function)(self._handle, *arguments)
        except (AttributeError, self._nvml.NVMLError):
            return None

    def _of(self, function: str, convert: Callable[[Any], Any], *arguments: object) -> Any:
        answer = self._ask(function, *arguments)
        return None if answer is None else convert(answer)

    def driver(self) -> str | None:
        """Driver version."""
        if self._handle is None:
            return None
        try:
            return str(self._nvml.nvmlSystemGetDriverVersion())
        except self._nvml.NVMLError:
            return None

    def gpu(self, *, name: str, memory_bytes: int, capability: tuple[int, int]) -> Gpu:
        """The device as it is set up; name, memory in bytes and compute capability are torch's."""
        sm, memory = (self._nvml.NVML_CLOCK_SM, self._nvml.NVML_CLOCK_MEM) if self._handle else (None, None)
        return Gpu(
            name=name,
            count=1,
            memory_bytes=memory_bytes,
            compute_capability="{}.{}".format(*capability),
            power_limit_watts=self._of("nvmlDeviceGetPowerManagementLimit", lambda mw: mw / 1000),
            max_sm_clock_mhz=self._ask("nvmlDeviceGetMaxClockInfo", sm),
            max_memory_clock_mhz=self._ask("nvmlDeviceGetMaxClockInfo", memory),
            persistence_mode=self._of("nvmlDeviceGetPersistenceMode", bool),
            ecc_enabled=self._of("nvmlDeviceGetEccMode", lambda mode: bool(mode[0])),
            mig_enabled=self._of("nvmlDeviceGetMigMode", lambda mode: bool(mode[0])),
        )

    def readings(self) -> Readings | None:
        """Live state, None where NVML is silent."""
        if self._handle is None:
            return None
        bits = self._ask("nvmlDeviceGetCurrentClocksEventReasons")
        if bits is None:
            bits = self._ask("nvmlDeviceGetCurrentClocksThrottleReasons")
        return Readings(
            sm_clock_mhz=self._ask("nvmlDeviceGetClockInfo", self._nvml.NVML_CLOCK_SM),
            memory_clock_mhz=self._ask("nvmlDeviceGetClockInfo", self._nvml.NVML_CLOCK_MEM),
            temperature_c=self._ask("nvmlDeviceGetTemperature", self._nvml.NVML_TEMPERATURE_GPU),
            power_watts=self._of("nvmlDeviceGetPowerUsage", lambda mw: mw / 1000),
            clock_event_reasons=None if bits is None else clock_event_reasons(int(bits)),
        )
