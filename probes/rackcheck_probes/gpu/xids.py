"""Xids of each GPU in the kernel's log."""

from rackcheck import Absent, Class, Facts, Inputs, Unknown, join, listing, spell_key


@join(
    needs=("gpu", "gpu/*.pci", "log.xid", "log.xid/*.codes"),
    gives={"gpu/*.xids": listing("Numbers of this GPU's Xids in the kernel's log.", Class.COUNTER)},
)
def gpu_xids(inputs: Inputs) -> Facts:
    """Find the Xids of each GPU by its PCI address."""
    codes = inputs.table("log.xid", "codes")
    _, unread = inputs.items("log.xid")
    for index, address in inputs.table("gpu", "pci").items():
        if not isinstance(address, str):
            yield f"gpu/{spell_key(index)}.xids", address
            continue
        reading = codes.get(address)
        # A log that was not read to its end may contain more Xids of any GPU, so also of this one.
        yield (
            f"gpu/{spell_key(index)}.xids",
            reading if isinstance(reading, Absent | Unknown) else unread or reading or (),
        )
