"""The disks of each ZFS pool, and their errors."""

import re
from collections.abc import Iterator, Sequence

from rackcheck import Class, Facts, Shell, Unreadable, collection, integer, probe, spell_key, text
from rackcheck.core import read
from rackcheck.core.fact import clean

END, NONE = "-- end --", "none"
NUMBER = "([0-9]{1,20})"
ROW = re.compile(rf"\t( {{0,20}})(\S{{1,200}}) +(?:([A-Z]{{1,20}}) +{NUMBER} +{NUMBER} +{NUMBER}|AVAIL|INUSE)(?: +.*)?")
COUNTS = ("read", "write", "checksum")


def pools(rows: Sequence[str]) -> Iterator[tuple[str, list[re.Match[str]]]]:
    """Give each pool's name and the rows of its table, its spares, which have no counts, left out."""
    starts = [at for at, row in enumerate(rows) if row.startswith("  pool: ")]
    for at, end in zip(starts, [*starts[1:], len(rows)], strict=True):
        head = next((n for n in range(at, end) if re.fullmatch(r"\tNAME +STATE +READ +WRITE +CKSUM", rows[n])), None)
        stop = next((n for n in range(at, end) if rows[n].startswith("errors:")), None)
        if head is None or stop is None:
            raise Unreadable(f"no table of {clean(rows[at], 80)!r}")
        lines = [row for row in rows[head + 1 : stop] if row.strip() and not re.fullmatch(r"\t\S{1,40} *", row)]
        told = [ROW.fullmatch(row) for row in lines]
        if None in told:
            raise Unreadable(f"no member: {clean(lines[told.index(None)], 80)!r}")
        yield rows[at].removeprefix("  pool: "), [row for row in told if row is not None and row[4] is not None]


# It asks only where ZFS is loaded: older tools load it. Unverified on hardware: written to zpool-status(8) and to
# outputs quoted in blind-oracle/zabbix-zfs issue 8 and unraid/webgui pull 2547.
@probe(
    Shell(
        f"if grep -qw zfs /proc/filesystems; then zpool status -p; else [ -r /proc/filesystems ] && echo {NONE}; fi"
        f" && echo '{END}'",
        seconds=20,
    ),
    gives={
        "storage.zpool/*.member": collection("The pool's disks and files by their names there, its spares left out."),
        "storage.zpool/*.member/*.state": text("ONLINE, DEGRADED, FAULTED, OFFLINE, REMOVED, UNAVAIL."),
        **{
            f"storage.zpool/*.member/*.errors.{leaf}": integer(f"Errors of {leaf}s since last cleared.", Class.COUNTER)
            for leaf in COUNTS
        },
    },
)
def zfs_members(answer: str) -> Facts:
    """Read each pool's table: a member is a row below which none is set further in."""
    rows = read.rows(answer)
    if not rows or rows[-1] != END:
        raise Unreadable("the answer was cut")
    if rows[:-1] == [NONE] or rows[:-1] == ["no pools available"]:
        return
    if not any(row.startswith("  pool: ") for row in rows):
        raise Unreadable(f"no pool: {clean(rows[0], 80)!r}")
    for pool, told in pools(rows):
        item = f"storage.zpool/{spell_key(pool)}"
        below = [*(len(row[1]) for row in told[1:]), 0]
        members = [row for row, depth in zip(told, below, strict=True) if depth <= len(row[1]) and row[1]]
        yield f"{item}.member", tuple(row[2] for row in members)
        for row in members:
            yield f"{item}.member/{spell_key(row[2])}.state", row[3]
            for number, leaf in enumerate(COUNTS, start=4):
                yield f"{item}.member/{spell_key(row[2])}.errors.{leaf}", int(row[number])
