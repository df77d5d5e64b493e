"""Finds the programs that a shell command needs, each with the condition under which the command needs it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from rackcheck.doctor.file_access import quoted
from rackcheck.model.capture import named
from rackcheck.model.question import Shell
from rackcheck.model.regex import regex

RESERVED = frozenset({"!", "{", "}", "if", "then", "elif", "else", "fi", "while", "until", "do", "done", "esac"})
"""Words of the shell's grammar that a command may follow (POSIX, Shell Command Language, 2.4)."""

BUILTINS = frozenset(
    {
        *(".", ":", "break", "continue", "eval", "exec", "exit", "export", "readonly", "return", "set", "shift"),
        *("times", "trap", "unset", "alias", "bg", "cd", "command", "false", "fc", "fg", "getopts", "hash", "jobs"),
        *("kill", "local", "printf", "echo", "pwd", "read", "test", "[", "true", "type", "ulimit", "umask", "unalias"),
        *("wait",),
    }
)
"""Commands built into the shell (POSIX, 2.14 and 2.9.1.4), and commands that every common `sh` provides."""

_TOKEN = regex(r"[ \t]+|\\\n|#[^\n]*|\n|;;|&&|\|\||[;&|()]|(?:[0-9]*(?:<<|>>|<&|>&|<>|<|>))")
_ENDS = frozenset({"\n", ";", ";;", "&&", "||", "&", "|", "(", ")"})


@dataclass(frozen=True)
class Call:
    """A simple command: its program, its words, and the files to which its output is redirected."""

    program: str
    words: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()


def tools(command: str) -> tuple[str, ...]:
    """Return the programs that a command calls by a fixed name, without duplicates; a payload is not searched."""
    made = calls(named(command))
    programs = (call.program for call in made)
    return tuple(dict.fromkeys(p for p in programs if re.fullmatch(r"[A-Za-z0-9_./+-]+", p) and not p.isdecimal()))


def looked_for(command: str) -> tuple[str, ...]:
    """Return the optional programs of a command, which the command itself searches for (`command -v NAME`)."""
    return tuple(dict.fromkeys(re.findall(r"\bcommand -v ([\w./+-]+)", named(command))))


_OWN = regex(r"(?:[a-z_]+\(\) \{\n(?:[^}\n].*\n)*\}\n)*")
"""Matches the functions at the beginning of a command; each ends with a brace on a separate line."""

_GUARD = regex(r"(?P<where>[^\n;&|]+) \|\| \{ echo '?[\w ]+'?; exit 0; \}\n")
"""Matches a line that ends a command early, with a message, if there is no file or folder to read."""

_BRANCHES = regex(
    r"if (?P<where>[^\n;&]+); then (?P<body>[^\n]*?); (?:else (?P<other>[^\n]*?); )?fi(?P<after>(?:\n| |;).*)?",
    re.DOTALL,
)
"""Matches a command that begins with an `if`; a command with an `if` further inside is not split."""


@dataclass(frozen=True, slots=True)
class Need:
    """A program that a command needs if a shell condition is true; an empty condition is always true."""

    tool: str
    where: str = ""


def needs(ask: Shell) -> tuple[Need, ...]:
    """Return the programs that a command needs, each with its condition.

    A command that runs for each device needs no program if there is no device. A command that searches for a program,
    and prints a message if the program is missing, does not need it. The condition `some GLOB…` is true if a file
    matches one of the globs.
    """
    command = named(ask.command)
    if re.search(r"\belif\b", command):  # several alternatives: none of their programs is required
        return ()
    spared = {tool for tool in looked_for(command) if not _ends(command, tool)}
    device = f"some {' '.join(map(quoted, ask.each.split()))}" if ask.each else ""
    found = (Need(tool, where or device) for where, part in _parts(command) for tool in tools(part))
    return tuple(dict.fromkeys(need for need in found if need.tool not in spared))


def _ends(command: str, tool: str) -> bool:
    """Return whether a command exits with 127 if its search for this program fails."""
    return re.search(rf"\bcommand -v {re.escape(tool)} >/dev/null \|\| \{{ [^}}]*\bexit 127", command) is not None


def _parts(command: str) -> Iterator[tuple[str, str]]:
    """Split a command into the part that always runs, and the parts that have their own condition."""
    own = _OWN.match(command)
    functions = own[0] if own is not None else ""
    yield "", functions
    guard, where = _GUARD.match(command, len(functions)), ""
    if guard is not None:
        where = functions + guard["where"]
        yield "", where
    rest = command[guard.end() if guard is not None else len(functions) :]
    choice = _BRANCHES.fullmatch(rest)
    if where or choice is None or re.search(r"\bif\b", choice["body"] + (choice["other"] or "")):
        yield where, functions + rest
        return
    yield "", functions + choice["where"]
    yield functions + choice["where"], functions + choice["body"]
    yield f"{functions}! {{ {choice['where']}; }}", functions + (choice["other"] or "")
    yield "", (choice["after"] or "").strip().removeprefix("&&").removeprefix("||")


