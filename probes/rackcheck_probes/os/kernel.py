"""The running kernel."""

from rackcheck import Class, Facts, Shell, Unreadable, probe, read, text, version


@probe(
    Shell("uname -r && uname -m && uname -v", quick=True),
    gives={
        "kernel.release": version("kernel", "The running kernel's release: 5.15.0-1053-nvidia."),
        "kernel.arch": text("The machine's instruction set, as the kernel calls it: x86_64, aarch64.", Class.IDENTITY),
        "kernel.build": text(
            "When and how the running kernel was built; distinguishes two builds of one release.", Class.VERSION
        ),
    },
)
def kernel(answer: str) -> Facts:
    """Read the three values that uname prints, one per line."""
    rows = read.rows(answer)
    if len(rows) != 3 or not all(map(str.strip, rows)):
        raise Unreadable(f"not three lines: {answer[:80]!r}")
    yield from zip(("kernel.release", "kernel.arch", "kernel.build"), map(str.strip, rows), strict=True)
