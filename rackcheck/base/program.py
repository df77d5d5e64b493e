"""A digest of the program that runs, by which files that can be made again are kept.

What one version of the program has written is never read by another version: the digest covers the content of all files
of its packages, Python, and the constants of NVML, which are a part of the question to a node.
"""

import hashlib
import os
import sys
import time
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec

PROBES = "rackcheck_probes"
"""The package with the probes of rackcheck, which is found and never imported by name."""


def _started() -> float:
    """Return the time when this process began; on a busy machine, that is long before its first second of CPU time."""
    try:
        with open("/proc/self/stat", encoding="ascii", errors="replace") as file:  # noqa: PTH123  before pathlib is needed
            ticks = int(file.read().rpartition(")")[2].split()[19])
        return time.time() - time.clock_gettime(time.CLOCK_BOOTTIME) + ticks / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError, AttributeError):  # not Linux
        return time.time() - time.process_time()


STARTED = _started() - 2
"""A time shortly before this process began to load the program."""


@cache
def digest() -> str:
    """Return a digest of the program: all files of its packages, Python, and the constants of NVML.

    Return an empty text if the program is not in folders, cannot be read, or was changed after this process started:
    the files are then not the code that runs.

    The content is read, which takes about 15 ms, and not the times of the files: container images and read-only file
    systems often have the same times, sizes and inode numbers for different contents.
    """
    whole = hashlib.blake2b(sys.version.encode(), digest_size=24)
    try:
        for package in ("rackcheck", PROBES):
            for path in _files(package):
                whole.update(_content(path))
        nvml = find_spec("pynvml")
        whole.update(_content(nvml.origin) if nvml is not None and nvml.origin is not None else b"")
    except (OSError, ValueError, ImportError):
        return ""
    return whole.hexdigest()


def changed(path: str) -> bool:
    """Whether a file of the program was changed after this process started, or is gone."""
    try:
        return os.stat(path).st_ctime > STARTED  # noqa: PTH116  a Path for each file doubles the time
    except OSError:
        return True


def _files(package: str) -> list[str]:
    """Return all files of a package, except compiled ones; raises OSError if it has none."""
    module = sys.modules.get(package)
    spec = find_spec(package) if module is None else None
    places = list(getattr(module, "__path__", ()) if spec is None else spec.submodule_search_locations or ())
    found = [path for place in places for path in _below(place)]
    if not found:
        raise FileNotFoundError(package)
    return found


def _below(folder: str) -> Iterator[str]:
    """Yield the files in a folder, in a fixed order; a link to a folder raises OSError, because it could be a loop."""
    with os.scandir(folder) as listing:
        entries = sorted(listing, key=lambda entry: entry.name)
    for entry in entries:
        if not entry.is_dir(follow_symlinks=False):
            yield entry.path
        elif entry.name != "__pycache__":
            yield from _below(entry.path)


def _content(path: str) -> bytes:
    """Return the name and the content of a file; raises OSError if it is newer than this process, or not a file."""
    opened = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        about = os.fstat(opened)
        if about.st_ctime > STARTED:
            raise OSError(f"{path} was changed")
        data = os.read(opened, about.st_size + 1)
        if len(data) != about.st_size:
            raise OSError(f"{path} has another size")
    finally:
        os.close(opened)
    return f"{path}\0{len(data)}\0".encode() + data
