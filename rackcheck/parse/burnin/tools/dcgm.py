"""Results of `dcgmi diag -j`: the verdict of each test for each GPU, and the warnings of the test.

This parser is based on a sample in the vendor's own tests (format of 3.x: `gpu_ids`, verdicts in capitals), on the
source (NVIDIA/DCGM dcgmi/Diag.cpp, nvvs/include/NvvsJsonStrings.h, dcgmi/tests/DiagTests.cpp) and on a level 1 output
of DCGM 4.2.3 on a GB10 that others published (`entity_group`, `test_summary`); it is not verified on our own hardware.
Versions of DCGM name the GPU in different fields, so a format is detected by its fields, not by a version number.

- A test that was skipped or not run counts as not tested: DCGM skips a test if it does not support the SKU (its issue
  55) or if memory is in use, and still exits with 0.
- DCGM writes errors into `warnings`, and has passed a test in spite of such an error (its issue 284): a pass with a
  warning becomes a `warn`.
- `dcgmi` exits with 0 only if nothing failed. If the exit status is not 0 although no test failed, no test counts as
  passed.
"""

import re
from collections.abc import Mapping
from typing import Any

from rackcheck.model.catalogue import Kind, collection, listing, text, version
from rackcheck.model.fact import Class, Reading, Reason, Unknown, Unreadable, clean
from rackcheck.model.path import spell_key
from rackcheck.parse.burnin.tools.answer import MOST, RESULTS, ToolFacts, answer, document, nothing, worst

_MEASURED = Class.MEASUREMENT

GIVES: Mapping[str, Kind] = {
    "burnin.dcgm.version": version("dotted", "The version of DCGM that ran."),
    "burnin.dcgm.test": collection("The tests of DCGM's diagnostic, as it names them."),
    "burnin.dcgm.test/*.result": text("The worst verdict of the test on any GPU.", _MEASURED, RESULTS),
    "burnin.dcgm.test/*.warnings": listing("All warnings of the test.", _MEASURED),
    "burnin.dcgm.test/*.gpu": collection("The GPUs that the test reports, by DCGM's number."),
    "burnin.dcgm.test/*.gpu/*.result": text("The test's verdict on the GPU.", _MEASURED, RESULTS),
    "burnin.dcgm.test/*.gpu/*.warnings": listing("The test's warnings about the GPU.", _MEASURED),
}

_UNTESTED = {"skip", "skipped", "skip - all", "not run"}


def read(record: Mapping[str, Any]) -> ToolFacts:
    """Yield the facts of a `tool` record of dcgm; raises Unreadable if its output cannot be parsed."""
    tool_record = answer(record)
    if tool_record.untested is not None:
        yield from nothing(GIVES, tool_record.untested)
        return
    whole = document(tool_record)
    diagnosis = _object(whole.get("DCGM Diagnostic", whole.get("DCGM GPU Diagnostic")), "DCGM Diagnostic")
    if "runtime_error" in diagnosis:
        why = Unknown(Reason.NOT_TESTED, clean(f"dcgmi: {diagnosis['runtime_error']}"))
        yield from nothing(GIVES, why)
        return
    tests = _tests(diagnosis)
    named = any(result == "fail" for verdicts in tests.values() for _, result, _ in verdicts)
    doubt = tool_record.failed if not named else None
    about = whole.get("metadata", diagnosis)
    ran = about.get("version") if isinstance(about, dict) else None
    yield "burnin.dcgm.version", tool_record.dotted(ran if isinstance(ran, str) else None)
    yield "burnin.dcgm.test", tuple(tests)
    for name, verdicts in tests.items():
        yield from _facts(f"burnin.dcgm.test/{spell_key(name)}", verdicts, doubt)


DcgmVerdict = tuple[tuple[str, ...], Reading, tuple[str, ...]]
"""One result of a test: the GPUs that it names (empty if it names none), its verdict, and its warnings."""


