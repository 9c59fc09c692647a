"""Triton's interpreter, completed where it stops short of running Liger's kernels on a CPU.

Three things are missing as it stands. A compiled kernel receives a Python float as a float32 scalar; the
interpreter wraps bools, ints and tensors on their way into a kernel but hands floats over as they are, so
`eps.to(...)` fails. Functions of libdevice have no body outside of a compiled kernel: they return None. And
an autotuned kernel wants a GPU to time its configurations on. `enable` adds the missing case to the function
that wraps arguments, gives libdevice the bodies that Liger's kernels call, and takes the first configuration.
"""

from __future__ import annotations

import os
from typing import Any

VARIABLE = "TRITON_INTERPRET"


def enable() -> None:
    """Complete the interpreter. Call it before liger_kernel is imported, which binds libdevice's functions.

    Raises RuntimeError when TRITON_INTERPRET=1 is not set (triton reads it at import), or when triton no
    longer has the function that is extended here. Calling it twice changes nothing.
    """
    if os.environ.get(VARIABLE) != "1":
        raise RuntimeError(f"set {VARIABLE}=1 before triton is imported")
    from triton.runtime import interpreter

    wrap = getattr(interpreter, "_implicit_cvt", None)
    if wrap is None:
        raise RuntimeError("this triton's interpreter wraps kernel arguments in a way that is not known here")
    if not getattr(wrap, "takes_floats", False):
        interpreter._implicit_cvt = _with_floats(wrap)  # noqa: SLF001 - the one place where arguments are wrapped
        _fill_libdevice()
        _take_first_configuration()


def _with_floats(wrap: Any) -> Any:
    """The wrapping function, with a float32 scalar for a float."""
    import numpy as np
    import triton.language as tl
    from triton.runtime.interpreter import TensorHandle

    def takes_floats(arg: Any) -> Any:
        if isinstance(arg, float):
            return tl.tensor(TensorHandle(np.array([arg], dtype=np.float32), tl.float32), tl.float32)
        return wrap(arg)

    takes_floats.takes_floats = True  # type: ignore[attr-defined]
    return takes_floats


def _fill_libdevice() -> None:
    """Bodies for `rsqrt` and `tanh` of a float tensor, in both places that they are imported from."""
    import numpy as np
    import triton.language as tl
    from triton.language.extra import libdevice
    from triton.language.extra.cuda import libdevice as cuda_libdevice
    from triton.runtime.interpreter import TensorHandle

    def elementwise(compute: Any) -> Any:
        def call(arg0: Any) -> Any:
            data = compute(arg0.handle.data).astype(arg0.handle.data.dtype)
            return tl.tensor(TensorHandle(data, arg0.dtype), arg0.type)

        return call

    bodies = {"rsqrt": lambda data: 1 / np.sqrt(data), "tanh": np.tanh}
    for module in (libdevice, cuda_libdevice):
        for name, compute in bodies.items():
            setattr(module, name, elementwise(compute))


def _take_first_configuration() -> None:
    """All configurations of an autotuned kernel are equally fast; the first is kept."""
    from triton.runtime.autotuner import Autotuner

    Autotuner._bench = lambda *_arguments, **_options: [1.0, 1.0, 1.0]  # noqa: SLF001 - what times one of them
