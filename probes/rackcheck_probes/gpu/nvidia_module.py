"""The loaded NVIDIA kernel module: open or proprietary, and its compiler."""

from rackcheck import Absent, Facts, Files, Read, Sourced, Unreadable, probe, read, text
from rackcheck.model.fact import clean
from rackcheck.model.regex import regex

PLACE = "/proc/driver/nvidia/version"
FIRST = regex(
    r"NVRM version: NVIDIA UNIX (?:(?P<open>Open )Kernel Module(?: for \S{1,20})?|\S{1,20} Kernel Module) "
    r"{1,4}[0-9]{1,5}(?:\.[0-9]{1,5}){1,3}(?: .{0,200})?"
)


@probe(
    Read(PLACE),
    gives={
        "driver.module.flavour": text(
            "Which of NVIDIA's kernel modules is loaded; absent if none is.", words=("open", "proprietary")
        ),
        "driver.module.compiler": text("The compiler of the module; absent if not reported."),
    },
)
def nvidia_module(files: Files) -> Facts:
    """Read the NVIDIA kernel module's version line, and the line with the compiler that built the module."""
    if not files.has(PLACE):
        none = Sourced(Absent("NVIDIA's module is not loaded"), PLACE)
        yield from ((f"driver.module.{leaf}", none) for leaf in ("flavour", "compiler"))
        return
    rows = read.rows(files.text(PLACE))
    match = FIRST.fullmatch(rows[0].rstrip()) if rows else None
    if match is None:
        raise Unreadable(f"not a version of NVIDIA's module: {clean(''.join(rows[:1]), 80)!r}")
    yield "driver.module.flavour", Sourced("open" if match["open"] else "proprietary", PLACE)
    built = [row.partition("GCC version:")[2].strip() for row in rows[1:] if row.startswith("GCC version:")]
    yield "driver.module.compiler", Sourced((built[0] if built else "") or Absent("not reported"), PLACE)
