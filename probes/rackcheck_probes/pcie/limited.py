"""PCI functions for which the kernel or a driver logged that a link above them limits their bandwidth."""

from rackcheck import Absent, Class, Facts, Inputs, integer, join, spell_key


@join(
    needs=("pcie", "log.kernel.pcie", "log.kernel.pcie/*.limited"),
    gives={
        "pcie/*.link.limited": integer(
            "Lines in the kernel's log about a link above this function that limits its bandwidth.", Class.COUNTER
        )
    },
)
def pcie_limited(inputs: Inputs) -> Facts:
    """Find the lines of each function by its address."""
    found = inputs.table("log.kernel.pcie", "limited")
    _, unread = inputs.items("log.kernel.pcie")
    for address in inputs.items("pcie")[0]:
        count = found.get(address, 0)
        yield f"pcie/{spell_key(address)}.link.limited", unread or (0 if isinstance(count, Absent) else count)
