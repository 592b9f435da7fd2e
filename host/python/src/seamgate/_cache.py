"""Machine code that was made of a component, kept for the next time: in the user's own folder, private to them.

Loading machine code is trusting it. So nothing is loaded but a regular file that belongs to this user, in a folder
that belongs to this user, neither writable by anyone else, whose content is what was written. Everything else is passed
over, said, and made anew.
"""

from __future__ import annotations

import contextlib
import logging
import os
import stat
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

_LOG = logging.getLogger("seamgate")

# Files that are kept; those used least lately go first.
_KEPT = 16

# The mark at the end of a file. After it comes the checksum of what is before it and of the file's key.
_MARK = b"seamgate-01\n"


class _Unfit(Exception):
    """Why a file is not loaded."""


def folder() -> Path | None:
    """`seamgate` in the user's cache folder. None where the system cannot say whose a file is."""
    if sys.platform == "win32":
        return None
    if sys.platform == "darwin":
        return _home("Library/Caches")
    cache = os.environ.get("XDG_CACHE_HOME", "")
    return Path(cache, "seamgate") if Path(cache).is_absolute() else _home(".cache")


def _home(below: str) -> Path | None:
    try:
        return Path.home() / below / "seamgate"
    except RuntimeError:
        return None


def load(key: str, load_file: Callable[[Path], T]) -> T | None:
    """What was kept under a key, by the function that makes it of a file; None where nothing fit is there."""
    inside = folder()
    if inside is None:
        return None
    path = inside / f"{key}.cwasm"
    try:
        _private(inside)
        # A link is somebody's word for where a file is: not followed.
        if not stat.S_ISREG(_private(path).st_mode):
            raise _Unfit(f"{path} is no file")
        if not _is_whole(path, key):
            raise _Unfit("the file is damaged")
        made = load_file(path)
    except FileNotFoundError:
        return None
    except Exception as error:
        _LOG.warning("the code made before is not used, and made anew: %s: %s", path, error)
        return None
    # Used lately. Where the time cannot be set, it goes earlier.
    with contextlib.suppress(OSError):
        os.utime(path)
    return made


def keep(key: str, code: bytes | bytearray) -> None:
    """Keep the code of a component. What goes wrong is said, and costs the next start time, nothing else."""
    inside = folder()
    if inside is None:
        return
    path = inside / f"{key}.cwasm"
    try:
        inside.mkdir(mode=0o700, parents=True, exist_ok=True)
        _private(inside)
        _write(path, code, key)
        _remove_old(inside)
    except (OSError, _Unfit) as error:
        _LOG.warning("the component's code cannot be kept for the next time: %s: %s", path, error)


def _write(path: Path, code: bytes | bytearray, key: str) -> None:
    # Whole or not at all, however many processes do this at once.
    part = path.with_suffix(f".part-{os.getpid()}")
    part.unlink(missing_ok=True)
    try:
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(code)
            file.write(_MARK + _checksum(code, key))
            file.flush()
            os.fsync(file.fileno())
        part.rename(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _remove_old(inside: Path) -> None:
    files = sorted(inside.iterdir(), key=lambda path: path.lstat().st_mtime, reverse=True)
    for path in files[_KEPT:]:
        path.unlink()


def _is_whole(path: Path, key: str) -> bool:
    content = memoryview(path.read_bytes())
    end = len(content) - len(_MARK) - 4
    return end > 0 and content[end:] == _MARK + _checksum(content[:end], key)


def _checksum(code: bytes | bytearray | memoryview, key: str) -> bytes:
    return zlib.crc32(key.encode(), zlib.crc32(code)).to_bytes(4, "little")


def _private(path: Path) -> os.stat_result:
    """Refuse what others could have written."""
    status = path.lstat()
    own = sys.platform != "win32" and status.st_uid == os.geteuid()
    if not own or status.st_mode & 0o022 or stat.S_ISLNK(status.st_mode):
        raise _Unfit(f"{path} is not this user's alone")
    return status
