"""Marks texts in the cells of a table that a spreadsheet would evaluate as a formula, and removes the marks. Pure.

A spreadsheet evaluates a cell as a formula if it begins with = + - or @, also after blanks, and also with the
full-width forms of these characters. In many locales a spreadsheet splits rows at semicolons, and so also evaluates
text after a semicolon. `guarded` therefore inserts an apostrophe before every = + - or @ that could begin a formula
(and before apostrophes that directly precede it). `unguarded` removes the apostrophes that `guarded` inserted.
"""

from rackcheck.model.regex import regex

_SIGNS = "=+\\-@" + "＝＋－＠" + "﹦﹢﹣﹫" + "\u2212"  # noqa: RUF001  full-width, small and mathematical forms are meant
_BLANKS = r"[\s\u200b\u2060\ufeff]*"
_FORMULA = regex(rf"(\A|;)({_BLANKS})('*[{_SIGNS}])")
_GUARDED = regex(rf"(\A|;)({_BLANKS})'('*[{_SIGNS}])")


def guarded(text: str) -> str:
    """Return the text with apostrophes inserted, so that no spreadsheet evaluates it as a formula."""
    return _FORMULA.sub(r"\1\2'\3", text)


def unguarded(cell: str) -> str:
    """Return a cell's original text, without the apostrophes that `guarded` inserted."""
    return _GUARDED.sub(r"\1\2\3", cell)
