"""The size of a memory page."""

from rackcheck import Facts, Shell, probe, quantity, read


@probe(
    Shell("getconf PAGESIZE", quick=True),
    gives={
        "memory.page_size": quantity(
            "KiB", "The size of a memory page: 4 KiB, or 64 KiB on Grace with a 64 KiB kernel."
        )
    },
)
def page_size(answer: str) -> Facts:
    """Read the size of a memory page in bytes."""
    yield "memory.page_size", read.whole(read.line("\n".join(read.rows(answer)))) / 1024
