"""What the links between a PCI function and its root port carry, and which of them carries least."""

from rackcheck import Class, Facts, Inputs, join, listing, quantity, spell_key, text
from rackcheck.model.pcie_tree import Links, bottleneck, narrowed, slowed, switch

ENDS = ("max_speed", "max_width", "width", "speed")


def links(inputs: Inputs) -> Links:
    """Gather what both ends of all links tell."""
    return Links(*(inputs.table("pcie", f"link.{leaf}") for leaf in ENDS))


@join(
    needs=(
        "pcie",
        "pcie/*.upstream",
        *(f"pcie/*.link.{leaf}" for leaf in ENDS),
    ),
    gives={
        "pcie/*.path.narrowed": listing(
            "Links up to the root port that trained fewer lanes than both ends have, as `port > function`."
        ),
        "pcie/*.path.slowed": listing(
            "Links up to the root port that go slower now than both ends know; an idle GPU slows its own, which is no"
            " fault.",
            Class.MEASUREMENT,
        ),
        "pcie/*.path.slowed_above": listing(
            "Those of them above the function's own link, which no idle GPU slows but AMD's with a switch inside.",
            Class.MEASUREMENT,
        ),
        "pcie/*.path.bottleneck": text(
            "The link up to the root port that carries least, the nearest of several; absent on a root bus."
        ),
        "pcie/*.path.bandwidth": quantity(
            "Gb/s", "What that link carries one way, at the speed that both ends know and on the lanes that it trained."
        ),
        "pcie/*.switch": text("The upper port of the nearest switch above; absent below none.", Class.IDENTITY),
    },
)
def pcie_path(inputs: Inputs) -> Facts:
    """Walk from every function to its root port."""
    upstream, value = inputs.table("pcie", "upstream"), links(inputs)
    for address in upstream:
        item = f"pcie/{spell_key(address)}"
        least, carried = bottleneck(address, upstream, value)
        yield f"{item}.path.narrowed", narrowed(address, upstream, value)
        yield from zip(
            (f"{item}.path.slowed", f"{item}.path.slowed_above"), slowed(address, upstream, value), strict=True
        )
        yield f"{item}.path.bottleneck", least
        yield f"{item}.path.bandwidth", carried
        yield f"{item}.switch", switch(address, upstream)
