"""Which characters the fonts inside typst have: asked of typst itself, so that its next version is asked anew."""

import json
import re
from collections.abc import Iterable
from typing import Final

import typst

STANDARD: Final = "a-2a"
"""PDF/A-2a: made to be kept, and tagged so that it can be read aloud.

It refuses a character without a glyph, where plain PDF would draw a box in silence.
"""

MOST = 4000
"""Distinct characters that are asked for; any beyond are written by their code point unasked."""

_ASK = b"""#set document(date: datetime(year: 2000, month: 1, day: 1))
#for char in json(bytes(sys.inputs.chars)) [#char #parbreak()]"""
_REFUSED = re.compile(r'the text `"(.+?)"` could not be displayed')
_ESCAPE = re.compile(r"\\u\{([0-9a-fA-F]{1,6})\}")


def lacking(texts: Iterable[str]) -> frozenset[str]:
    """Give the characters of these texts, all of them printable, that none of the fonts has."""
    asked = sorted({char for text in texts if not text.isascii() for char in text if not char.isascii()})
    return _refused(asked[:MOST]) | frozenset(asked[MOST:])


def _refused(chars: list[str]) -> frozenset[str]:
    """Set each character for itself, and read which were refused; where that cannot be read, halve and ask again."""
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
    """Give the characters that typst names as missing when it sets these; None where it sets them all."""
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
    """Give the characters that a refusal names, read from typst's words."""
    spelt = (_ESCAPE.sub(lambda m: chr(int(m[1], 16)), text) for text in _REFUSED.findall(diagnostic))
    return frozenset(char for text in spelt for char in text if not char.isascii())
