"""CPUs, memory, BIOS and clocks: the BMC's data about the host, compared with the operating system's."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping

from rackcheck import Absent, Class, Facts, Inputs, Reason, Unknown, integer, join, listing, quantity, spell_key
from rackcheck.model.fact import Reading
from rackcheck.probe.join import settled
from rackcheck_probes.cross_plane.planes import Same, alike, but, folded, switched, whole


def _by_place(inputs: Inputs, collection: str, leaf: str) -> dict[str, Reading]:
    """Map the path of each item to the item's fact `leaf`; raises Unreadable if the collection may be incomplete."""
    whole((inputs.items(collection)[1],))
    return {f"{collection}/{spell_key(name)}": reading for name, reading in inputs.table(collection, leaf).items()}


def _one(inputs: Inputs, ours: str, theirs: str, same: Same) -> Reading:
    """Compare a fact of the host with a fact of the BMC; return the difference as a list, empty if they agree."""
    left, right = inputs.reading(ours), inputs.reading(theirs)
    lost = settled((right, left))
    if lost is not None:
        return lost
    answer = same(left, right)
    if isinstance(answer, Unknown):
        return answer
    return () if answer else (but(ours, left, theirs, right),)


def same_version(left: Reading, right: Reading) -> bool | Unknown:
    """Whether two BIOS versions are equal; unknown if one version contains the other: `U72` and `U72 v1.34`."""
    if alike(left, right):
        return True
    short, long = sorted((folded(left), folded(right)), key=len)
    if re.search(rf"(?<!\w){re.escape(short)}(?!\w)", long):
        return Unknown(Reason.NOT_COLLECTED, f"one version is part of the other: {short} and {long}")
    return False


@join(
    needs=("node.serial", "bmc.host.serial", "bmc.host.sku"),
    gives={
        "bmc.differs.host.serial": listing("The host's serial number in the DMI table and on the BMC, if they differ."),
    },
)
def planes_serial(inputs: Inputs) -> Facts:
    """Compare the host's serial number on both planes; Dell's BMCs report the DMI table's number as order number."""
    ours, serial, sku = (inputs.reading(path) for path in ("node.serial", "bmc.host.serial", "bmc.host.sku"))
    whole((serial, ours))
    if alike(ours, serial) or (not isinstance(sku, Unknown) and alike(ours, sku)):
        yield "bmc.differs.host.serial", ()
        return
    whole((sku,))
    yield "bmc.differs.host.serial", (but("node.serial", ours, "bmc.host.serial", serial),)


@join(
    needs=("cpu.smt", "bios.smt"),
    gives={
        "bmc.differs.smt": listing("SMT as set in the BIOS and as the kernel runs it, if they differ."),
    },
)
def planes_smt(inputs: Inputs) -> Facts:
    """Compare the BIOS setting of SMT with the kernel's SMT state."""
    yield "bmc.differs.smt", _one(inputs, "cpu.smt", "bios.smt", switched)


@join(
    needs=("os.bios.version", "firmware.bios"),
    gives={"bmc.differs.bios": listing("The BIOS version as the BMC and the DMI table report it, if they differ.")},
)
def planes_bios(inputs: Inputs) -> Facts:
    """Compare the BIOS version that the BMC reports with the version in the DMI table."""
    yield "bmc.differs.bios", _one(inputs, "os.bios.version", "firmware.bios", same_version)


@join(
    needs=("os.secure_boot.enabled", "bios.secure_boot"),
    gives={
        "bmc.differs.secure_boot": listing("Secure Boot as the BMC and the kernel report it, if they differ."),
    },
)
def planes_secure_boot(inputs: Inputs) -> Facts:
    """Compare Secure Boot as the BMC reports it with the UEFI variables that the kernel shows."""
    yield "bmc.differs.secure_boot", _one(inputs, "os.secure_boot.enabled", "bios.secure_boot", switched)


def same_order(left: Reading, right: Reading) -> bool | Unknown:
    """Whether two boot orders begin with the same entry, and have their common entries in the same order.

    Entries that only one of the boot orders contains are ignored, because firmware removes and adds entries when the
    machine starts.
    """
    ours, theirs = (tuple(map(folded, reading)) if isinstance(reading, tuple) else () for reading in (left, right))
    if not ours or not theirs:
        return isinstance(left, Absent) and isinstance(right, Absent)
    odd = next((entry for entry in theirs if not re.fullmatch("boot[0-9a-f]{4}", entry)), None)
    if odd is not None:
        return Unknown(Reason.NOT_COLLECTED, f"BMC boot entry {odd} has no UEFI number such as Boot0003")
    both = set(ours) & set(theirs)
    return ours[0] == theirs[0] and [e for e in ours if e in both] == [e for e in theirs if e in both]


