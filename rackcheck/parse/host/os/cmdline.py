"""The kernel's command line, split into arguments as the kernel does; values that look secret are withheld."""

import re
from dataclasses import dataclass

from rackcheck.model.fact import Absent, Reason, Unknown, Unreadable
from rackcheck.model.regex import regex
from rackcheck.model.text.values import line, rows

SECRET = '[^ ="]*(passw|secret|token|credential)[^ ="]*|[^ ="]*key'
"""Regular expression for names of secret arguments, used by sed and by this module; letter case is ignored."""

WITHHELD = "<withheld>"
"""Text that replaces a secret value in the kernel's command line."""

_WORD = regex(r'(?:"[^"]*"|[^\s"])+')


@dataclass(frozen=True)
class Argument:
    """One argument: its name, its value without quotes, and the whole argument with a secret value replaced.

    The value is absent if the argument has no value, and Unknown (denied) if the value is withheld.
    """

    name: str
    value: str | Absent | Unknown
    shown: str


def arguments(answer: str) -> tuple[Argument, ...]:
    """Split the command line at blanks outside double quotes; leaves out the arguments after `--`, which are for init.

    Raises Unreadable if a quote in the command line is not closed, and if the answer is not one line.
    """
    if answer.count('"') % 2:
        raise Unreadable("a quote is not closed")
    words = [
        w[1:-1] if w[0] == w[-1] == '"' and w.count('"') == 2 else w
        for w in _WORD.findall(line("\n".join(rows(answer))))
    ]
    return tuple(map(_argument, words[: words.index("--")] if "--" in words else words))


def _argument(word: str) -> Argument:
    name, mark, value = word.partition("=")
    if mark and (value == WITHHELD or re.fullmatch(SECRET, name, re.IGNORECASE)):
        why = Unknown(Reason.DENIED, "withheld: the name suggests a secret")
        return Argument(name, why, f"{name}={WITHHELD}")
    return Argument(name, value.replace('"', "") if mark else Absent("the argument has no value"), word)
