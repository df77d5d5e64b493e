"""The sudoers list for a login: exactly the commands that probes declare as root commands."""

import re
from collections.abc import Iterable, Sequence

from rackcheck.base.user_error import UserError
from rackcheck.model.fact import clean
from rackcheck.model.question import Shell
from rackcheck.model.regex import regex
from rackcheck.probe.contract import AnyProbe

PLACES = ("/usr/bin", "/bin", "/usr/sbin", "/sbin")
"""Folders in which a node may have a program: sudo matches a command by its full path."""

ALIAS = "RACKCHECK"

_HEAD = """\
# Commands that rackcheck may run as root: read-only, with exactly these arguments.
# Made by `rackcheck doctor --sudoers`; check it with visudo -cf FILE, install it as
# /etc/sudoers.d/rackcheck, owner root, mode 0440. Make it again when probes are added.
"""


_NAME = regex(r"%?[A-Za-z_][A-Za-z0-9_.-]*(?:[@\\][A-Za-z0-9_][A-Za-z0-9_.-]*)?\$?")
"""Pattern of a user or a %group, also with a domain: `user@DOM.LAN`, `ad\\user`."""

_ALIAS = regex(r"[A-Z][A-Z0-9_]*")
"""Pattern of a sudo user alias; ALL is an alias that matches all users (sudoers(5), User_List)."""

LONGEST = 255


def root_probes(probes: Iterable[AnyProbe]) -> tuple[AnyProbe, ...]:
    """Return the probes whose question needs root."""
    return tuple(probe for probe in probes if isinstance(probe.ask, Shell) and probe.ask.root)


def commands(probes: Iterable[AnyProbe]) -> tuple[str, ...]:
    """Return the commands that these probes run as root, in order and without duplicates."""
    asks = (probe.ask for probe in root_probes(probes))
    return tuple(sorted({command for ask in asks if isinstance(ask, Shell) for command in ask.named}))


def text(listed: Sequence[str], user: str) -> str:
    """Format the list for a user or a %group; raises UserError if the name is invalid."""
    if len(user) > LONGEST or _NAME.fullmatch(user) is None:
        raise UserError(f"not a name of a user or a %group: {clean(user, 80)!r}; write the name as `id -un` prints it")
    if _ALIAS.fullmatch(user):
        raise UserError(f"sudo reads {clean(user, 80)} as an alias (ALL: all users): name a user or a %group")
    if not listed:
        return f"{_HEAD}# No requested probe needs root.\n"
    entries = [entry for command in listed for entry in _entries(command)]
    alias = ", \\\n    ".join(entries)
    # No password can be entered without a terminal, and a caller's environment must not affect root's commands.
    named = user.replace("\\", r"\\")
    options = f"Defaults!{ALIAS} !requiretty, env_reset, !setenv"
    return f"{_HEAD}Cmnd_Alias {ALIAS} = \\\n    {alias}\n{options}\n{named} ALL=(root) NOPASSWD: {ALIAS}\n"


def _entries(command: str) -> Iterable[str]:
    program, *arguments = command.split(" ")
    # `""` forbids every argument; without it sudo would allow any.
    words = " ".join(map(_escaped, arguments)) if arguments else '""'
    places = (program,) if program.startswith("/") else tuple(f"{place}/{program}" for place in PLACES)
    return [f"{place} {words}" for place in places]


def _escaped(word: str) -> str:
    """Escape an argument so that sudo takes every character literally, except character classes in brackets."""
    parts = re.split(r"(\[[0-9a-zA-Z-]+\])", word)
    shown = (p if i % 2 else re.sub(r"([^\w./+%-])", r"\\\1", p, flags=re.ASCII) for i, p in enumerate(parts))
    return "".join(shown)
