"""Whether memory is allocated in huge pages automatically."""

from rackcheck import Facts, Files, Read, probe, read, text

FOLDER = "/sys/kernel/mm/transparent_hugepage"


@probe(
    Read(f"{FOLDER}/enabled", f"{FOLDER}/defrag"),
    gives={
        "memory.thp.mode": text("Transparent huge pages: always, madvise (where a program requests it), never."),
        "memory.thp.defrag": text(
            "When a page fault waits for a huge page: always, defer, defer+madvise, madvise, never."
        ),
    },
)
def thp(files: Files) -> Facts:
    """Read the active values, which the kernel writes in brackets."""
    yield "memory.thp.mode", files.read(f"{FOLDER}/enabled", read.chosen)
    yield "memory.thp.defrag", files.read(f"{FOLDER}/defrag", read.chosen)
