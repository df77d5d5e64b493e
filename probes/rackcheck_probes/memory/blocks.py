"""Whether memory was taken offline, and whether new memory comes online by itself."""

from rackcheck import Absent, Facts, Shell, Unreadable, integer, probe, quantity, text
from rackcheck.model import text as read
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
    blocks = reader.blocks(rows[:-1])
    for state in ("online", "offline"):
        yield f"memory.blocks.{state}", blocks.having(state)
    if "size" in blocks.told:
        yield "memory.blocks.size", reader.mebibytes(blocks.told["size"])
    if "auto" in blocks.told:
        yield "memory.blocks.auto", blocks.told["auto"]
