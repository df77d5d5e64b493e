"""Whether memory was taken offline, and whether new memory comes online automatically."""

from rackcheck import Absent, Facts, Shell, Unreadable, integer, probe, quantity, read, text
from rackcheck.parse.host.memory import memory_blocks as reader

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
            "Blocks of memory that are present but not in use: taken offline, or never put online."
        ),
        "memory.blocks.size": quantity("MiB", "A block's size."),
        "memory.blocks.auto": text("Whether new memory comes online automatically: offline, online, online_movable."),
    },
)
def memory_blocks(answer: str) -> Facts:
    """Count the memory blocks in each state; the facts are absent if memory cannot be taken offline.

    The numbers of blocks are unknown if any block does not report its state.
    """
    rows = read.rows(answer)
    if rows == ["none"]:
        for leaf in ("online", "offline", "size", "auto"):
            yield f"memory.blocks.{leaf}", Absent(f"no {FOLDER}")
        return
    if not rows or rows[-1] != "end":
        raise Unreadable("the list of memory blocks is incomplete")
    blocks = reader.blocks(rows[:-1])
    for state in ("online", "offline"):
        yield f"memory.blocks.{state}", blocks.having(state)
    if "size" in blocks.words:
        yield "memory.blocks.size", reader.mebibytes(blocks.words["size"])
    if "auto" in blocks.words:
        yield "memory.blocks.auto", blocks.words["auto"]
