"""What the kernel was started with."""

import re

from rackcheck import (
    Absent,
    Facts,
    Reason,
    Shell,
    Unknown,
    Unreadable,
    collection,
    flag,
    listing,
    probe,
    setting,
    spell_key,
)
from rackcheck.core import read

SECRET = '[^ ="]*(passw|secret|token|credential)[^ ="]*|[^ ="]*key'
WITHHELD = "<withheld>"
WORD = re.compile(r'(?:"[^"]*"|[^\s"])+')


# The node takes the secrets out, so that no capture ever holds them.
@probe(
    Shell(
        f"""sed -E 's/"({SECRET})=[^"]*"/\\1={WITHHELD}/Ig; """
        f"""s/({SECRET})=("[^"]*"|[^ ]*)/\\1={WITHHELD}/Ig' /proc/cmdline""",
        quick=True,
    ),
    gives={
        "cmdline.arguments": listing(
            "Every argument of the kernel's command line, in order; what looks secret is withheld."
        ),
        "cmdline.argument": collection(
            "The kernel's arguments by name; what stands after `--` is init's, not the kernel's."
        ),
        "cmdline.argument/*.value": setting(
            "The argument's value, the last one where it is repeated; absent for a bare word."
        ),
        "cmdline.argument/*.present": flag("True: the argument was given, with or without a value."),
    },
)
def cmdline(answer: str) -> Facts:
    """Read the arguments as the kernel parts them; of a repeated one the last value counts.

    Blanks part arguments, double quotes keep one together; a bare word is present and has no value.
    """
    if answer.count('"') % 2:
        raise Unreadable("a quote that never closes")
    words = [
        w[1:-1] if w[0] == w[-1] == '"' and w.count('"') == 2 else w
        for w in WORD.findall(read.line("\n".join(read.rows(answer))))
    ]
    words = words[: words.index("--")] if "--" in words else words
    shown: list[str] = []
    values: dict[str, str | Absent | Unknown] = {}
    for word in words:
        name, mark, value = word.partition("=")
        secret = mark and (value == WITHHELD or re.fullmatch(SECRET, name, re.IGNORECASE))
        shown.append(f"{name}={WITHHELD}" if secret else word)
        given = value.replace('"', "") if mark else Absent("a bare word")
        values[name] = Unknown(Reason.DENIED, "withheld: its name looks like a secret's") if secret else given
    yield "cmdline.arguments", tuple(shown)
    for name, reading in values.items():
        if name:
            yield f"cmdline.argument/{spell_key(name)}.value", reading
            yield f"cmdline.argument/{spell_key(name)}.present", True
