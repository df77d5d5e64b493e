"""Results of AMD's ROCm Validation Suite (`rvs -c FILE`): for each action and GPU, the verdict that rvs gives.

This parser is based on the outputs on AMD's page "System Validation" (Instinct system acceptance: `rvs -c
.../MI300X/gst_single.conf` and `iet_single.conf`), on the source of rvs (ROCm/ROCmValidationSuite
gst.so/src/gst_worker.cpp) and on the lines in the tests of ROCm/cvs (cvs/lib/health/rvs_parsing.py). It is not verified
on hardware.

- A GEMM action (gst) ends for each GPU with its rate, its target and `met: TRUE` or `met: FALSE`. With a target of 0,
  which every rate meets, an action has no verdict.
- A power action (iet) ends for each GPU with `pass: TRUE` or `pass: FALSE`.
- rvs names a GPU by the kernel's id (`gpu_id` of kfd), such as 28851.
- rvs prints nothing at its end. So the node reports the actions that the configuration lists. If an action has no
  verdict on a GPU that rvs names in any action, the output is incomplete, and nothing counts as passed.
- An error of rvs is printed as `[ERROR ]`, and rvs may still exit with 0. After an error, nothing counts as passed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rackcheck.model.catalogue import Kind, collection, quantity, text
from rackcheck.model.fact import Absent, Class, Reading, Reason, Unknown, Unreadable, clean
from rackcheck.model.path import spell_key
from rackcheck.model.regex import regex
from rackcheck.parse.burnin.tools.answer import MOST, ToolFacts, ToolRecord, answer, decimal, nothing, worst

_MEASURED = Class.MEASUREMENT
_WORDS = ("pass", "fail")

GIVES: Mapping[str, Kind] = {
    "burnin.rvs.action": collection("The actions in the configurations of rvs."),
    "burnin.rvs.action/*.result": text("The worst verdict of the action on any GPU.", _MEASURED, _WORDS),
    "burnin.rvs.action/*.gpu": collection("The GPUs that the action tested, by the kernel's id."),
    "burnin.rvs.action/*.gpu/*.result": text("The action's verdict on the GPU.", _MEASURED, _WORDS),
    "burnin.rvs.action/*.gpu/*.rate": quantity("FLOP/s", "The highest rate of matrix products.", _MEASURED),
    "burnin.rvs.action/*.gpu/*.power": quantity("W", "The highest power.", _MEASURED),
}

LINES = 65536
"""Maximum number of lines in an output; rvs prints a line every few seconds for each GPU."""

NO_TARGET = Absent("the configuration has no target")
"""The reading of an action whose target is 0."""

_ERROR = regex(r"\[ERROR {0,3}\]")
_RESULT = regex(
    r"(?:\[RESULT\] {0,2}\[ {0,20}[0-9.]{1,30} {0,20}\] {1,2})?"
    r"\[([!-~]{1,100})\] \[GPU:: (?:[0-9]{1,4} - )?([0-9]{1,10})(?: - [0-9a-f:.]{7,20})?\] (.{1,200})"
)
_NAME = regex(r"[!-~]{1,100}")
_RATE = regex(r"GFLOPS ([0-9.]{1,25}) Target GFLOPS: ([0-9.]{1,25}) met: (TRUE|FALSE)")
_PASS = regex(r"pass: (TRUE|FALSE)")
_POWER = regex(r"Power\(W\) ([0-9.]{1,25})")
_VERDICTS = {"TRUE": "pass", "FALSE": "fail"}


@dataclass(slots=True)
class RvsGpu:
    """What rvs reports of one GPU in one action: its verdicts, its rate in FLOP/s, and its highest power in W."""

    verdicts: list[Reading] = field(default_factory=list)
    rate: float | None = None
    power: float | None = None


RvsActions = dict[str, dict[str, RvsGpu]]
"""The GPUs of each action, by the kernel's id."""


def read(record: Mapping[str, Any]) -> ToolFacts:
    """Yield the facts of a `tool` record of rvs; raises Unreadable if its output cannot be parsed."""
    tool_record = answer(record)
    if tool_record.untested is not None:
        yield from nothing(GIVES, tool_record.untested)
        return
    asked = record.get("asked", [])
    if not isinstance(asked, list | tuple) or not all(isinstance(one, str) and _NAME.fullmatch(one) for one in asked):
        raise Unreadable("the actions in the record of rvs are not a list of names")
    if len(asked) > MOST:
        raise Unreadable(f"{len(asked)} actions of rvs; the maximum is {MOST}", Reason.TOO_LARGE)
    found = _actions(tool_record)
    names = tuple(dict.fromkeys((*asked, *found)))
    if not asked:
        raise Unreadable("the node does not report the actions in the configuration of rvs", Reason.NOT_TESTED)
    gpus = sorted({gpu for each in found.values() for gpu in each}, key=int)
    doubt = _doubt(tool_record, asked, found, gpus)
    yield "burnin.rvs.action", tuple(clean(name, 80) for name in names)
    for name in names:
        yield from _facts(f"burnin.rvs.action/{spell_key(clean(name, 80))}", found.get(name, {}), doubt)


