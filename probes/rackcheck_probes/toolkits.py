"""Which CUDA toolkits and which ROCm are installed on the node itself."""

import json
import re
from collections.abc import Callable

from rackcheck import Facts, Files, Read, Unreadable, collection, probe, spell_key, version
from rackcheck.core import read

CUDA, OLD_CUDA = "/usr/local/{}/version.json", "/usr/local/{}/version.txt"
ROCM = "/opt/{}/.info/version"
DOTTED = r"[0-9]{1,9}(?:\.[0-9]{1,9}){1,3}"


def cuda(content: str) -> str:
    """Read the version of the whole toolkit; those of its parts differ."""
    try:
        found = json.loads(content)["cuda"]["version"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise Unreadable(f"no cuda.version: {content[:80]!r}") from error
    if not isinstance(found, str) or not re.fullmatch(DOTTED, found):
        raise Unreadable(f"not a version of CUDA: {found!r:.80}")
    return found


def old_cuda(content: str) -> str:
    """Read `CUDA Version 10.2.89`, as toolkits before 11.1 have it."""
    match = re.fullmatch(rf"CUDA Version ({DOTTED})", read.line(content))
    if match is None:
        raise Unreadable(f"not a version of CUDA: {content[:80]!r}")
    return match[1]


def rocm(content: str) -> str:
    """Read `6.2.4-139`, or without the number of the build."""
    match = re.fullmatch(rf"({DOTTED})(?:-\w{{1,40}})?", read.line(content))
    if match is None:
        raise Unreadable(f"not a version of ROCm: {content[:80]!r}")
    return match[1]


PLACES: tuple[tuple[str, str, str, Callable[[str], str]], ...] = (
    ("os.cuda", OLD_CUDA, "cuda*", old_cuda),
    ("os.cuda", CUDA, "cuda*", cuda),
    ("os.rocm", ROCM, "rocm*", rocm),
)


# CUDA's file as others quote it from their machines; ROCm's is unverified on hardware.
@probe(
    Read(*(place.format(folder) for _, place, folder, _ in PLACES)),
    gives={
        "os.cuda": collection("CUDA toolkits by their folder in /usr/local; `cuda` is what programs find by default."),
        "os.cuda/*.version": version("dotted", "The toolkit's version."),
        "os.rocm": collection("ROCm by its folder in /opt; `rocm` is what programs find by default."),
        "os.rocm/*.version": version("dotted", "ROCm's version, without the number of the build."),
    },
)
def toolkits(files: Files) -> Facts:
    """Read each folder's file of its version."""
    for item, place, folder, reader in PLACES:
        for (rest,) in files.found(place.format(folder)):
            name = folder.replace("*", rest)
            yield f"{item}/{spell_key(name)}.version", files.read(place.format(name), reader)
