"""Removes the unused parts of a module, so that the payload sent to a node is small. Pure."""

import ast
import re

from rackcheck.model.regex import regex

_BLOCK = regex(r"^(?!(?:else|elif|except|finally)\b)(?=[A-Za-z_@'\"])", re.MULTILINE)
"""Matches the start of each top-level statement; comments and closing brackets belong to the statement before them."""
_DEFINED = regex(r"(?:@.*\n)*(?:(?:def|class)[ ]+(\w+)|(\w+)[ ]*=[^=])")
_LOOKED_UP = regex(r"NVML_(?:ERROR_|SUCCESS)\w*")
"""Matches names that pynvml finds by listing its own namespace, so that no code mentions them."""


def needed(module: str, program: str) -> str:
    """Keep only the parts of a module that a program names, directly or indirectly, and the parts that pynvml looks up.

    The remaining text is unchanged, with the module's licence at the top; a name in a comment counts as used.
    """
    head, *blocks = _BLOCK.split(module)
    joined: list[str] = []
    for block in blocks:
        if joined and joined[-1].startswith("@") and not re.search(r"^(?:def|class)\b", joined[-1], re.MULTILINE):
            joined[-1] += block
        else:
            joined.append(block)
    names = [next(filter(None, match.groups()), "") if (match := _DEFINED.match(b)) else "" for b in joined]
    of: dict[str, list[str]] = {}
    for name, block in zip(names, joined, strict=True):
        of.setdefault(name, []).append(block)
    looked_up = (name for name in of if _LOOKED_UP.match(name))
    left = {*re.findall(r"\w+", program), *looked_up, *re.findall(r"\w+", "\n".join(of.get("", ())))}
    kept: set[str] = set()
    while left:
        kept |= left
        left = {word for name in left for block in of.get(name, ()) for word in re.findall(r"\w+", block)} - kept
    rest = head + "".join(b for name, b in zip(names, joined, strict=True) if not name or name in kept)
    try:
        ast.parse(rest)
    except SyntaxError:  # a layout that the pattern does not split
        return module
    return rest
