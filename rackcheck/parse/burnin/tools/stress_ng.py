"""Results of stress-ng: for each requested stressor, whether its checks passed.

This parser is tested with stress-ng 0.15.06; the format of a failure is from issue 546 of stress-ng. The YAML output of
stress-ng has metrics but no verdicts:
- a stressor that was skipped is not in the metrics, and the exit status is still 0;
- failures are printed in lines `stress-ng: fail:`, on standard error, or, in newer versions, on standard output;
- the exit status is 2 if a stressor failed.

A stressor therefore passes if the exit status is 0, its metrics show that it ran, and no failure is printed for any
stressor. If the exit status is 2, the result of a stressor for which no failure is printed is unknown.
"""

import re
from collections.abc import Mapping
from typing import Any

from rackcheck.model.catalogue import Kind, collection, quantity, text
from rackcheck.model.fact import Class, Reading, Reason, Unknown, Unreadable, clean
from rackcheck.model.path import spell_key
from rackcheck.model.regex import regex
from rackcheck.parse.burnin.tools.answer import ToolFacts, ToolRecord, answer, decimal, nothing

_MEASURED = Class.MEASUREMENT
_WORDS = ("pass", "fail")

GIVES: Mapping[str, Kind] = {
    "burnin.stress_ng.result": text("Whether all requested stressors ran and passed their checks.", _MEASURED, _WORDS),
    "burnin.stress_ng.stressor": collection("The requested stressors."),
    "burnin.stress_ng.stressor/*.result": text("Whether the stressor passed its checks.", _MEASURED, _WORDS),
    "burnin.stress_ng.stressor/*.cpu_time": quantity("s", "The CPU time of the stressor.", _MEASURED),
}

STRESSORS = ("cpu", "matrix", "vm")
"""The stressors to run: each checks what it computes or stores."""

FAILED = 2
"""The exit status of stress-ng if a stressor failed."""

_LINE = regex(r"stress-ng: (fail|error): {1,9}\[[0-9]{1,9}\] ([a-z0-9-]{1,40}): (.{0,400})")


def read(record: Mapping[str, Any]) -> ToolFacts:
    """Yield the facts of a `tool` record of stress-ng; raises Unreadable if its output cannot be parsed."""
    tool_record = answer(record)
    if tool_record.untested is not None:
        yield from nothing(GIVES, tool_record.untested)
        return
    asked = [name for name in STRESSORS if f"--{name}" in tool_record.argv]
    if not asked:
        raise Unreadable(f"stress-ng ran none of the known stressors: {clean(' '.join(tool_record.argv), 120)!r}")
    against = _against(tool_record)
    ran = {} if tool_record.status == FAILED else _metrics(tool_record)
    results = {name: _result(name, tool_record, against, ran) for name in asked}
    yield "burnin.stress_ng.stressor", tuple(asked)
    for name, result in results.items():
        at = f"burnin.stress_ng.stressor/{spell_key(name)}"
        yield f"{at}.result", result
        yield f"{at}.cpu_time", ran[name][1] if name in ran else _silent(name, tool_record)
    unknown = next((result for result in results.values() if isinstance(result, Unknown)), None)
    failed = tool_record.status == FAILED or "fail" in results.values()
    yield "burnin.stress_ng.result", "fail" if failed else unknown or "pass"


def _against(record: ToolRecord) -> set[str]:
    """Return the names of the stressors for which a failure is printed."""
    rows = [match for line in f"{record.out}\n{record.err}".splitlines() if (match := _LINE.fullmatch(line.strip()))]
    return {match[2] for match in rows if match[1] == "fail" or f"exit status={FAILED}" in match[3]}


def _result(name: str, record: ToolRecord, against: set[str], ran: Mapping[str, tuple[float, float]]) -> Reading:
    if name in against:
        return "fail"
    if record.failed is not None:
        return record.failed
    if against:
        return Unknown(Reason.NOT_TESTED, f"stress-ng reports failures of {', '.join(sorted(against))}")
    return "pass" if name in ran and ran[name][0] > 0 else _silent(name, record)


def _silent(name: str, record: ToolRecord) -> Unknown:
    skipped = re.search(rf"\] {name} stressor will be skipped(.{{0,120}})", record.err)
    why = skipped[0].lstrip("] ") if skipped else f"stress-ng reports no work of {name}"
    return record.failed or Unknown(Reason.NOT_TESTED, clean(why))


def _metrics(record: ToolRecord) -> dict[str, tuple[float, float]]:
    """Return the number of operations and the CPU seconds of each stressor; raises Unreadable on incomplete YAML."""
    lines = [line for line in record.out.splitlines() if not line.startswith(("stress-ng: ", "info: "))]
    body = [line.rstrip() for line in lines if line.strip()]
    if record.cut or body[:1] != ["---"] or body[-1:] != ["..."]:
        raise Unreadable(f"an incomplete document of stress-ng: {clean(record.out or record.err, 80)!r}")
    found: dict[str, dict[str, float]] = {}
    fields: dict[str, float] | None = None
    for line in body[body.index("metrics:") + 1 : -1] if "metrics:" in body else ():
        begun = re.fullmatch(r" {4}- stressor: ([a-z0-9-]{1,40})", line)
        entry = re.fullmatch(r" {6}([a-z0-9-]{1,80}): (\S{1,40})", line)
        if begun is not None and begun[1] not in found:
            fields = found[begun[1]] = {}
        elif entry is not None and fields is not None and entry[1] not in fields:
            fields[entry[1]] = value if (value := decimal(entry[2])) is not None else -1.0
        elif line.startswith(" "):
            raise Unreadable(f"invalid line in stress-ng's metrics: {clean(line, 80)!r}")
        else:
            break
    needed = ("bogo-ops", "user-time", "system-time")
    if any(fields.get(name, -1.0) < 0 for fields in found.values() for name in needed):
        raise Unreadable("stress-ng's metrics lack values of a stressor")
    return {name: (of["bogo-ops"], round(of["user-time"] + of["system-time"], 6)) for name, of in found.items()}
