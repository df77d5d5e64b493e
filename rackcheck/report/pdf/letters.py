"""Finds which characters typst's fonts lack, by typesetting them with the installed version of typst."""

import json
from collections.abc import Iterable
from typing import Final

import typst

from rackcheck.model.regex import regex

STANDARD: Final = "a-2a"
"""PDF/A-2a: for archiving, and tagged so that software can read the document aloud.

For PDF/A-2a, typst rejects a character without a glyph; in plain PDF, the character would silently become a box.
"""

MOST = 4000
"""Maximum number of different characters that are tested; all further characters are written as code points."""

_ASK = b"""#set document(date: datetime(year: 2000, month: 1, day: 1))
#for char in json(bytes(sys.inputs.chars)) [#char #parbreak()]"""
_REFUSED = regex(r'the text `"(.+?)"` could not be displayed')
_ESCAPE = regex(r"\\u\{([0-9a-fA-F]{1,6})\}")


def lacking(texts: Iterable[str]) -> frozenset[str]:
    """Return the characters of the texts that no font has; the texts must contain only printable characters."""
    asked = sorted({char for text in texts if not text.isascii() for char in text if not char.isascii()})
    return _refused(asked[:MOST]) | frozenset(asked[MOST:])


def _refused(chars: list[str]) -> frozenset[str]:
    """Typeset the characters, each in its own paragraph, and return the rejected ones.

    If typst's error message names none of the characters, the two halves of the list are typeset separately.
    """
    if not chars:
        return frozenset()
    names = refusals(chars)
    if names is None:
        return frozenset()
    named = names & frozenset(chars)
    left = [char for char in chars if char not in named]
    if named:
        return named | _refused(left)
    half = len(chars) // 2
    return frozenset(chars) if len(chars) == 1 else _refused(chars[:half]) | _refused(chars[half:])


def refusals(chars: list[str]) -> frozenset[str] | None:
    """Return the characters that typst reports as missing when it typesets these characters; None if it accepts all."""
    try:
        typst.compile(
            _ASK,
            ignore_system_fonts=True,
            pdf_standards=STANDARD,
            timestamp=0,
            sys_inputs={"chars": json.dumps(chars)},
        )
    except typst.TypstError as error:
        return named(error.diagnostic)
    return None


def named(diagnostic: str) -> frozenset[str]:
    """Return the characters named in typst's error message."""
    spelt = (_ESCAPE.sub(lambda m: chr(int(m[1], 16)), text) for text in _REFUSED.findall(diagnostic))
    return frozenset(char for text in spelt for char in text if not char.isascii())
