"""How the kernel makes huge pages, and merges equal pages (KSM), in the background."""

from rackcheck import Facts, Files, Read, flag, integer, probe, quantity, read, text

THP, KSM = "/sys/kernel/mm/transparent_hugepage", "/sys/kernel/mm/ksm/run"
SHMEM, SIZE, ZERO = (f"{THP}/{name}" for name in ("shmem_enabled", "hpage_pmd_size", "use_zero_page"))
DEFRAG, SLEEP = f"{THP}/khugepaged/defrag", f"{THP}/khugepaged/scan_sleep_millisecs"


@probe(
    Read(SHMEM, SIZE, ZERO, DEFRAG, SLEEP, KSM),
    gives={
        "memory.thp.shmem": text("Huge pages for shared memory: always, within_size, advise, never, deny, force."),
        "memory.thp.size": quantity("MiB", "A transparent huge page's size: 2 MiB, or 512 MiB with pages of 64 KiB."),
        "memory.thp.zero_page": flag("Whether pages that are only read share one huge page of zeros."),
        "memory.thp.khugepaged_defrag": flag("Whether khugepaged moves pages to form huge pages."),
        "memory.thp.khugepaged_sleep": quantity("ms", "How long khugepaged sleeps between two scans."),
        "memory.ksm": integer("Merging of equal pages: 0 off, 1 on, 2 off and merged pages are separated again."),
    },
)
def thp_more(files: Files) -> Facts:
    """Read the settings of huge pages and of page merging (KSM); a fact is absent if the kernel lacks the feature."""
    yield "memory.thp.shmem", files.read(SHMEM, read.chosen)
    yield "memory.thp.size", files.read(SIZE, lambda content: read.whole(content) / (1 << 20))
    yield "memory.thp.zero_page", files.read(ZERO, read.bit)
    yield "memory.thp.khugepaged_defrag", files.read(DEFRAG, read.bit)
    yield "memory.thp.khugepaged_sleep", files.read(SLEEP, read.whole)
    yield "memory.ksm", files.read(KSM, read.whole)