def _actions(record: ToolRecord) -> RvsActions:
    lines = record.out.splitlines()
    if record.cut or len(lines) > LINES:
        raise Unreadable(f"the output of rvs is longer than {LINES} lines or was cut off", Reason.TOO_LARGE)
    found: RvsActions = {}
    for line in lines:
        match = _RESULT.fullmatch(line.strip())
        if match is None:
            continue
        gpu = found.setdefault(match[1], {}).setdefault(str(int(match[2])), RvsGpu())
        _take(gpu, match[3])
        if len(found) > MOST or len(found[match[1]]) > MOST:
            raise Unreadable(f"rvs reports more than {MOST} actions or GPUs", Reason.TOO_LARGE)
    return found


def _take(gpu: RvsGpu, words: str) -> None:
    if match := _RATE.fullmatch(words):
        rate, target = decimal(match[1]), decimal(match[2])
        gpu.rate = float(f"{rate * 1e9:.12g}") if rate is not None else None
        gpu.verdicts.append(NO_TARGET if target == 0 else _met(rate, target, match[3]))
    elif match := _PASS.fullmatch(words):
        gpu.verdicts.append(_VERDICTS[match[1]])
    elif match := _POWER.fullmatch(words):
        power = decimal(match[1])
        gpu.power = max(gpu.power or 0.0, power) if power is not None else gpu.power
    elif "error" in words.lower():  # for example, of a check of the products
        gpu.verdicts.append(Unknown(Reason.NOT_TESTED, clean(f"rvs: {words}", 160)))


def _met(rate: float | None, target: float | None, word: str) -> Reading:
    """Return the verdict of a line with a rate and a target; unknown if the verdict contradicts them.

    rvs compares fractions, but prints whole numbers.
    """
    if rate is None or target is None or (rate < target if word == "TRUE" else rate >= target + 1):
        why = f"rvs reports `met: {word}` for a rate of {rate} GFLOPS and a target of {target} GFLOPS"
        return Unknown(Reason.UNPARSABLE, why)
    return _VERDICTS[word]


def _doubt(record: ToolRecord, asked: Sequence[str], found: RvsActions, gpus: Sequence[str]) -> Unknown | None:
    """Return why no verdict counts as passed: an error of rvs, its exit status, or output that is incomplete."""
    error = next((line for line in f"{record.out}\n{record.err}".splitlines() if _ERROR.search(line)), "")
    if error:
        return Unknown(Reason.NOT_TESTED, clean(f"rvs: {error}", 160))
    failed = any("fail" in gpu.verdicts for each in found.values() for gpu in each.values())
    if record.failed is not None and not failed:
        return record.failed
    for name in asked:
        of = next((gpu for gpu in gpus if gpu not in found.get(name, {}) or not found[name][gpu].verdicts), "")
        if of or not gpus:
            return Unknown(
                Reason.NOT_TESTED, clean(f"rvs reports no verdict of {name} on GPU {of}".removesuffix(" on GPU "), 160)
            )
    return None


def _facts(at: str, found: Mapping[str, RvsGpu], doubt: Unknown | None) -> ToolFacts:
    results = {gpu: _result(each.verdicts, doubt) for gpu, each in found.items()}
    judged = [result for result in results.values() if result != NO_TARGET]
    yield f"{at}.result", doubt if doubt and "fail" not in judged else worst(judged) if judged else NO_TARGET
    yield f"{at}.gpu", tuple(found)
    for gpu, each in found.items():
        yield f"{at}.gpu/{gpu}.result", results[gpu]
        for leaf, value in (("rate", each.rate), ("power", each.power)):
            yield f"{at}.gpu/{gpu}.{leaf}", doubt or (Absent(f"rvs reports no {leaf}") if value is None else value)


def _result(verdicts: list[Reading], doubt: Unknown | None) -> Reading:
    judged = [verdict for verdict in verdicts if verdict != NO_TARGET]
    if doubt is not None and "fail" not in judged:
        return doubt
    return NO_TARGET if verdicts and not judged else worst(judged)
