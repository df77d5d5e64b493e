"""A command, and a fact that follows from another one."""

from rackcheck import Absent, Facts, Inputs, Shell, Unknown, flag, join, probe, text


@probe(Shell("uname -r"), gives={"site.release": text("The kernel's release, as uname prints it.")})
def site_release(out: str) -> Facts:
    """Read one line."""
    yield "site.release", out.strip()


@join(needs=("site.tainted",), gives={"site.clean": flag("Whether the kernel has no taint bit.")})
def site_clean(inputs: Inputs) -> Facts:
    """Compare the mask with zero."""
    tainted = inputs.reading("site.tainted")
    yield "site.clean", tainted if isinstance(tainted, Absent | Unknown) else tainted == 0
