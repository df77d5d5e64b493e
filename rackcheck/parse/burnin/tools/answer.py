"""The record of one run of a tool on a node, with its fields checked, and functions that parse a tool's output.

The parser of a tool returns readings of the facts that were tested, and unknown for all other facts of the tool.
Missing output never becomes a pass: a skipped test, an exit status that reports a problem and incomplete output all
count as not tested.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any, NoReturn

from rackcheck.model.catalogue import Kind
from rackcheck.model.fact import Reading, Reason, Unknown, Unreadable, clean
from rackcheck.model.regex import regex
from rackcheck.model.text import json_text

RESULTS = ("pass", "warn", "fail")
"""The verdicts that a tool itself can give, from best to worst."""

MOST = 4096
"""Maximum number of entries of one kind, such as lines or tests, in one output; longer output is unreadable."""

_REASONS = {"tool missing": Reason.TOOL_MISSING, "denied": Reason.DENIED, "hang": Reason.TIMEOUT}
_DOTTED = regex(r"[0-9]{1,9}(?:\.[0-9]{1,9}){1,3}")

ToolFacts = Iterator[tuple[str, Reading]]
"""The type of a reader's result: pairs of a fact path and its reading."""


@dataclass(frozen=True, slots=True)
class ToolRecord:
    """The record of one run of a tool: what the tool tested, its arguments, how it ended, and what it printed."""

    name: str
    of: str
    argv: tuple[str, ...]
    version: str | None
    status: int | None
    out: str
    err: str
    cut: int
    why: str

    @property
    def item(self) -> str:
        """The name of the tested disk, NIC or GPU, such as `vda` for `disk/vda`; empty if the whole node was tested."""
        return self.of.partition("/")[2]

    @property
    def untested(self) -> Unknown | None:
        """Why the tool tested nothing; None if it ran to its end."""
        if self.status is not None:
            return None
        word = self.why.partition(":")[0]
        return Unknown(_REASONS.get(word, Reason.NOT_TESTED), clean(self.why) or "the tool did not run to completion")

    @property
    def failed(self) -> Unknown | None:
        """Why a run counts as not tested if its exit status is missing or not 0; None if the exit status is 0.

        If there is an exit status and it is not 0, the reason includes the last line that the tool printed.
        """
        if self.status == 0:
            return None
        message = next(
            (line for line in reversed([*self.out.splitlines(), *self.err.splitlines()]) if line.strip()), ""
        )
        return self.untested or Unknown(
            Reason.NOT_TESTED, f"{self.name} ended with exit status {self.status}: {clean(message, 120)}"
        )

    def dotted(self, version: str | None = None) -> Reading:
        """Return `version`, else the version in the record; unknown if it does not consist of dotted numbers."""
        version = version or self.version
        if version is None:
            return self.untested or Unknown(Reason.NOT_COLLECTED, f"{self.name} printed no version")
        return (
            version
            if _DOTTED.fullmatch(version)
            else Unknown(Reason.UNPARSABLE, f"not a dotted version: {clean(version, 40)!r}")
        )


def answer(record: Mapping[str, Any]) -> ToolRecord:
    """Check the fields of a `tool` record, and return them as a ToolRecord; raises Unreadable if a field is invalid."""
    texts = {name: record.get(name, "") for name in ("name", "of", "out", "err", "why")}
    status, cut = record.get("status"), record.get("cut", 0)
    argv, version = record.get("argv", []), record.get("version")
    if not all(isinstance(text, str) for text in texts.values()) or not isinstance(version, str | None):
        raise Unreadable("a field of the tool's record is not a text")
    if not isinstance(argv, list | tuple) or not all(isinstance(word, str) for word in argv):
        raise Unreadable("the arguments in the tool's record are not a list of strings")
    if not isinstance(status, int | None) or isinstance(status, bool) or not isinstance(cut, int):
        raise Unreadable("`status` or `cut` of the tool's record is not a whole number")
    return ToolRecord(argv=tuple(argv), version=version, status=status, cut=cut, **texts)


def document(record: ToolRecord) -> Mapping[str, Any]:
    """Return the JSON object that a tool printed; raises Unreadable if there is not exactly one complete object.

    The tool's banner may precede the JSON object; after the object, only blanks and line ends are allowed.
    """
    if record.cut:
        raise Unreadable(f"{record.name}'s output was cut: {record.cut} bytes are missing", Reason.TOO_LARGE)
    start = re.search(r"^\s{0,100}\{", record.out, re.MULTILINE)
    if start is None:
        raise Unreadable(f"{record.name} printed no JSON object: {clean(record.out or record.err, 80)!r}")
    decoder = json.JSONDecoder(object_pairs_hook=json_text.once, parse_constant=_no_number)
    try:
        found, end = decoder.raw_decode(record.out, start.end() - 1)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"{record.name} printed invalid JSON: {clean(str(error), 120)}") from error
    if record.out[end:].strip() or not isinstance(found, dict):
        raise Unreadable(f"{record.name} printed text after its JSON object: {clean(record.out[end:], 80)!r}")
    return found


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a number")


def number(value: object, most: float = 1e18) -> float | None:
    """Return a value as a float if it is a number from 0 to `most`; else None."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value <= most and isfinite(value) else None


def decimal(text: str) -> float | None:
    """Return the decimal number in a cell of a tool's table; None if the text is not a number from 0 to 1e18."""
    return number(float(text)) if re.fullmatch(r"[0-9]{1,15}(?:\.[0-9]{1,9})?(?:e[+-]?[0-9]{1,2})?", text) else None


def nothing(gives: Mapping[str, Kind], why: Unknown) -> ToolFacts:
    """Yield `why` as the reading of every fact of a tool, except the facts of the items of collections."""
    yield from ((pattern, why) for pattern in gives if "*" not in pattern)


def worst(readings: Iterator[Reading] | list[Reading]) -> Reading:
    """Return the worst verdict, in the order fail, unknown, warn, pass; unknown (not tested) if there is no verdict."""
    found = list(readings)
    if "fail" in found:
        return "fail"
    unknown = next((reading for reading in found if reading not in RESULTS), None)
    if unknown is not None or not found:
        return unknown or Unknown(Reason.NOT_TESTED, "no result was reported")
    return "warn" if "warn" in found else "pass"
