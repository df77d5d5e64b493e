"""Which Xids the kernel's log holds of each GPU."""

from rackcheck import Absent, Class, Facts, Inputs, Unknown, join, listing, spell_key


@join(
    needs=("gpu", "gpu/*.pci", "log.xid", "log.xid/*.codes"),
    gives={"gpu/*.xids": listing("Numbers of the Xids that the kernel's log holds of this GPU.", Class.COUNTER)},
)
def gpu_xids(inputs: Inputs) -> Facts:
    """Look up each GPU's address among those that Xids name."""
    codes = inputs.table("log.xid", "codes")
    _, unread = inputs.items("log.xid")
    for index, address in inputs.table("gpu", "pci").items():
        if not isinstance(address, str):
            yield f"gpu/{spell_key(index)}.xids", address
            continue
        reading = codes.get(address)
        # A log that was not read to its end may hold more, of this GPU as of others.
        yield (
            f"gpu/{spell_key(index)}.xids",
            reading if isinstance(reading, Absent | Unknown) else unread or reading or (),
        )
