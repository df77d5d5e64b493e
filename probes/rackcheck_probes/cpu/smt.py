"""Whether cores run two threads."""

from rackcheck import Facts, Files, Read, flag, probe, read, text

FOLDER = "/sys/devices/system/cpu/smt"


@probe(
    Read(f"{FOLDER}/active", f"{FOLDER}/control"),
    gives={
        "cpu.smt": flag("Whether two threads share a core now (Hyper-Threading, SMT)."),
        "cpu.smt_control": text(
            "The kernel's SMT setting: on, off, forceoff, notsupported (by firmware or CPU), notimplemented.",
            words=("on", "off", "forceoff", "notsupported", "notimplemented"),
        ),
    },
)
def smt(files: Files) -> Facts:
    """Read the kernel's SMT state and switch; the facts are absent on kernels before 4.19."""
    yield "cpu.smt", files.read(f"{FOLDER}/active", read.bit)
    yield "cpu.smt_control", files.read(f"{FOLDER}/control")
