"""Whether the files of an audit are readable: a cheap shell command, and how to read its output; pure."""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence

from rackcheck.model.capture import Output
from rackcheck.model.fact import Reason, Unknown, clean
from rackcheck.model.refusal import LATE
from rackcheck.model.text import covers

CAP = 1 << 17
"""The most bytes of the output: at most one line for each glob."""

ASKED = 500
"""The most globs of one command: the whole of it is one argument of a shell, which is bounded (128 KiB on Linux)."""

END = "looked at all"

# Prints each glob's first file that exists and is not readable; no file is opened. A file in a folder that may not
# be entered looks as if it were missing, so the folder is tried too.
_LOOK = (
    'l() { for f; do [ -r "$f" ] && continue; [ -e "$f" ] || { d=${f%/*}; [ -d "$d" ] && [ ! -x "$d" ]; } || continue; '
    'echo "unreadable $f"; break; done; }'
)


def questions(globs: Sequence[str]) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield the commands, each with its globs."""
    for first in range(0, len(globs), ASKED):
        some = globs[first : first + ASKED]
        yield f"{_LOOK}; {'; '.join(f'l {quoted(glob)}' for glob in some)}; echo '{END}'", some


def refused(answer: Output | Unknown, globs: Sequence[str]) -> Mapping[str, str] | Unknown:
    """Return the files that are not readable, each with its glob; Unknown if that could not be found out."""
    if isinstance(answer, Unknown):
        return answer
    if f"\n{END}\n" not in f"\n{answer.out}":
        reason = Reason.TIMEOUT if answer.status in LATE else Reason.NOT_COLLECTED
        return Unknown(reason, clean(f"the look at the files to be read did not end: {answer.err}"))
    found: dict[str, str] = {}
    for file in re.findall(r"^unreadable (/.*)$", answer.out, re.MULTILINE)[: len(globs)]:
        glob = next((glob for glob in globs if glob == file or covers(glob, file)), None)
        if glob is not None:
            found[clean(file)] = glob
    return found


def quoted(glob: str) -> str:
    """Quote everything but the wildcards of a glob."""
    parts = re.split(r"(\*|\?|\[[0-9A-Za-z-]+\])", glob)
    return "".join(part if index % 2 else shlex.quote(part) if part else "" for index, part in enumerate(parts))
