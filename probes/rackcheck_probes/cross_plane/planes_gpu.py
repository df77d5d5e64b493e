"""GPUs as the driver and as the BMC list them: which is which, and where the two tell different things."""

from rackcheck import Absent, Facts, Inputs, join, listing, spell_key, text
from rackcheck.model.fact import Reading
from rackcheck_probes.cross_plane.planes import Same, alike, differing, matched, switched, whole

WATT = 1.0
"""Limits of power that differ by less are one: some BMCs tell whole watts."""


def same_power(left: Reading, right: Reading) -> bool:
    """Whether two limits are one."""
    if not isinstance(left, float) or not isinstance(right, float):
        return isinstance(left, Absent) and isinstance(right, Absent)
    return abs(left - right) < WATT


COMPARED: dict[str, tuple[str, str, Same]] = {
    "vbios": ("vbios", "vbios", alike),
    "power_limit": ("power.limit", "power.limit", same_power),
    "ecc": ("ecc.mode", "ecc", switched),
    "mig": ("mig.mode", "mig", switched),
    "pcie_width": ("link.width", "pcie_width", alike),
}
"""What is compared: the driver's fact, the BMC's, and when they mean the same."""


@join(
    needs=(
        "gpu", "gpu/*.serial", *(f"gpu/*.{ours}" for ours, _, _ in COMPARED.values()),
        "bmc.gpu", "bmc.gpu/*.serial", *(f"bmc.gpu/*.{theirs}" for _, theirs, _ in COMPARED.values()),
    ),
    gives={
        "gpu/*.bmc_id": text("The BMC's Id of the same GPU, by its serial number; absent where it lists none."),
        "bmc.differs.gpu.listed": listing("GPUs, known by serial number, that only the driver or only the BMC lists."),
        "bmc.differs.gpu.vbios": listing("GPUs of which driver and BMC tell two versions of VBIOS."),
        "bmc.differs.gpu.power_limit": listing("GPUs of which driver and BMC tell power limits 1 W apart or more."),
        "bmc.differs.gpu.ecc": listing("GPUs whose memory has ECC for the driver and none for the BMC, or vice versa."),
        "bmc.differs.gpu.mig": listing("GPUs that are cut into parts for one of driver and BMC only."),
        "bmc.differs.gpu.pcie_width": listing("GPUs of which driver and BMC tell two numbers of PCIe lanes in use."),
    },
)  # fmt: skip
def planes_gpu(inputs: Inputs) -> Facts:
    """Match the driver's GPUs with the BMC's by serial number, and compare what both tell of each."""
    whole(inputs.items(plane)[1] for plane in ("bmc.gpu", "gpu"))
    ours, theirs = (
        {f"{plane}/{spell_key(name)}": name for name in inputs.items(plane)[0]} for plane in ("gpu", "bmc.gpu")
    )

    def told(places: dict[str, str], leaf: str) -> dict[str, Reading]:
        return {place: inputs.reading(f"{place}.{leaf}") for place in places}

    found = matched(told(ours, "serial"), told(theirs, "serial"))
    others = dict(found.pairs)
    for place in ours:
        yield (
            f"{place}.bmc_id",
            theirs[others[place]] if place in others else Absent("the BMC lists no such serial number"),
        )
    yield "bmc.differs.gpu.listed", found.alone
    for fact, (own, other, same) in COMPARED.items():
        yield f"bmc.differs.gpu.{fact}", differing(found.pairs, told(ours, own), told(theirs, other), same)


def _places(inputs: Inputs, collection: str) -> dict[str, str]:
    """Names of a collection's items, by place."""
    return {f"{collection}/{spell_key(name)}": name for name in inputs.items(collection)[0]}
