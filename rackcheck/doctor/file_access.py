"""Checks whether the files of an audit are readable: a cheap shell command, and a parser of its output; pure."""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence

from rackcheck.model.capture import Output
from rackcheck.model.fact import Reason, Unknown, clean
from rackcheck.model.refusal import LATE
from rackcheck.model.text import covers

CAP = 1 << 17
"""Maximum size of the output, in bytes: at most one line for each glob."""

CHECKED = 500
"""Maximum number of globs in one command: the command is one shell argument, limited to 128 KiB on Linux."""

END = "looked at all"

# Prints, for each glob, the first file that exists and is not readable; no file is opened. A file in a folder that may
# not be entered appears missing, so the folder is tested too.
_LOOK = (
    'l() { for f; do [ -r "$f" ] && continue; [ -e "$f" ] || { d=${f%/*}; [ -d "$d" ] && [ ! -x "$d" ]; } || continue; '
    'echo "unreadable $f"; break; done; }'
)


def questions(globs: Sequence[str]) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield the shell commands that check whether files are readable, each with the globs of its files."""
    for first in range(0, len(globs), CHECKED):
        some = globs[first : first + CHECKED]
        yield f"{_LOOK}; {'; '.join(f'l {quoted(glob)}' for glob in some)}; echo '{END}'", some


def refused(answer: Output | Unknown, globs: Sequence[str]) -> Mapping[str, str] | Unknown:
    """Return the unreadable files, each with its glob; Unknown if the check did not finish."""
    if isinstance(answer, Unknown):
        return answer
    if f"\n{END}\n" not in f"\n{answer.out}":
        reason = Reason.TIMEOUT if answer.status in LATE else Reason.NOT_COLLECTED
        return Unknown(reason, clean(f"the check of readable files did not finish: {answer.err}"))
    found: dict[str, str] = {}
    for file in re.findall(r"^unreadable (/.*)$", answer.out, re.MULTILINE)[: len(globs)]:
        glob = next((glob for glob in globs if glob == file or covers(glob, file)), None)
        if glob is not None:
            found[clean(file)] = glob
    return found


def quoted(glob: str) -> str:
    """Quote everything in a glob except its wildcards."""
    parts = re.split(r"(\*|\?|\[[0-9A-Za-z-]+\])", glob)
    return "".join(part if index % 2 else shlex.quote(part) if part else "" for index, part in enumerate(parts))
