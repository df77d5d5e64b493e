"""The GID table of each RDMA port: which of its entries carry RoCE v2."""

import re
from collections.abc import Iterator

from rackcheck import (
    Absent,
    Class,
    Facts,
    Reason,
    Shell,
    Unknown,
    Unreadable,
    collection,
    integer,
    listing,
    probe,
    spell_key,
    text,
)
from rackcheck.core import read

# A table has up to 256 entries, nearly all of them zeros, and the kernel refuses to tell an empty entry's type.
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
PORT = re.compile(r"port ([^/\s]{1,100})/ports/([0-9]{1,5})")
ENTRY = re.compile(r"([0-9]{1,5})\|((?:[0-9a-f]{4}:){7}[0-9a-f]{4})\|([^|]{0,40})\|([^|]{0,40})")
MAPPED = "0000:0000:0000:0000:0000:ffff:"
"""How the GID of an IPv4 address begins."""


Entry = tuple[str, str, str, str]
"""An entry's index, address, type and interface."""


def tables(answer: str) -> Iterator[tuple[str, str, list[Entry]]]:
    """Part the answer into ports, each with its entries; raises Unreadable on a table without its end."""
    port: re.Match[str] | None = None
    entries: list[Entry] = []
    for row in read.rows(answer):
        head, entry = PORT.fullmatch(row), ENTRY.fullmatch(row)
        if head is not None and port is None:
            port, entries = head, []
        elif entry is not None and port is not None:
            entries.append((entry[1], entry[2], entry[3], entry[4]))
        elif row == "end" and port is not None:
            yield port[1], port[2], entries
            port = None
        else:
            raise Unreadable(f"not an entry of a GID table: {row[:80]!r}")
    if port is not None:
        raise Unreadable("a GID table without its end")


@probe(
    Shell(COMMAND, seconds=30, cap=4 << 20, quick=True),
    gives={
        "nic/*.port/*.gid": collection("Entries of the port's GID table that are in use, by index."),
        "nic/*.port/*.gid/*.address": text("The entry's GID.", Class.IDENTITY),
        "nic/*.port/*.gid/*.type": text("What the entry carries: IB/RoCE v1 or RoCE v2."),
        "nic/*.port/*.gid/*.interface": text("The network interface whose address it is; absent on InfiniBand."),
        "nic/*.port/*.roce_v2": listing("Indices of the entries that carry RoCE v2."),
        "nic/*.port/*.roce_v2_ipv4": integer(
            "The lowest index that carries RoCE v2 over an IPv4 address: what NCCL_IB_GID_INDEX has to name."
        ),
    },
)  # fmt: skip
def rdma_gids(answer: str) -> Facts:
    """Read each port's entries."""
    for device, port, entries in tables(answer):
        item = f"nic/{spell_key(device)}.port/{spell_key(port)}"
        entries.sort(key=lambda entry: int(entry[0]))
        yield f"{item}.gid", tuple(index for index, *_ in entries)
        untold = Unknown(Reason.NOT_COLLECTED, "the kernel tells no type of this entry")
        for index, address, kind, interface in entries:
            yield f"{item}.gid/{index}.address", address
            yield f"{item}.gid/{index}.type", kind or untold
            yield f"{item}.gid/{index}.interface", interface or Absent("no network interface")
        if any(not kind for _, _, kind, _ in entries):
            yield f"{item}.roce_v2", untold
            yield f"{item}.roce_v2_ipv4", untold
            continue
        second = [(index, address) for index, address, kind, _ in entries if kind == "RoCE v2"]
        yield f"{item}.roce_v2", tuple(index for index, _ in second)
        mapped = [int(index) for index, address in second if address.startswith(MAPPED)]
        yield f"{item}.roce_v2_ipv4", mapped[0] if mapped else Absent("no RoCE v2 entry with an IPv4 address")
