"""What judges in this process: the native module where there is one, and the package `wasmtime` where not."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from ._engine import Engine
    from ._limits import Limits

backend: Literal["native", "wasmtime"]
"""`native`: the module inside this package. `wasmtime`: the package, on platforms without a native wheel."""

try:
    importlib.import_module("seamgate._native")

    backend = "native"
except ModuleNotFoundError as missing:
    # The wheel for all platforms has none. What a native one raises otherwise is an error.
    if missing.name != "seamgate._native":
        raise
    backend = "wasmtime"


def engine(component: bytes | None, limits: Limits, cache: bool) -> Engine:
    """What judges by a component, or by the built-in one.

    Raises:
        LoadError: It is none, or does not answer.
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
