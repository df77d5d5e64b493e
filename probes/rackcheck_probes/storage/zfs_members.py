"""The disks of each ZFS pool, and their errors."""

from rackcheck import Class, Facts, Shell, Unreadable, collection, integer, probe, read, spell_key, text
from rackcheck.parse.host.storage import zpool_status

END, NONE = "-- end --", "none"
COUNTS = ("read", "write", "checksum")


# Queried only if ZFS is loaded: older tools would load it. Unverified on hardware: written from zpool-status(8) and
# from outputs quoted in blind-oracle/zabbix-zfs issue 8 and unraid/webgui pull 2547.
@probe(
    Shell(
        f"if grep -qw zfs /proc/filesystems; then zpool status -p; else [ -r /proc/filesystems ] && echo {NONE}; fi"
        f" && echo '{END}'",
        seconds=20,
    ),
    gives={
        "storage.zpool/*.member": collection("The pool's disks and files by their names in the pool, without spares."),
        "storage.zpool/*.member/*.state": text("ONLINE, DEGRADED, FAULTED, OFFLINE, REMOVED, UNAVAIL."),
        **{
            f"storage.zpool/*.member/*.errors.{leaf}": integer(
                f"{leaf.capitalize()} errors since last cleared.", Class.COUNTER
            )
            for leaf in COUNTS
        },
    },
)
def zfs_members(answer: str) -> Facts:
    """Read the table of each ZFS pool; a row is a member (disk) if the row below it is not indented more deeply."""
    rows = read.rows(answer)
    if not rows or rows[-1] != END:
        raise Unreadable("the output was truncated")
    if rows[:-1] == [NONE] or rows[:-1] == ["no pools available"]:
        return
    for pool, members in zpool_status.pools(rows):
        item = f"storage.zpool/{spell_key(pool)}"
        yield f"{item}.member", tuple(member.name for member in members)
        for member in members:
            at = f"{item}.member/{spell_key(member.name)}"
            yield f"{at}.state", member.state
            yield from ((f"{at}.errors.{leaf}", count) for leaf, count in zip(COUNTS, member.errors, strict=True))
