"""Version files of CUDA's toolkits and of ROCm: dotted numbers as text, `12.4.1`.

Each function of this module raises Unreadable if a file has another form. The forms of CUDA's files are taken from
published examples.
"""

import re

from rackcheck.model.fact import Unreadable
from rackcheck.model.text import json_text
from rackcheck.model.text.values import line

_DOTTED = r"[0-9]{1,9}(?:\.[0-9]{1,9}){1,3}"


def cuda(content: str) -> str:
    """Return the version of the whole toolkit from `version.json`, which also lists the versions of its components."""
    try:
        found = json_text.loaded(content)["cuda"]["version"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise Unreadable(f"no cuda.version: {content[:80]!r}") from error
    if not isinstance(found, str) or not re.fullmatch(_DOTTED, found):
        raise Unreadable(f"not a version of CUDA: {found!r:.80}")
    return found


def old_cuda(content: str) -> str:
    """Return the version from `CUDA Version 10.2.89`, the content of `version.txt` in toolkits before 11.1."""
    match = re.fullmatch(rf"CUDA Version ({_DOTTED})", line(content))
    if match is None:
        raise Unreadable(f"not a version of CUDA: {content[:80]!r}")
    return match[1]


def rocm(content: str) -> str:
    """Return the version from `6.2.4-139`, the content of ROCm's `.info/version`, without the build number."""
    match = re.fullmatch(rf"({_DOTTED})(?:-\w{{1,40}})?", line(content))
    if match is None:
        raise Unreadable(f"not a version of ROCm: {content[:80]!r}")
    return match[1]