@join(
    needs=("os.boot.order", "bmc.boot.order"),
    gives={
        "bmc.differs.boot.order": listing("The boot order as UEFI's variables and the BMC report it, if they differ.")
    },
)
def planes_boot(inputs: Inputs) -> Facts:
    """Compare the boot order in UEFI's variables with the boot order that the BMC reports."""
    yield "bmc.differs.boot.order", _one(inputs, "os.boot.order", "bmc.boot.order", same_order)


def total(readings: Iterable[Reading]) -> Reading:
    """Add up integers; an absent value counts as 0, and the sum is unknown if one value is unknown."""
    rows = list(readings)
    return settled(rows) or sum(n for n in rows if isinstance(n, int))


@join(
    needs=("cpu.model", "bmc.cpu", "bmc.cpu/*.model", "bmc.cpu/*.cores_enabled"),
    gives={
        "bmc.cpu.cores_enabled": integer("Cores that firmware left enabled, of all CPUs together."),
        "bmc.differs.cpu.model": listing("CPUs whose model differs between BMC and kernel."),
    },
)
def planes_cpu(inputs: Inputs) -> Facts:
    """Add up the cores that the BMC reports, and compare the models of the CPUs."""
    yield "bmc.cpu.cores_enabled", total(_by_place(inputs, "bmc.cpu", "cores_enabled").values())
    models, ours = _by_place(inputs, "bmc.cpu", "model"), inputs.reading("cpu.model")
    fitted = {place: model for place, model in models.items() if not isinstance(model, Absent)}
    lost = settled((*fitted.values(), ours))
    yield (
        "bmc.differs.cpu.model",
        lost or tuple(but("cpu.model", ours, at, model) for at, model in fitted.items() if not alike(ours, model)),
    )


@join(
    needs=("bmc.dimm", "bmc.dimm/*.size"),
    gives={"bmc.memory.dimm_count": integer("Memory modules that the BMC lists, without empty slots.")},
)
def bmc_dimm_count(inputs: Inputs) -> Facts:
    """Count the memory slots for which the BMC reports a size: the other slots are empty."""
    sizes = _by_place(inputs, "bmc.dimm", "size")
    yield "bmc.memory.dimm_count", settled(sizes.values()) or sum(not isinstance(s, Absent) for s in sizes.values())


@join(
    needs=("dimm", "dimm/*.serial", "bmc.dimm", "bmc.dimm/*.serial"),
    gives={
        "bmc.differs.dimm.serial": listing("Modules, by serial number, that only the DMI table or only the BMC lists."),
    },
)
def planes_dimm(inputs: Inputs) -> Facts:
    """Compare how often each memory module's serial number occurs on each plane: vendors may use a number twice."""
    theirs, ours = (_by_place(inputs, plane, "serial") for plane in ("bmc.dimm", "dimm"))
    whole((*theirs.values(), *ours.values()))
    yield "bmc.differs.dimm.serial", (*_beyond(ours, theirs), *_beyond(theirs, ours))


def _beyond(values: Mapping[str, Reading], others: Mapping[str, Reading]) -> Iterable[str]:
    """Yield the memory modules whose serial number occurs more often in `values` than in `others`."""
    left = Counter(folded(serial) for serial in others.values() if not isinstance(serial, Absent))
    for place, serial in values.items():
        if isinstance(serial, Absent):
            continue
        if left[folded(serial)] <= 0:
            yield f"{place} {serial}"
        left[folded(serial)] -= 1


@join(
    needs=("time.offset", "bmc.manager", "bmc.manager/*.offset"),
    gives={
        "bmc.manager/*.ahead": quantity(
            "s", "The BMC's clock minus the node's clock; negative if the BMC's clock is behind.", Class.MEASUREMENT
        ),
    },
)
def planes_clock(inputs: Inputs) -> Facts:
    """Compare each BMC's clock with the node's clock, by the offset of each from the auditing machine's clock."""
    ours = inputs.reading("time.offset")
    for name, theirs in inputs.table("bmc.manager", "offset").items():
        known = isinstance(ours, float) and isinstance(theirs, float)
        lost = settled((theirs, ours)) or Unknown(Reason.NOT_COLLECTED, "the host or the BMC reports no clock")
        # The difference of two values in hundredths of a second must not show how floating-point numbers are stored.
        yield f"bmc.manager/{spell_key(name)}.ahead", round(theirs - ours, 6) if known else lost  # type: ignore[operator]
