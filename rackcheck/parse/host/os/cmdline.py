"""The kernel's command line, parted into arguments as the kernel parts them; what looks secret is withheld."""

import re
from dataclasses import dataclass

from rackcheck.model.fact import Absent, Reason, Unknown, Unreadable
from rackcheck.model.text.values import line, rows

SECRET = '[^ ="]*(passw|secret|token|credential)[^ ="]*|[^ ="]*key'
"""A name that looks like a secret's, for sed and for us, in any case of its letters."""

WITHHELD = "<withheld>"
"""Replaces a secret."""

_WORD = re.compile(r'(?:"[^"]*"|[^\s"])+')


@dataclass(frozen=True)
class Argument:
    """One argument: its name, its value without quotes, and itself as it may be shown.

    The value is absent for a bare word, and Unknown (denied) where it is withheld.
    """

    name: str
    value: str | Absent | Unknown
    shown: str


def arguments(answer: str) -> tuple[Argument, ...]:
    """Read one line: blanks part arguments, double quotes keep one together; what follows `--` is init's.

    Raises Unreadable where a quote never closes, and on what is not one line.
    """
    if answer.count('"') % 2:
        raise Unreadable("a quote that never closes")
    words = [
        w[1:-1] if w[0] == w[-1] == '"' and w.count('"') == 2 else w
        for w in _WORD.findall(line("\n".join(rows(answer))))
    ]
    return tuple(map(_argument, words[: words.index("--")] if "--" in words else words))


def _argument(word: str) -> Argument:
    name, mark, value = word.partition("=")
    if mark and (value == WITHHELD or re.fullmatch(SECRET, name, re.IGNORECASE)):
        why = Unknown(Reason.DENIED, "withheld: its name looks like a secret's")
        return Argument(name, why, f"{name}={WITHHELD}")
    return Argument(name, value.replace('"', "") if mark else Absent("a bare word"), word)
