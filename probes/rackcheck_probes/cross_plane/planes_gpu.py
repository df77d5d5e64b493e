"""GPUs as the driver and the BMC list them: which GPUs match, and in which values the two planes differ."""

from rackcheck import Absent, Class, Facts, Inputs, join, listing, spell_key, text
from rackcheck.model.fact import Reading
from rackcheck_probes.cross_plane.planes import Same, alike, differing, matched, switched, whole

WATT = 1.0
"""Difference in watts from which two power limits count as different: some BMCs report whole watts."""


DEGREES = 20.0
"""Difference in degrees from which two readings of a GPU's temperature count as different.

The two planes are read within a minute, and an idle GPU changes by a few degrees in this time; the bound is our choice.
"""


def same_heat(left: Reading, right: Reading) -> bool:
    """Whether two temperatures differ by less than 20 degrees; an absent temperature is equal to any other."""
    if not isinstance(left, float) or not isinstance(right, float):
        return True
    return abs(left - right) < DEGREES


def same_power(left: Reading, right: Reading) -> bool:
    """Whether two power limits differ by less than 1 W; two absent limits are equal."""
    if not isinstance(left, float) or not isinstance(right, float):
        return isinstance(left, Absent) and isinstance(right, Absent)
    return abs(left - right) < WATT


COMPARED: dict[str, tuple[str, str, Same]] = {
    "vbios": ("vbios", "vbios", alike),
    "power_limit": ("power.limit", "power.limit", same_power),
    "temperature": ("temperature", "temperature", same_heat),
    "ecc": ("ecc.mode", "ecc", switched),
    "mig": ("mig.mode", "mig", switched),
    "pcie_width": ("link.width", "pcie_width", alike),
}
"""Maps each fact below `bmc.differs.gpu` to the driver's fact, the BMC's fact, and the function that compares them."""


@join(
    needs=(
        "gpu", "gpu/*.serial", *(f"gpu/*.{ours}" for ours, _, _ in COMPARED.values()),
        "bmc.gpu", "bmc.gpu/*.serial", *(f"bmc.gpu/*.{theirs}" for _, theirs, _ in COMPARED.values()),
    ),
    gives={
        "gpu/*.bmc_id": text("The BMC's Id of the same GPU, matched by serial number; absent if the BMC lists none."),
        "bmc.differs.gpu.listed": listing("GPUs, by serial number, that only the driver or only the BMC lists."),
        "bmc.differs.gpu.vbios": listing("GPUs whose VBIOS version differs between driver and BMC."),
        "bmc.differs.gpu.power_limit": listing("GPUs whose power limit differs by 1 W or more between driver and BMC."),
        "bmc.differs.gpu.temperature": listing(
            "GPUs whose temperature differs by 20 C or more between driver and BMC.", Class.MEASUREMENT
        ),
        "bmc.differs.gpu.ecc": listing("GPUs whose memory ECC is on according to only one of driver and BMC."),
        "bmc.differs.gpu.mig": listing("GPUs that are partitioned according to only one of driver and BMC."),
        "bmc.differs.gpu.pcie_width": listing("GPUs whose number of PCIe lanes in use differs between driver and BMC."),
    },
)  # fmt: skip
def planes_gpu(inputs: Inputs) -> Facts:
    """Match the driver's GPUs with the BMC's by serial number, and compare what both report."""
    whole(inputs.items(plane)[1] for plane in ("bmc.gpu", "gpu"))
    ours, theirs = (
        {f"{plane}/{spell_key(name)}": name for name in inputs.items(plane)[0]} for plane in ("gpu", "bmc.gpu")
    )

    def values(places: dict[str, str], leaf: str) -> dict[str, Reading]:
        return {place: inputs.reading(f"{place}.{leaf}") for place in places}

    found = matched(values(ours, "serial"), values(theirs, "serial"))
    others = dict(found.pairs)
    for place in ours:
        yield (
            f"{place}.bmc_id",
            theirs[others[place]] if place in others else Absent("the BMC lists no such serial number"),
        )
    yield "bmc.differs.gpu.listed", found.alone
    for fact, (own, other, same) in COMPARED.items():
        yield f"bmc.differs.gpu.{fact}", differing(found.pairs, values(ours, own), values(theirs, other), same)


def _places(inputs: Inputs, collection: str) -> dict[str, str]:
    """Map the fact path of each item of a collection to the item's name."""
    return {f"{collection}/{spell_key(name)}": name for name in inputs.items(collection)[0]}
