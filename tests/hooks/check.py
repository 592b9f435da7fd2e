"""The hooks by the real pre-commit, and the steps of the action, in a repository that has contracts; `init` with Pydantic."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
HOOKS = ["seamgate-lint", "seamgate-test"]


def call(*words: str, folder: Path, **more: str) -> tuple[int, str]:
    """Run a program. Gives its exit status and what it printed."""
    environment = {**os.environ, **more}
    done = subprocess.run(words, cwd=folder, env=environment, text=True, capture_output=True, check=False)
    return done.returncode, done.stdout + done.stderr


def expect(what: str, is_as_expected: bool, printed: str) -> None:
    """End with what was printed, where something is otherwise."""
    if not is_as_expected:
        sys.exit(f"{what}:\n{printed}")
    print(f"as expected: {what}")


def hook(name: str, folder: Path) -> tuple[int, str]:
    """Run one hook of this repository as it stands, committed or not."""
    call("git", "add", "--all", folder=folder)
    run = [sys.executable, "-m", "pre_commit", "try-repo", str(ROOT), name, "--verbose", "--all-files"]
    return call(*run, folder=folder)


def steps(folder: Path) -> list[tuple[str, int, str]]:
    """Run the steps of the action, but for the build."""
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    ran = []
    for step in action["runs"]["steps"]:
        given = {
            name: value.replace("${{ inputs.paths }}", action["inputs"]["paths"]["default"])
            for name, value in step["env"].items()
        }
        if step["name"] == "Build":
            # The command is on the path, so nothing is built.
            given = {"ACTION": str(folder), "GITHUB_PATH": str(folder / "path")}
        words = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        ran.append((step["name"], *call(*words, folder=folder, **given)))
    return ran


MODELS = '''
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

print("what a module prints is no schema")


class Line(BaseModel):
    model_config = ConfigDict(extra="forbid")
    sku: str = Field(pattern=r"^[A-Z]-\\d{3}$", description="The article")
    count: int = Field(ge=1, le=10, description="How many")


class OrderForm(BaseModel):
    """An order."""

    model_config = ConfigDict(extra="forbid")
    status: Literal["open", "paid"] = Field(description="How far it is")
    lines: list[Line] = Field(min_length=2, max_length=9, description="What is ordered")


Lines = Annotated[list[Line], Field(min_length=1, max_length=9)]
'''


def pydantic() -> None:
    """Make contracts from models, and hold them to the examples that come with them."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "models.py").write_text(MODELS)
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        for model, agent in (("OrderForm", "order-form"), ("Lines", "lines")):
            status, printed = call("seamgate", "init", "--pydantic", f"models:{model}", folder=folder, PATH=path)
            is_made = status == 0 and f"made {agent}.examples/good.txt" in printed
            expect(f"init makes a contract and an example of the model {model}", is_made, printed)
            status, printed = call("seamgate", "test", f"{agent}.contract.json", folder=folder)
            expect("the example passes", status == 0, printed)
        status, printed = call("seamgate", "init", "--pydantic", "models:Nothing", folder=folder, PATH=path)
        expect("a model that is not there is named", status == 2 and "models has no Nothing" in printed, printed)


def main() -> None:
    """Make a repository, run everything once, break its contract, and run everything again."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        call("git", "init", "--quiet", folder=folder)
        status, printed = call("seamgate", "init", folder=folder)
        expect("init makes a contract", status == 0, printed)
        for each in HOOKS:
            status, printed = hook(each, folder)
            expect(f"{each} passes", status == 0 and "Passed" in printed, printed)
        for step, status, printed in steps(folder):
            expect(f"the action's step {step} passes", status == 0, printed)

        schema = folder / "order.schema.json"
        schema.write_text(schema.read_text().replace('"minimum": 1', '"minimum": 3'))
        status, printed = hook("seamgate-test", folder)
        is_failed = status == 1 and "Failed" in printed and "good.txt" in printed
        expect("seamgate-test fails where a verdict changes", is_failed, printed)
        (folder / "order.contract.json").write_text('{"agent": "order", "schemas": "order.schema.json"}\n')
        status, printed = hook("seamgate-lint", folder)
        is_failed = status == 1 and "Failed" in printed and "schemas" in printed
        expect("seamgate-lint fails where a contract is wrong", is_failed, printed)
        _, lint, test = steps(folder)
        is_failed = lint[1] != 0 and "::error file=order.contract.json" in lint[2]
        expect("the action's step Lint fails, and marks the file", is_failed, lint[2])
        is_failed = test[1] != 0 and "::error file=order.contract.json" in test[2]
        expect("the action's step Test fails, and marks the file", is_failed, test[2])


if __name__ == "__main__":
    pydantic()
    main()
