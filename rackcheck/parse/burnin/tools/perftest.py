"""Results of perftest's ib_write_bw for one NIC: the mean rate of writes.

This parser is based on published outputs (microsoft/superbenchmark tests/data/ib_loopback_8M_size.log; outputs that
others published for ConnectX-6 and -7, over Ethernet and InfiniBand) and on the help of perftest 6.06. The error
messages of ib_write_bw are our own recordings; its rates are not verified on our own hardware. The header of the table
names the unit of the rates: `Gb/sec` is 10^9 bits per second; `MB/sec` and `MiB/sec` are both 2^20 bytes per second,
according to the help.

If client and server use the same NIC, a write crosses the NIC's PCIe link in both directions, so the result is reported
as `loopback`, not as the rate of a cable. The rate of writes between two nodes is reported as `rate`.
"""

import re
from collections.abc import Mapping
from typing import Any

from rackcheck.model.catalogue import Kind, collection, integer, quantity, text
from rackcheck.model.fact import Class, Reading, Reason, Unknown, Unreadable, clean
from rackcheck.model.path import spell_key
from rackcheck.model.regex import regex
from rackcheck.parse.burnin.tools.answer import ToolFacts, ToolRecord, answer, decimal, nothing

_MEASURED = Class.MEASUREMENT

GIVES: Mapping[str, Kind] = {
    "burnin.ib_write_bw.nic": collection("The NICs that ib_write_bw tried."),
    "burnin.ib_write_bw.nic/*.loopback": quantity("B/s", "The mean rate of writes from the NIC to itself.", _MEASURED),
    "burnin.ib_write_bw.nic/*.rate": quantity("B/s", "The mean rate of writes to another node's NIC.", _MEASURED),
    "burnin.ib_write_bw.nic/*.size": integer("The bytes of one write.", _MEASURED),
    "burnin.ib_write_bw.nic/*.link": text("The link type: IB or Ethernet.", _MEASURED, ("IB", "Ethernet")),
}

_HEAD = regex(
    r"#bytes\s{1,20}#iterations\s{1,20}BW peak\[(\S{1,10})\]\s{1,20}BW average\[(\S{1,10})\](\s{1,20}MsgRate\[Mpps\])?"
)
_UNITS = {"Gb/sec": 1e9 / 8, "MB/sec": 2.0**20, "MiB/sec": 2.0**20}
_RULE = regex(r"-{20,120}")
_NOISE = regex(r"(?:Conflicting CPU frequency values detected|Test integrity may be harmed).{0,200}")
_HERE = {"127.0.0.1", "localhost", "::1"}


def read(record: Mapping[str, Any]) -> ToolFacts:
    """Yield the facts of a `tool` record of ib_write_bw; raises Unreadable if its output cannot be parsed."""
    tool_record = answer(record)
    if not tool_record.item:
        yield from nothing(
            GIVES, tool_record.failed or Unknown(Reason.NOT_TESTED, "the record of ib_write_bw is not for a NIC")
        )
        return
    at = f"burnin.ib_write_bw.nic/{spell_key(tool_record.item)}"
    leaf = "loopback" if tool_record.argv and tool_record.argv[-1] in _HERE else "rate"
    yield "burnin.ib_write_bw.nic", (tool_record.item,)
    if tool_record.failed is not None:
        yield from ((f"{at}.{each}", tool_record.failed) for each in (leaf, "size", "link"))
        return
    size, rate = _row(tool_record)
    yield f"{at}.{leaf}", rate
    yield f"{at}.size", size
    yield f"{at}.link", _link(tool_record.out)


def _row(record: ToolRecord) -> tuple[int, float]:
    """Return the bytes of one write and the mean rate in B/s; raises Unreadable if there is not exactly one row."""
    lines = [line.strip() for line in record.out.splitlines()]
    heads = [at for at, line in enumerate(lines) if line.startswith("#bytes")]
    head = _HEAD.fullmatch(lines[heads[0]]) if len(heads) == 1 else None
    if head is None or head[1] != head[2] or head[1] not in _UNITS:
        raise Unreadable(f"ib_write_bw printed no known table: {clean(record.out, 80)!r}")
    after = [line for line in lines[heads[0] + 1 :] if line and not _NOISE.fullmatch(line)]
    cells = after[0].split() if after else []
    if len(after) != 2 or not _RULE.fullmatch(after[1]) or len(cells) != (5 if head[3] else 4):
        raise Unreadable(f"unexpected rows of ib_write_bw: {clean(' '.join(after), 120)!r}")
    numbers = [decimal(cell) for cell in cells]
    if None in numbers or not re.fullmatch(r"[0-9]{1,15}", cells[0]):
        raise Unreadable(f"invalid row of ib_write_bw: {clean(after[0], 120)!r}")
    mean = decimal(cells[3]) or 0.0
    if not mean or not int(cells[1]):
        raise Unreadable("ib_write_bw wrote no data", Reason.NOT_TESTED)
    return int(cells[0]), float(f"{mean * _UNITS[head[1]]:.12g}")


def _link(out: str) -> Reading:
    found = re.search(r"^\s{0,9}Link type\s{1,9}: (IB|Ethernet)\s{0,9}$", out, re.MULTILINE)
    return found[1] if found else Unknown(Reason.NOT_COLLECTED, "ib_write_bw printed no link type")
