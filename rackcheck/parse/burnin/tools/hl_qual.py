"""The verdict of Intel Gaudi's `hl_qual` on all Gaudi of a node.

No complete output of hl_qual is public as text: Intel's documentation ("hl_qual Report Structure") shows it only in
images. This parser reads only what public validation scripts of users read: a line with the words `hl qual report`, and
the line after it, which is `PASSED` or `FAILED`. It is not verified on hardware.
"""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from rackcheck.model.catalogue import Kind, text
from rackcheck.model.fact import Class, Reading, Reason, Unknown, clean
from rackcheck.model.regex import regex
from rackcheck.parse.burnin.tools.answer import ToolFacts, ToolRecord, answer

GIVES: Mapping[str, Kind] = {
    "burnin.hl_qual.result": text(
        "Whether the functional test passed on every Gaudi.", Class.MEASUREMENT, ("pass", "fail")
    )
}

_VERDICT = regex(r"[\s=*#-]{0,120}(PASSED|FAILED)[\s=*#-]{0,120}")
_VERDICTS = {"PASSED": "pass", "FAILED": "fail"}


def read(record: Mapping[str, Any]) -> ToolFacts:
    """Yield the facts of a `tool` record of hl_qual; raises Unreadable if a field of the record is invalid."""
    tool_record = answer(record)
    yield "burnin.hl_qual.result", tool_record.untested or _result(tool_record)


def _result(record: ToolRecord) -> Reading:
    lines = record.out.splitlines()
    after = [line for head, line in pairwise(lines) if " hl qual report " in f" {head.strip()} "]
    matches = [match for line in after if (match := _VERDICT.fullmatch(line))]
    if len(after) == 1 and len(matches) == 1 and matches[0][1] == "FAILED":
        return "fail"
    if record.failed is not None:
        return record.failed
    if record.cut:
        return Unknown(Reason.TOO_LARGE, f"the output of hl_qual was cut: {record.cut} bytes are missing")
    if len(after) != 1 or len(matches) != 1:
        return Unknown(Reason.NOT_TESTED, clean(f"hl_qual reports no verdict: {record.out[-80:]!r}"))
    if any("FAILED" in line for line in lines):
        return Unknown(Reason.UNPARSABLE, "hl_qual reports a failure and PASSED")
    return _VERDICTS[matches[0][1]]