def calls(text: str, *, builtins: bool = False) -> tuple[Call, ...]:
    """Return the simple commands of a script in order, also those in `$(…)`, without calls of its own functions."""
    made: list[_Begun] = []
    _call(text, made)
    own = set(re.findall(r"(?:^|[\s;&|(])([A-Za-z_]\w*)\(\)", text))
    found = (Call(b.words[0] if b.words else ":", tuple(b.words[1:]), tuple(b.writes)) for b in made)
    return tuple(c for c in found if c.program not in own and (builtins or c.program not in BUILTINS))


def _call(text: str, made: list["_Begun"]) -> None:
    state = _Reading(made)
    for token in _tokens(text):
        if token.startswith(("$(", "`")):
            _call(token.removeprefix("$(").removesuffix(")").strip("`"), made)
            state.substituted()
        else:
            state.take(token)


@dataclass
class _Begun:
    """A shell command of which only a part has been parsed so far."""

    words: list[str] = field(default_factory=list)
    writes: list[str] = field(default_factory=list)


class _Reading:
    """The state of parsing a shell script: whether a command may begin next, and the command parsed so far."""

    def __init__(self, made: list[_Begun]) -> None:
        self.made = made
        self.first, self.header, self.pattern, self.target = True, "", False, ""
        self.begun: _Begun | None = None

    def substituted(self) -> None:
        """Record that a word is a substitution by the shell, so that it names no program."""
        self.first, self.target = self.first and bool(self.target), ""

    def take(self, token: str) -> None:
        """Process the next word or operator."""
        if token in _ENDS:
            self.begun = None
            self.pattern = token == ";;" or (self.pattern and token in {"|", "\n"})
            self.first, self.header = not self.pattern, ""
        elif re.fullmatch(r"[0-9]*[<>].*", token):
            self.target = token
        elif self.target:
            if ">" in self.target and not self.target.endswith("&"):
                self._command().writes.append(token)
            self.target = ""
        elif self.header:
            # After `for x in` and `case $x in` no command follows; after `case` a pattern follows.
            if self.header == "case" and token == "in":
                self.header, self.pattern, self.first = "", True, False
        elif self.pattern and token != "esac":
            return
        elif self.first and token in {"for", "case"}:
            self.header = token
        elif (self.first or self.pattern) and token in RESERVED:
            self.first, self.pattern = True, False
        elif not self.first or not re.match(r"[A-Za-z_]\w*=", token):
            if self.first or self.begun is not None:
                self._command().words.append(token)
            self.first = False

    def _command(self) -> _Begun:
        if self.begun is None:
            self.begun = _Begun()
            self.made.append(self.begun)
        return self.begun


def _tokens(text: str) -> Iterator[str]:
    """Split a command into words and operators; `$(…)` is a separate word, also inside quotes."""
    at, word, inner = 0, "", list[str]()
    while at < len(text):
        sign = _TOKEN.match(text, at)
        if sign is not None and (not sign[0].startswith("#") or not word) and not _fd(sign[0], word):
            if word:
                yield word
            yield from inner
            word, inner = "", []
            if sign[0].strip(" \t\\") and not sign[0].startswith(("#", "\\")):
                yield sign[0]
            at = sign.end()
            continue
        end = _piece(text, at)
        piece = text[at:end]
        found = [piece] if piece.startswith(("$(", "`")) else _inside(piece) if piece.startswith('"') else []
        inner += [part for part in found if not part.startswith("$((")]
        word += "$" if found else _plain(piece)
        at = end
    if word:
        yield word
    yield from inner


def _fd(sign: str, word: str) -> bool:
    """Return whether the digits before a redirection belong to a longer word, and are no file descriptor."""
    return bool(word) and sign[0].isdigit()


def _piece(text: str, at: int) -> int:
    """Return the end of a quoted part, a `$(…)` or a single character; an unclosed part ends with the text."""
    match text[at]:
        case "'":
            end = text.find("'", at + 1)
            return len(text) if end < 0 else end + 1
        case '"':
            return _double(text, at)
        case "`":
            end = text.find("`", at + 1)
            return len(text) if end < 0 else end + 1
        case "\\":
            return min(at + 2, len(text))
        case "$" if text.startswith("$(", at):
            return _closed(text, at + 2)
        case "$" if text.startswith("${", at):
            end = text.find("}", at)
            return len(text) if end < 0 else end + 1
    return at + 1


def _double(text: str, at: int) -> int:
    at += 1
    while at < len(text) and text[at] != '"':
        at = _piece(text, at) if text[at] in "\\`$" else at + 1
    return min(at + 1, len(text))


def _closed(text: str, at: int) -> int:
    """Return the index after the `)` of a `$(…)` whose content begins at `at`; quoted and nested parts are skipped."""
    depth = 1
    while at < len(text):
        if text[at] in "()":
            depth += 1 if text[at] == "(" else -1
            at += 1
            if depth == 0:
                return at
        else:
            at = _piece(text, at)
    return at


def _inside(quoted: str) -> list[str]:
    """Return each `$(…)` inside double quotes."""
    found, at = [], 1
    while at < len(quoted) - 1:
        end = _piece(quoted, at) if quoted[at] in "\\`$" else at + 1
        if quoted.startswith(("$(", "`"), at):
            found.append(quoted[at:end])
        at = end
    return found


def _plain(piece: str) -> str:
    return piece[1:-1] if piece[0] in "'\"" and len(piece) > 1 else piece.removeprefix("\\")
