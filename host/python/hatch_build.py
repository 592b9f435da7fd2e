"""Puts the component into the wheel. It is built from the guest, and not in the repository."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class PutInComponent(BuildHookInterface):  # type: ignore[type-arg]
    """The build's hook."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Says where the component is, before the wheel is made."""
        component = Path(self.root, "../component/harness.wasm").resolve()
        if not component.is_file():
            raise FileNotFoundError(f"{component} is not there: run `cargo xtask build`, which makes the component")
        build_data["force_include"][str(component)] = "seamgate/harness.wasm"
