"""The hooks by the real pre-commit, and the steps of the action, in a repository that has contracts; `init` with Pydantic.

The action installs releases from a server on loopback, which also sends wrong ones.
"""

import hashlib
import io
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

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
    """Run the steps of the action. The command is on the path, so nothing is installed."""
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    ran = []
    for step in action["runs"]["steps"]:
        given = {
            name: value.replace("${{ inputs.paths }}", action["inputs"]["paths"]["default"])
            for name, value in step["env"].items()
        }
        if step["name"] == "Install":
            given = {"ACTION": str(ROOT), "VERSION": "", "RELEASES": "", "GITHUB_PATH": str(folder / "path")}
        words = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        ran.append((step["name"], *call(*words, folder=folder, **given)))
    return ran


# What the server sends for a version: a release; one byte changed; cut off, with the length of the whole and with its own;
# and more than any release has. It knows no other version.
RIGHT, ZIPPED, CHANGED, CUT, SHORT, HUGE, MISSING = (f"1.0.{number}" for number in range(7))
LINUX, MACOS = "x86_64-linux", "aarch64-macos.zip"


class Releases(BaseHTTPRequestHandler):
    """Releases as GitHub serves them: by a redirect."""

    program: bytes
    zipped: bytes

    def do_GET(self) -> None:
        """Send a file, or something else in its place."""
        if not self.path.startswith("/files/"):
            self.send_response(302)
            self.send_header("Location", f"/files/{self.path.rsplit('/')[-1]}")
            self.end_headers()
            return
        program = self.program
        sent = {
            f"/files/seamgate-{RIGHT}-{LINUX}": (program, len(program)),
            f"/files/seamgate-{ZIPPED}-{MACOS}": (self.zipped, len(self.zipped)),
            f"/files/seamgate-{CHANGED}-{LINUX}": (program[:-1] + bytes([program[-1] ^ 1]), len(program)),
            f"/files/seamgate-{CUT}-{LINUX}": (program[:-1], len(program)),
            f"/files/seamgate-{SHORT}-{LINUX}": (program[:-1], len(program) - 1),
            f"/files/seamgate-{HUGE}-{LINUX}": (program, 10**10),
        }.get(self.path)
        if sent is None:
            self.send_error(404)
            return
        body, length = sent
        self.send_response(200)
        self.send_header("Content-Length", str(length))
        self.end_headers()
        try:
            self.wfile.write(body)
        except ConnectionError:
            pass  # The client left, as it should.

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@contextmanager
def served() -> Iterator[str]:
    """Serve releases on loopback. Gives their address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Releases) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/releases"
        server.shutdown()


def install(action: Path, releases: str, version: str, machine: str = "Linux-X64") -> tuple[int, str, Path | None]:
    """Run the action's step Install. Gives its exit status, what it printed, and what it put on the path."""
    with_cargo = action / "bin"
    with_cargo.mkdir(exist_ok=True)
    # In place of a build.
    (with_cargo / "cargo").write_text("#!/bin/sh\necho cargo \"$@\"\n")
    (with_cargo / "cargo").chmod(0o755)
    path = action / "path"
    path.write_text("")
    system, processor = machine.split("-")
    step = yaml.safe_load((ROOT / "action.yml").read_text())["runs"]["steps"][0]
    given = {
        "ACTION": str(action),
        "VERSION": version,
        "RELEASES": releases,
        "GITHUB_PATH": str(path),
        "RUNNER_OS": system,
        "RUNNER_ARCH": processor,
        "RUNNER_TEMP": str(action / "temp"),
        "PATH": f"{with_cargo}{os.pathsep}/usr/bin{os.pathsep}/bin",
    }
    words = ["/bin/bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    status, printed = call(*words, folder=action, **given)
    added = path.read_text().strip()
    return status, printed, Path(added) if added else None


def releases() -> None:
    """Install releases that are as their digests say, and others."""
    built = shutil.which("seamgate")
    if built is None:
        sys.exit("seamgate is not on the path: run `cargo xtask build`")
    Releases.program = Path(built).read_bytes()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.write(built, f"seamgate-{ZIPPED}-{MACOS.removesuffix('.zip')}/seamgate")
    Releases.zipped = packed.getvalue()
    digest = hashlib.sha256(Releases.program).hexdigest()
    versions = [CHANGED, CUT, SHORT, HUGE, MISSING, RIGHT]
    digests = [f"{digest}  seamgate-{version}-{LINUX}\n" for version in versions]
    digests.append(f"{hashlib.sha256(Releases.zipped).hexdigest()}  seamgate-{ZIPPED}-{MACOS}\n")

    with tempfile.TemporaryDirectory() as name, served() as address:
        action = Path(name)
        shutil.copytree(ROOT / ".github/action", action / ".github/action")
        known = action / ".github/action/SHA256SUMS"

        known.write_text("")
        status, printed, path = install(action, address, "")
        is_built = status == 0 and "-- build" in printed and path == action / "target/release"
        expect("the action builds the command line if it has no digest", is_built, printed)
        known.write_text("".join(digests))
        status, printed, path = install(action, address, "source")
        is_built = status == 0 and "-- build" in printed and path == action / "target/release"
        expect("the action builds the command line if it is told to", is_built, printed)

        for version in ("", RIGHT, f"v{RIGHT}"):
            start = time.monotonic()
            status, printed, path = install(action, address, version)
            took = time.monotonic() - start
            is_installed = status == 0 and path is not None and "cargo" not in printed
            expect(f"the action installs the version '{version}', in {took:.1f} s", is_installed, printed)
            status, printed = call(f"{path}/seamgate", "--version", folder=action)
            expect("the command line runs", status == 0 and printed.startswith("seamgate "), printed)
        status, printed, path = install(action, address, "", "macOS-ARM64")
        is_installed = path is not None and os.access(path / "seamgate", os.X_OK)
        expect("the action unpacks the command line for macOS", status == 0 and is_installed, printed)

        for version, why in (
            (CHANGED, "and the action expects"),
            (SHORT, "and the action expects"),
            (CUT, "cannot download"),
            (HUGE, "cannot download"),
            (MISSING, "cannot download"),
            ("9.9.9", "has no digest of seamgate 9.9.9"),
            ("1.0", "has no digest of seamgate 1.0"),
            ("$(id)", "is no version"),
        ):
            shutil.rmtree(action / "temp")
            status, printed, path = install(action, address, version)
            left = [file for file in action.glob("temp/**/*") if file.name == "seamgate"]
            is_refused = status == 1 and path is None and not left and why in printed and "::error" in printed
            expect(f"the action refuses the version {version}", is_refused and "cargo" not in printed, printed)
            (action / "temp").mkdir(exist_ok=True)
        known.write_text("".join(digests[:-2]))
        status, printed, path = install(action, address, RIGHT)
        is_refused = status == 1 and path is None and f"no digest of seamgate {RIGHT}" in printed
        expect("the action refuses a version without a digest", is_refused, printed)


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
    releases()
    main()
