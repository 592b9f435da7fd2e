"""Makes two wheels of one source: the native one, and the one for all platforms.

`SEAMGATE_NATIVE` is the path of the native module, and `SEAMGATE_TAG` says on which platforms it runs. Without them,
the component is put in, which is built from the guest, and not in the repository.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

# The major version is pinned: the fuel that an instruction costs changes between them.
WASMTIME = "wasmtime>=50,<51"

# The platforms that have a native wheel, as `sys.platform` and `platform.machine()` name them.
NATIVE_PLATFORMS = [
    ("linux", "x86_64"),
    ("linux", "aarch64"),
    ("darwin", "arm64"),
    ("darwin", "x86_64"),
    ("win32", "AMD64"),
]

# Where a native wheel cannot be. A lock file for all platforms may take this from the native wheel.
ELSEWHERE = " and ".join(
    f"(sys_platform != '{system}' or platform_machine != '{machine}' or implementation_name != 'cpython')"
    for system, machine in NATIVE_PLATFORMS
)

NATIVE = os.environ.get("SEAMGATE_NATIVE")


class PutInside(BuildHookInterface):  # type: ignore[type-arg]
    """Returns the files in the wheel other than the sources."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Says what it is and where, before the wheel is made."""
        inside = build_data["force_include"]
        if NATIVE is None:
            component = Path(self.root, "../component/harness.wasm").resolve()
            if not component.is_file():
                raise FileNotFoundError(f"{component} is not there: run `cargo xtask build`, which makes the component")
            inside[str(component)] = "seamgate/harness.wasm"
        else:
            # The ending that Python looks for: on Windows, it names no stable interface.
            ending = "pyd" if NATIVE.endswith(".dll") else "abi3.so"
            inside[NATIVE] = f"seamgate/_native.{ending}"
            build_data["pure_python"] = False
            build_data["tag"] = os.environ["SEAMGATE_TAG"]
        for name in ("THIRD-PARTY-NOTICES.txt", "seamgate.cdx.json"):
            folder = os.environ.get("SEAMGATE_INSIDE")
            if folder is not None:
                inside[str(Path(folder, name))] = f"seamgate/{name}"


class Dependencies(MetadataHookInterface):
    """Returns the dependencies of the wheel."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Says it."""
        metadata["dependencies"] = [WASMTIME if NATIVE is None else f"{WASMTIME} ; {ELSEWHERE}"]
