"""Results of fio on one disk: the rates of sequential 1 MiB reads and random 4 KiB reads, and the first read error.

Tested with fio 3.33. Only major version 3 of fio is supported: its JSON reports latencies in ns, and rates as
`bw_bytes`. The exit status of fio is the number of failed jobs, and the field `error` of each job is an errno. A disk
that could not be opened counts as not tested; a disk that could not be read has failed.
"""

import re
from collections.abc import Mapping
from typing import Any, TypeGuard

from rackcheck.model.catalogue import Kind, collection, integer, quantity
from rackcheck.model.fact import Class, Reading, Reason, Unknown, Unreadable, clean
from rackcheck.model.path import spell_key
from rackcheck.parse.burnin.tools.answer import ToolFacts, ToolRecord, answer, document, nothing, number

_MEASURED = Class.MEASUREMENT

GIVES: Mapping[str, Kind] = {
    "burnin.fio.disk": collection("The disks that fio read."),
    "burnin.fio.disk/*.error": integer("The errno of the first read error; 0 if there was none.", _MEASURED),
    "burnin.fio.disk/*.read": quantity("B/s", "The rate of sequential reads of 1 MiB, 32 at a time.", _MEASURED),
    "burnin.fio.disk/*.iops": quantity("IOPS", "Random reads of 4 KiB, by 16 jobs with 16 in flight each.", _MEASURED),
    "burnin.fio.disk/*.latency": quantity("s", "The 99th percentile of the latency of the random reads.", _MEASURED),
}

_MAJOR = "3"
_DENIED = {1, 13}  # EPERM, EACCES
_CLOSED = {2, 6, 16, 19, 22}  # ENOENT, ENXIO, EBUSY, ENODEV, EINVAL: errors on opening, not on reading
_LEAVES = ("error", "read", "iops", "latency")


def read(record: Mapping[str, Any]) -> ToolFacts:
    """Yield the facts of a `tool` record of fio; raises Unreadable if its output cannot be parsed."""
    tool_record = answer(record)
    if not tool_record.item:
        yield from nothing(
            GIVES, tool_record.failed or Unknown(Reason.NOT_TESTED, "the record of fio is not for a disk")
        )
        return
    yield "burnin.fio.disk", (tool_record.item,)
    at = f"burnin.fio.disk/{spell_key(tool_record.item)}"
    why = tool_record.untested
    readings: Mapping[str, Reading] = _disk(tool_record) if why is None else dict.fromkeys(_LEAVES, why)
    yield from ((f"{at}.{leaf}", reading) for leaf, reading in readings.items())


def _disk(record: ToolRecord) -> Mapping[str, Reading]:
    whole = document(record)
    version = re.fullmatch(r"fio-([0-9]{1,3})\.[0-9]{1,4}\S{0,40}", str(whole.get("fio version")))
    if version is None or version[1] != _MAJOR:
        message = f"version {clean(str(whole.get('fio version')), 40)} is not supported"
        return dict.fromkeys(_LEAVES, Unknown(Reason.NOT_TESTED, message))
    row, random = (_job(whole, f"{record.item}:{name}") for name in ("row", "random"))
    error = next((found for job in (row, random) if (found := _error(job))), 0)
    if error in _DENIED | _CLOSED:
        reason = Reason.DENIED if error in _DENIED else Reason.NOT_TESTED
        return dict.fromkeys(_LEAVES, Unknown(reason, clean(f"errno {error}: {record.err.strip()}")))
    if error:
        why = Unknown(Reason.NOT_TESTED, f"reading ended with errno {error}")
        return {"error": error, **dict.fromkeys(_LEAVES[1:], why)}
    if record.failed is not None:
        return dict.fromkeys(_LEAVES, record.failed)
    counted = _side(row, "bw_bytes"), _side(random, "iops"), _percentile(random)
    if not all(isinstance(value, float) for value in counted):
        why = next(value for value in counted if isinstance(value, Unknown))
        return {"error": why, **dict(zip(_LEAVES[1:], counted, strict=True))}
    return {"error": 0, **dict(zip(_LEAVES[1:], counted, strict=True))}


def _job(whole: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return the job with this name; raises Unreadable if there is not exactly one such job."""
    jobs = whole.get("jobs")
    named = [job for job in jobs if isinstance(job, dict) and job.get("jobname") == name] if _few(jobs) else []
    if len(named) != 1:
        raise Unreadable(f"fio reports {len(named)} jobs {name!r}, expected 1")
    return named[0]


def _few(jobs: object) -> TypeGuard[list[Any]]:
    return isinstance(jobs, list) and len(jobs) <= 64


def _error(job: Mapping[str, Any]) -> int:
    error = job.get("error")
    if isinstance(error, bool) or not isinstance(error, int) or not 0 <= error < 4096:
        raise Unreadable(f"fio reports an invalid error {clean(repr(error), 40)}")
    return error


def _side(job: Mapping[str, Any], name: str) -> float | Unknown:
    side = job.get("read")
    found = number(side.get(name)) if isinstance(side, dict) else None
    if found is None:
        return Unknown(Reason.UNPARSABLE, f"fio reports no {name}")
    return found or Unknown(Reason.NOT_TESTED, "fio read no data")


def _percentile(job: Mapping[str, Any]) -> float | Unknown:
    side = job.get("read")
    value: Any = side.get("clat_ns") if isinstance(side, dict) else None
    value = value.get("percentile") if isinstance(value, dict) else None
    found = number(value.get("99.000000")) if isinstance(value, dict) else None
    if found is None:
        return Unknown(Reason.UNPARSABLE, "fio reports no latency")
    return float(f"{found / 1e9:.12g}") if found else Unknown(Reason.NOT_TESTED, "fio read no data")
