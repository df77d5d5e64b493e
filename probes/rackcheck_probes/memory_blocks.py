"""Whether memory was taken offline, and whether new memory comes online by itself."""

import re

from rackcheck import Absent, Facts, Reason, Shell, Unknown, Unreadable, integer, probe, quantity, text
from rackcheck.core import read

# A block is 128 MiB on small machines and up to 2 GiB: there may be ten thousand, so the node counts them.
FOLDER = "/sys/devices/system/memory"
COMMAND = f"""\
cd {FOLDER} 2>/dev/null || {{ echo none; exit 0; }}
set -- memory[0-9]*/state; [ -e "$1" ] || shift; echo "blocks $#"
cat memory[0-9]*/state | sort | uniq -c
read -r s <block_size_bytes && echo "size $s"
read -r a <auto_online_blocks && echo "auto $a"
echo end"""


@probe(
    Shell(COMMAND, quick=True),
    gives={
        "memory.blocks.online": integer("Blocks of memory that the kernel uses."),
        "memory.blocks.offline": integer(
            "Blocks of memory that are there and not used: taken offline, or never put on."
        ),
        "memory.blocks.size": quantity("MiB", "A block's size."),
        "memory.blocks.auto": text("Whether new memory comes online by itself: offline, online, online_movable."),
    },
)
def memory_blocks(answer: str) -> Facts:
    """Read how many blocks are in which state; absent where memory cannot be taken offline.

    Unless every block has told its state, none of the numbers is known.
    """
    rows = read.rows(answer)
    if rows == ["none"]:
        for leaf in ("online", "offline", "size", "auto"):
            yield f"memory.blocks.{leaf}", Absent(f"no {FOLDER}")
        return
    if not rows or rows[-1] != "end":
        raise Unreadable("not the whole of the memory blocks")
    table = {words[-1] if words[0].isdigit() else words[0]: words for row in rows[:-1] if (words := row.split())}
    states = {row[1]: read.whole(row[0]) for row in table.values() if len(row) == 2 and row[0].isdigit()}
    blocks = read.whole(table["blocks"][1]) if len(table.get("blocks", ())) == 2 else 0
    silent = Unknown(Reason.NOT_COLLECTED, f"{sum(states.values())} of {blocks} blocks told their state")
    for state in ("online", "offline"):
        yield f"memory.blocks.{state}", states.get(state, 0) if 0 < blocks == sum(states.values()) else silent
    if len(table.get("size", ())) == 2:
        if not re.fullmatch("[0-9a-f]{1,16}", table["size"][1]):
            raise Unreadable(f"not a size in hexadecimal: {table['size'][1][:40]!r}")
        yield "memory.blocks.size", int(table["size"][1], 16) / (1 << 20)
    if len(table.get("auto", ())) == 2:
        yield "memory.blocks.auto", table["auto"][1]
