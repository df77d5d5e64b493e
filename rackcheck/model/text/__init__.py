"""Readers of common shapes: texts in, values out; unreadable input is reported, never guessed.

Readers used by many probes are here by name; a large parser of one tool's output (`lspci`, `dmidecode`) has a module
of its own below.
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
