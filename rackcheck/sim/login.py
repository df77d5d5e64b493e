"""Returns the output of commands about the login on a simulated node: user, installed programs and sudo rights."""

import re
import shlex
from collections.abc import Iterator

from rackcheck.model.capture import NodeCapture, Output
from rackcheck.model.fact import Reason
from rackcheck.model.text import matching
from rackcheck.run.simulated_run import MARKED_FILE

USER = "audit"
"""The user's name on the nodes and on the BMCs of a simulated rack."""

_LOOKS = re.compile(r'echo "uid \$\(id -u\)"; .*; for t in ([\w./+ :-]+); do ')
"""Matches the first command of `rackcheck doctor`, which prints user, system and missing programs."""


_READABLE = re.compile(r"l\(\) \{ for f; do \[ -r ")
"""Matches the command `l GLOB; l GLOB; …` by which `rackcheck doctor` finds the first unreadable file of each glob."""


def login_output(host: NodeCapture, command: str, *, sudo: bool, sent: str) -> Output | None:
    """Return the output of a command about the login; None for other commands.

    `sent` is the time at which the caller sent the command, on the caller's clock.
    """
    looks = _LOOKS.match(command)
    if looks is not None:
        missing = "".join(f"missing {tool}\n" for tool in looks[1].split() if _is_missing(host, tool))
        there = f"uid 1000\nuser {USER}\nkernel Linux {_kernel(host)}\nsent {sent}\n{_system(host)}{_mark(host)}"
        return Output(0, f"{there}{missing}asked all\n{_python(host)}")
    if _READABLE.match(command) is not None:
        return Output(0, "".join(f"unreadable {path}\n" for path in _closed(host, command)) + "looked at all\n")
    if command.endswith("sudo -n -l"):
        if not sudo:
            return Output(1, "", "sudo: a password is required\n")
        return Output(0, f"User {USER} may run the following commands on this node:\n    (root) NOPASSWD: ALL\n")
    return {"id -u": Output(0, "1000\n"), "id -un": Output(0, f"{USER}\n")}.get(command)


def _closed(host: NodeCapture, command: str) -> Iterator[str]:
    denied = sorted(path for path, why in host.refused.items() if why.reason is Reason.DENIED)
    for glob in re.findall(r"; l ([^\s;]+)", command):
        yield from list(matching(denied, "".join(shlex.split(glob))))[:1]


def _is_missing(host: NodeCapture, tool: str) -> bool:
    """Return whether a command in the capture failed because this program is missing."""
    calls = re.compile(rf"(?:^|[\s;&|(]){re.escape(tool)}(?:$|[\s;&|)])")
    answers = host.commands.items()
    return any(isinstance(a, Output) and a.status == 127 and calls.search(command) for command, a in answers)


def _kernel(host: NodeCapture) -> str:
    text = next((a.out for c, a in host.commands.items() if c.startswith("uname -r") and isinstance(a, Output)), "")
    return text.partition("\n")[0]


def _system(host: NodeCapture) -> str:
    name = re.search(r"^PRETTY_NAME=(.*)$", host.files.get("/etc/os-release", ""), re.MULTILINE)
    return f"name {name[1]}\n" if name else ""


def _mark(host: NodeCapture) -> str:
    return f"simulator {host.files[MARKED_FILE]}" if MARKED_FILE in host.files else ""


def _python(host: NodeCapture) -> str:
    """Return the python3 version of a DGX with Ubuntu, as captures contain none; empty if the node has no python3."""
    without = any(isinstance(a, Output) and a.out.endswith("no python3\n") for a in host.commands.values())
    return "" if without else "Python 3.10.12\n"
