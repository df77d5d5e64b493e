"""Looks up the output of commands that a user types on a simulated node; no command is run."""

from rackcheck.model.capture import NodeCapture, Output

HOSTNAME = "/proc/sys/kernel/hostname"
KERNEL = "uname -r && uname -m && uname -v"
"""The command of a probe whose output contains the values of uname."""

WELCOME = "This is a simulated node. It has no shell, and answers single commands: hostname, uname -a, cat FILE.\n"
"""Message for a login without a command."""

_LETTERS = {"s": 0, "n": 1, "r": 2, "v": 3, "m": 4, "o": 5}
"""The options of uname, with the position of each value in the output; the order of the options has no effect."""


def lookup_output(host: NodeCapture, name: str, command: str) -> Output | None:
    """Return the output of a command that needs no sudo; None if the command is unknown or has no recorded output."""
    match command.split():
        case ["hostname"] | ["hostname", "-s"]:
            return Output(0, f"{_hostname(host, name)}\n")
        case ["uname", *options]:
            return _uname(host, name, options)
        case ["exit"] | ["true"]:
            return Output(0, "")
        case ["exit", status] if status.isascii() and status.isdigit() and len(status) <= 3:
            return Output(int(status) & 0xFF, "")
        case ["cat", path]:
            return _cat(host, path)
    return None


def _hostname(host: NodeCapture, name: str) -> str:
    return host.files.get(HOSTNAME, "").strip() or name


def _uname(host: NodeCapture, name: str, options: list[str]) -> Output | None:
    reading = host.commands.get(KERNEL)
    lines = reading.out.splitlines() if isinstance(reading, Output) else []
    if len(lines) != 3:
        return None
    release, arch, version = lines
    words = ("Linux", _hostname(host, name), release, version, arch, "GNU/Linux")
    letters = "".join(option.removeprefix("-") for option in options) or "s"
    if letters == "a":
        return Output(0, " ".join(words) + "\n")
    strange = next((option for option in options if not option.startswith("-") or len(option) < 2), None)
    unknown = next((letter for letter in letters if letter not in _LETTERS), None)
    if strange is not None:
        return Output(1, "", f"uname: extra operand '{strange}'\n")
    if unknown is not None:
        return Output(1, "", f"uname: invalid option -- '{unknown}'\n")
    return Output(0, " ".join(words[place] for place in sorted({_LETTERS[letter] for letter in letters})) + "\n")


def _cat(host: NodeCapture, path: str) -> Output:
    if path in host.files:
        return Output(0, host.files[path])
    why = "Permission denied" if path in host.refused else "No such file or directory"
    return Output(1, "", f"cat: {path}: {why}\n")
