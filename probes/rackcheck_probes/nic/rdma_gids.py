"""The GID table of each RDMA port, and its RoCE v2 entries."""

from collections.abc import Sequence

from rackcheck import (
    Absent,
    Class,
    Facts,
    Reason,
    Shell,
    Unknown,
    collection,
    final,
    integer,
    listing,
    probe,
    spell_key,
    text,
)
from rackcheck.parse.host.nic import gid_table

# A table has up to 256 entries, nearly all of them zeros, and the kernel refuses to read an empty entry's type.
COMMAND = """\
for p in /sys/class/infiniband/*/ports/[0-9]*; do
[ -d "$p/gids" ] || continue
printf 'port %s\\n' "${p#/sys/class/infiniband/}"
for g in "$p"/gids/*; do
i=${g##*/}; v=; t=; n=
read -r v 2>/dev/null <"$g"
case $v in ''|0000:0000:0000:0000:0000:0000:0000:0000) continue;; esac
read -r t 2>/dev/null <"$p/gid_attrs/types/$i"
read -r n 2>/dev/null <"$p/gid_attrs/ndevs/$i"
printf '%s|%s|%s|%s\\n' "$i" "$v" "$t" "$n"
done
echo end
done 2>/dev/null"""


@probe(
    Shell(COMMAND, seconds=30, cap=4 << 20, quick=True),
    gives={
        "nic/*.port/*.gid": collection("Entries of the port's GID table that are in use, by index."),
        "nic/*.port/*.gid/*.address": text("The entry's GID.", Class.IDENTITY),
        "nic/*.port/*.gid/*.type": text("The type of the entry: IB/RoCE v1 or RoCE v2."),
        "nic/*.port/*.gid/*.interface": text("The network interface that has this address; absent on InfiniBand."),
        "nic/*.port/*.subnet": text(
            "The subnet prefix that the subnet manager assigned, the first half of GID 0; absent on Ethernet."
        ),
        "nic/*.port/*.roce_v2": listing("Indices of the RoCE v2 entries."),
        "nic/*.port/*.roce_v2_ipv4": final(
            integer("The lowest index of a RoCE v2 entry with an IPv4 address: the value for NCCL_IB_GID_INDEX.")
        ),
    },
)  # fmt: skip
def rdma_gids(answer: str) -> Facts:
    """Read the GID entries of each RDMA port."""
    for device, port, entries in gid_table.tables(answer):
        item = f"nic/{spell_key(device)}.port/{spell_key(port)}"
        yield f"{item}.gid", tuple(entry.index for entry in entries)
        yield f"{item}.subnet", _subnet(entries)
        missing = Unknown(Reason.NOT_COLLECTED, "the kernel does not report the type of this entry")
        for entry in entries:
            yield f"{item}.gid/{entry.index}.address", entry.address
            yield f"{item}.gid/{entry.index}.type", entry.kind or missing
            yield f"{item}.gid/{entry.index}.interface", entry.interface or Absent("no network interface")
        if not all(entry.kind for entry in entries):
            yield f"{item}.roce_v2", missing
            yield f"{item}.roce_v2_ipv4", missing
            continue
        second = [entry for entry in entries if entry.second]
        yield f"{item}.roce_v2", tuple(entry.index for entry in second)
        lowest = next((int(entry.index) for entry in second if entry.ipv4), None)
        yield f"{item}.roce_v2_ipv4", Absent("no RoCE v2 entry with an IPv4 address") if lowest is None else lowest


def _subnet(entries: Sequence[gid_table.GidEntry]) -> str | Absent:
    """Return the first 64 bits of GID 0; absent if the entry is missing, or belongs to a network interface."""
    first = next((entry for entry in entries if entry.index == "0" and not entry.interface), None)
    return first.address[:19] if first is not None else Absent("no GID of an InfiniBand port")
