"""Chooses the backend of this process: the native module if there is one, and the package `wasmtime` otherwise."""

from __future__ import annotations

# As in the package's `__init__`.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    from ._engine import Engine
    from ._limits import Limits

backend: Literal["native", "wasmtime"]
"""The backend: `native`, the module inside this package; or `wasmtime`, the package of this name, on platforms without
a native wheel."""

try:
    import seamgate._native  # noqa: F401

    backend = "native"
except ModuleNotFoundError as missing:
    # The wheel for all platforms has no native module. Any other failed import is an error.
    if missing.name != "seamgate._native":
        raise
    backend = "wasmtime"


def engine(component: bytes | None, limits: Limits, cache: bool) -> Engine:
    """Returns an engine for a component, or for the built-in one.

    Raises:
        LoadError: The component is invalid or does not answer.
        ImportError: There is neither a native module nor the package `wasmtime`.
    """
    if backend == "native":
        from ._native_engine import NativeEngine

        return NativeEngine(component, limits, cache)
    try:
        from ._wasmtime_engine import WasmtimeEngine
    except ModuleNotFoundError as missing:
        if missing.name != "wasmtime":
            raise
        message = "seamgate has no native wheel for this platform, and needs wasmtime: pip install 'wasmtime>=50,<51'"
        raise ImportError(message) from missing
    return WasmtimeEngine(component, limits, cache)
