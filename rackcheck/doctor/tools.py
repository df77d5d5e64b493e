"""Which programs a shell command needs: the words in command position that are no words of the shell itself."""

import re
from collections.abc import Iterator

from rackcheck.core.capture import named

RESERVED = frozenset({"!", "{", "}", "if", "then", "elif", "else", "fi", "while", "until", "do", "done", "esac"})
"""Words of the shell's grammar after which a command may stand (POSIX, Shell Command Language, 2.4)."""

BUILTINS = frozenset(
    {
        *(".", ":", "break", "continue", "eval", "exec", "exit", "export", "readonly", "return", "set", "shift"),
        *("times", "trap", "unset", "alias", "bg", "cd", "command", "false", "fc", "fg", "getopts", "hash", "jobs"),
        *("kill", "local", "printf", "echo", "pwd", "read", "test", "[", "true", "type", "ulimit", "umask", "unalias"),
        *("wait",),
    }
)
"""Commands that the shell is (POSIX, 2.14 and 2.9.1.4), and those that every `sh` we know brings along."""

_TOKEN = re.compile(r"[ \t]+|\\\n|#[^\n]*|\n|;;|&&|\|\||[;&|()]|(?:[0-9]*(?:<<|>>|<&|>&|<>|<|>))")
_ENDS = frozenset({"\n", ";", ";;", "&&", "||", "&", "|", "(", ")"})


def tools(command: str) -> tuple[str, ...]:
    """Name the programs that a command calls by a fixed name, each once; a payload is not looked at."""
    return tuple(dict.fromkeys(_called(named(command))))


def looked_for(command: str) -> tuple[str, ...]:
    """Name the programs that a command looks for itself (`command -v NAME`), and knows to do without."""
    return tuple(dict.fromkeys(re.findall(r"\bcommand -v ([\w./+-]+)", named(command))))


def _called(text: str) -> Iterator[str]:
    first, header, pattern, target = True, "", False, False
    for token in _tokens(text):
        if token.startswith(("$(", "`")):
            yield from _called(token.removeprefix("$(").removesuffix(")").strip("`"))
            first = first and target  # a word that is an answer of the shell names no program
            target = False
        elif token in _ENDS:
            pattern = token == ";;" or (pattern and token == "|")
            first, header = not pattern, ""
        elif re.fullmatch(r"[0-9]*[<>].*", token):
            target = True
        elif target:
            target = False
        elif header:
            # `for x in a b;` and `case $x in`: what follows are no commands, and of a case the patterns.
            if header == "case" and token == "in":
                header, pattern, first = "", True, False
        elif pattern and token != "esac":
            continue
        elif first and token in {"for", "case"}:
            header = token
        elif (first or pattern) and token in RESERVED:
            first, pattern = True, False
        elif first and not re.match(r"[A-Za-z_]\w*=", token):
            first = False
            if re.fullmatch(r"[A-Za-z0-9_./+-]+", token) and token not in BUILTINS and not token.isdecimal():
                yield token


def _tokens(text: str) -> Iterator[str]:
    """Part a command into words and signs; `$(…)` comes as a word of its own, also out of quotes."""
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
    """Whether the digits before a redirection belong to a word that has begun."""
    return bool(word) and sign[0].isdigit()


def _piece(text: str, at: int) -> int:
    """Give where a quoted piece, a `$(…)` or a plain letter ends; one that is never closed ends with the text."""
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
    """Give the end of a `$(` whose inside begins here; pieces within are passed over whole."""
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
    """Find the `$(…)` within double quotes."""
    found, at = [], 1
    while at < len(quoted) - 1:
        end = _piece(quoted, at) if quoted[at] in "\\`$" else at + 1
        if quoted.startswith(("$(", "`"), at):
            found.append(quoted[at:end])
        at = end
    return found


def _plain(piece: str) -> str:
    return piece[1:-1] if piece[0] in "'\"" and len(piece) > 1 else piece.removeprefix("\\")
