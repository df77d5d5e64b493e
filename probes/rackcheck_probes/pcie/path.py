"""Bandwidth of the links between a PCI function and its root port, and the slowest of them."""

from rackcheck import Class, Facts, Inputs, join, listing, quantity, spell_key, text
from rackcheck.model.pcie_tree import Links, bottleneck, narrowed, slowed, switch

ENDS = ("max_speed", "max_width", "width", "speed")


def links(inputs: Inputs) -> Links:
    """Collect the speeds and widths that both ends of every PCI Express link report."""
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
            "Links up to the root port that run slower than both ends support; an idle GPU slows its own link.",
            Class.MEASUREMENT,
        ),
        "pcie/*.path.slowed_above": listing(
            "Slowed links above the function's own link; an idle GPU slows none of them, "
            "except an AMD GPU with an internal switch.",
            Class.MEASUREMENT,
        ),
        "pcie/*.path.bottleneck": text(
            "The slowest link up to the root port, the nearest if several are equal; absent on a root bus."
        ),
        "pcie/*.path.bandwidth": quantity(
            "Gb/s", "The one-way bandwidth of the slowest link: its trained lanes at the speed that both ends support."
        ),
        "pcie/*.switch": text("The upper port of the nearest switch above; absent without one.", Class.IDENTITY),
    },
)
def pcie_path(inputs: Inputs) -> Facts:
    """Compare the links on the path from each PCI function up to its root port."""
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
