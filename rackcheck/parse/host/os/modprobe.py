"""Lines of modprobe.d(5) and modules-load.d(5): modules' parameters, modules to load, modules that must not load.

    options nvidia NVreg_EnableGpuFirmware=1
    blacklist nouveau
    install cramfs /bin/false

The functions of this module expect rows without comments, and without blanks at the beginning and the end.
"""

import re
from collections.abc import Iterable

from rackcheck.model.regex import regex
from rackcheck.model.text.values import unquoted

_WORD = regex(r'(?:[^\s"]|"[^"]*")+')
_LONGEST = 4000
"""Maximum number of characters that are read of one line of modprobe.d."""
_NOTHING = regex(r"(?:/usr)?/bin/(?:false|true)")


def options(rows: Iterable[str], modules: re.Pattern[str]) -> dict[str, str]:
    """Return the options of the modules whose whole name matches the pattern `modules`, by `module.parameter`.

    If an option is repeated, the last one counts. A module's name is spelled with underscores, as the kernel does, also
    if the line has dashes. Leaves out lines that do not begin with `options`.
    """
    given: dict[str, str] = {}
    for row in rows:
        words = _WORD.findall(row[:_LONGEST])
        module = words[1].replace("-", "_") if len(words) > 2 and words[0] == "options" else ""
        if modules.fullmatch(module):
            pairs = (word.partition("=") for word in words[2:])
            given |= {f"{module}.{name}": value for name, _, value in pairs if re.fullmatch(r"\w{1,80}", name)}
    return {name: unquoted(value) for name, value in given.items()}


def autoload(rows: Iterable[str]) -> tuple[str, ...]:
    """Return the modules in lines of modules-load.d(5), as the kernel spells them; `;` begins a comment line."""
    return _spelt(words[0] for row in rows if (words := row.split()) and not row.startswith(";"))


def blacklisted(rows: Iterable[str]) -> tuple[str, ...]:
    """Return the modules that `blacklist` prevents from loading automatically, as the kernel spells them."""
    orders = (row.split() for row in rows)
    return _spelt(words[1] for words in orders if words[:1] == ["blacklist"] and len(words) > 1)


def forbidden(rows: Iterable[str]) -> tuple[str, ...]:
    """Return the modules for which `install` runs /bin/false or /bin/true instead of loading them.

    The modules' names are spelled with underscores, as the kernel does.
    """
    orders = (row.split() for row in rows)
    installs = (words for words in orders if words[:1] == ["install"] and len(words) > 2)
    return _spelt(words[1] for words in installs if _NOTHING.fullmatch(words[2]))


def _spelt(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted({name.replace("-", "_") for name in names}))
