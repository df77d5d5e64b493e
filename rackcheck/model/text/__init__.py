"""Readers of common text formats; a reader returns a value, or raises Unreadable for any other text.

This package exports the readers that many probes use.
"""

from rackcheck.model.fact import Sourced
from rackcheck.model.text.each import each
from rackcheck.model.text.files import SILENT, Files, covering, covers, matching
from rackcheck.model.text.values import (
    bit,
    chosen,
    flag,
    key_values,
    kib,
    line,
    natural,
    number,
    numbers,
    rows,
    unquoted,
    whole,
)

__all__ = [
    "SILENT",
    "Files",
    "Sourced",
    "bit",
    "chosen",
    "covering",
    "covers",
    "each",
    "flag",
    "key_values",
    "kib",
    "line",
    "matching",
    "natural",
    "number",
    "numbers",
    "rows",
    "unquoted",
    "whole",
]
