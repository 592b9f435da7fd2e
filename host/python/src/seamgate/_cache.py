"""A cache of compiled components, in a folder of the user that nobody else can access.

Loading machine code means trusting it. Therefore a file is loaded only if it is regular, if it and its folder belong to
this user and are writable by nobody else, and if its checksum matches. Any other file is ignored with a log message,
and the component is compiled again.
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

# The most files in the cache. The least recently used are removed first.
_KEPT = 16

# Marks the end of the code in a file. The checksum of the code and of the file's key follows.
_MARK = b"seamgate-01\n"


class _Unfit(Exception):
    """The reason why a file is not loaded."""


def folder() -> Path | None:
    """Returns `seamgate` in the user's cache folder, or None if the system has no owners of files."""
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
    """Loads the file of a key with the given function. Returns None if there is no trustworthy file."""
    inside = folder()
    if inside is None:
        return None
    path = inside / f"{key}.cwasm"
    try:
        _private(inside)
        # Links are not followed.
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
    # Marks the file as recently used. If the time cannot be set, the file is only removed earlier.
    with contextlib.suppress(OSError):
        os.utime(path)
    return made


def keep(key: str, code: bytes | bytearray) -> None:
    """Caches the code of a component. A failure is only logged: the next start compiles again."""
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
    # Atomic, even if several processes write at once.
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
    """Returns the status of a path. Raises `_Unfit` if another user could have written it."""
    status = path.lstat()
    own = sys.platform != "win32" and status.st_uid == os.geteuid()
    if not own or status.st_mode & 0o022 or stat.S_ISLNK(status.st_mode):
        raise _Unfit(f"{path} is not this user's alone")
    return status
