"""A rule in Python: the example of docs/guide/profiles.md."""

from collections.abc import Iterator

from rackcheck import Inputs, Wrong, rule


@rule(facts=["memory.total", "site.tainted"])
def memory_by_taint(known: Inputs) -> Iterator[Wrong]:
    """Find memory that is too small, or a kernel that is tainted."""
    memory, tainted = known.reading("memory.total"), known.reading("site.tainted")
    if isinstance(memory, float) and memory < 1:
        yield Wrong("memory.total", f"{memory:.6g} GiB", "must be 1 GiB")
    if tainted != 0:
        yield Wrong("site.tainted", f"{tainted}", "must be 0")