def _facts(at: str, verdicts: list[DcgmVerdict], doubt: Unknown | None) -> ToolFacts:
    gpus = sorted({gpu for of, _, _ in verdicts for gpu in of}, key=int)
    for place, chosen in [
        (at, verdicts),
        *((f"{at}.gpu/{gpu}", [one for one in verdicts if gpu in one[0]]) for gpu in gpus),
    ]:
        result = worst([one for _, one, _ in chosen])
        yield f"{place}.result", doubt if doubt and result in RESULTS else result
        yield f"{place}.warnings", tuple(dict.fromkeys(warning for _, _, warnings in chosen for warning in warnings))
    yield f"{at}.gpu", tuple(gpus)


def _tests(diagnosis: Mapping[str, Any]) -> dict[str, list[DcgmVerdict]]:
    """Return the verdicts of each test of all categories, by the test's name; raises Unreadable if there is no test."""
    found: dict[str, list[DcgmVerdict]] = {}
    for category in _list(diagnosis.get("test_categories"), "test_categories"):
        for entry in _list(_object(category, "category").get("tests"), "tests"):
            test = _object(entry, "test")
            name = test.get("name")
            if not isinstance(name, str) or not clean(name):
                raise Unreadable(f"a test of DCGM without a name: {clean(repr(name), 60)}")
            results = [_verdict(_object(one, "result")) for one in _list(test.get("results"), "results")]
            if "test_summary" in test:
                results.append(_verdict(_object(test["test_summary"], "test_summary")))
            found.setdefault(clean(name, 80), []).extend(results)
    if not found:
        raise Unreadable("DCGM lists no test")
    return found


def _verdict(result: Mapping[str, Any]) -> DcgmVerdict:
    warnings = _warnings(result.get("warnings", []))
    status = result.get("status")
    word = status.casefold() if isinstance(status, str) else ""
    if word in _UNTESTED:
        return _gpus(result), Unknown(Reason.NOT_TESTED, clean(f"DCGM skipped it: {'; '.join(warnings)}")), warnings
    if word == "pass":
        return _gpus(result), "warn" if warnings else "pass", warnings
    if word in RESULTS:
        return _gpus(result), word, warnings
    return _gpus(result), Unknown(Reason.UNPARSABLE, f"unknown verdict of DCGM: {clean(repr(status), 60)}"), warnings


def _gpus(result: Mapping[str, Any]) -> tuple[str, ...]:
    if "entity_id" in result or "entity_group" in result:
        if result.get("entity_group") != "GPU":
            return ()
        value = result.get("entity_id")
    else:
        value = result.get("gpu_ids", result.get("gpu_id", ""))
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str) or not re.fullmatch(r"(?:[0-9]{1,3}(?:, ?[0-9]{1,3}){0,255})?", value):
        raise Unreadable(f"not GPU numbers: {clean(repr(value), 60)}")
    return tuple(str(int(gpu)) for gpu in value.split(",")) if value else ()


def _warnings(value: object) -> tuple[str, ...]:
    """Return the texts of warnings, given as one text, as a list of texts, or as a list of objects with `warning`."""
    each = [value] if isinstance(value, str) else _list(value, "warnings")
    texts = [one.get("warning") if isinstance(one, dict) else one for one in each]
    if not all(isinstance(one, str) for one in texts):
        raise Unreadable(f"a warning of DCGM is not a text: {clean(repr(texts), 60)}")
    return tuple(clean(str(one)) for one in texts if str(one).strip())


def _object(value: object, what: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise Unreadable(f"{what} of DCGM is not an object: {clean(repr(value), 60)}")
    return value


def _list(value: object, what: str) -> list[Any]:
    if not isinstance(value, list):
        raise Unreadable(f"{what} of DCGM is not a list: {clean(repr(value), 60)}")
    if len(value) > MOST:
        raise Unreadable(f"{len(value)} {what} of DCGM; the maximum is {MOST}", Reason.TOO_LARGE)
    return value
