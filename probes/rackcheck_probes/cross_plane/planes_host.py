"""CPUs, memory, BIOS and clocks: what the BMC tells of the host beside what its operating system tells."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping

from rackcheck import Absent, Class, Facts, Inputs, Reason, Unknown, integer, join, listing, quantity, spell_key
from rackcheck.model.fact import Reading
from rackcheck.probe.join import settled
from rackcheck_probes.cross_plane.planes import Same, alike, but, folded, switched, whole


def _by_place(inputs: Inputs, collection: str, leaf: str) -> dict[str, Reading]:
    """One fact of all items, by place; raises Unreadable where there may be more of them."""
    whole((inputs.items(collection)[1],))
    return {f"{collection}/{spell_key(name)}": reading for name, reading in inputs.table(collection, leaf).items()}


def _one(inputs: Inputs, ours: str, theirs: str, same: Same) -> Reading:
    """Hold one fact of the host against one of the BMC."""
    left, right = inputs.reading(ours), inputs.reading(theirs)
    lost = settled((right, left))
    if lost is not None:
        return lost
    answer = same(left, right)
    if isinstance(answer, Unknown):
        return answer
    return () if answer else (but(ours, left, theirs, right),)


def same_version(left: Reading, right: Reading) -> bool | Unknown:
    """Whether two planes name one BIOS; where one of them says more, `U72` and `U72 v1.34`, nobody knows."""
    if alike(left, right):
        return True
    short, long = sorted((folded(left), folded(right)), key=len)
    if re.search(rf"(?<!\w){re.escape(short)}(?!\w)", long):
        return Unknown(Reason.NOT_COLLECTED, f"one says {short}, the other more: {long}")
    return False


@join(
    needs=("node.serial", "bmc.host.serial", "bmc.host.sku"),
    gives={
        "bmc.differs.host.serial": listing(
            "The host's serial number in the DMI table and at the BMC, where they differ."
        ),
    },
)
def planes_serial(inputs: Inputs) -> Facts:
    """Compare serial numbers; Dell's DMI table tells the service tag, which its BMC tells as the order number."""
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
        "bmc.differs.smt": listing("Two threads a core, as the BIOS is set and as the kernel runs, where they differ."),
    },
)
def planes_smt(inputs: Inputs) -> Facts:
    """Compare what the BIOS is set to with what the kernel runs."""
    yield "bmc.differs.smt", _one(inputs, "cpu.smt", "bios.smt", switched)


@join(
    needs=("os.bios.version", "firmware.bios"),
    gives={"bmc.differs.bios": listing("The BIOS version of the BMC and of the DMI table, where they differ.")},
)
def planes_bios(inputs: Inputs) -> Facts:
    """Compare the BIOS that the BMC lists with the one that started the node."""
    yield "bmc.differs.bios", _one(inputs, "os.bios.version", "firmware.bios", same_version)


@join(
    needs=("os.secure_boot.enabled", "bios.secure_boot"),
    gives={
        "bmc.differs.secure_boot": listing("Secure Boot, as the BMC and as the kernel tell it, where they differ."),
    },
)
def planes_secure_boot(inputs: Inputs) -> Facts:
    """Compare Secure Boot as the BMC tells it with the variables that the kernel sees."""
    yield "bmc.differs.secure_boot", _one(inputs, "os.secure_boot.enabled", "bios.secure_boot", switched)


def same_order(left: Reading, right: Reading) -> bool | Unknown:
    """Whether two boot orders begin alike, and try what both list one after the other alike.

    Either side may list more: firmware drops and adds entries when the machine starts.
    """
    ours, theirs = (tuple(map(folded, reading)) if isinstance(reading, tuple) else () for reading in (left, right))
    if not ours or not theirs:
        return isinstance(left, Absent) and isinstance(right, Absent)
    odd = next((entry for entry in theirs if not re.fullmatch("boot[0-9a-f]{4}", entry)), None)
    if odd is not None:
        return Unknown(Reason.NOT_COLLECTED, f"the BMC calls a boot entry {odd}, and UEFI numbers its own")
    both = set(ours) & set(theirs)
    return ours[0] == theirs[0] and [e for e in ours if e in both] == [e for e in theirs if e in both]


@join(
    needs=("os.boot.order", "bmc.boot.order"),
    gives={"bmc.differs.boot.order": listing("The boot order of UEFI's variables and of the BMC, where they differ.")},
)
def planes_boot(inputs: Inputs) -> Facts:
    """Compare what firmware will start from with what the BMC believes."""
    yield "bmc.differs.boot.order", _one(inputs, "os.boot.order", "bmc.boot.order", same_order)


def total(readings: Iterable[Reading]) -> Reading:
    """Add up what is there; of one that is not known, nobody knows the sum."""
    rows = list(readings)
    return settled(rows) or sum(n for n in rows if isinstance(n, int))


@join(
    needs=("cpu.model", "bmc.cpu", "bmc.cpu/*.model", "bmc.cpu/*.cores_enabled"),
    gives={
        "bmc.cpu.cores_enabled": integer("Cores that firmware left switched on, of all CPUs."),
        "bmc.differs.cpu.model": listing("CPUs that the BMC calls otherwise than the kernel does."),
    },
)
def planes_cpu(inputs: Inputs) -> Facts:
    """Add up the BMC's cores, and compare the CPUs' names."""
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
    gives={"bmc.memory.dimm_count": integer("Memory modules that the BMC finds in their slots.")},
)
def bmc_dimm_count(inputs: Inputs) -> Facts:
    """Count the slots that hold memory."""
    sizes = _by_place(inputs, "bmc.dimm", "size")
    yield "bmc.memory.dimm_count", settled(sizes.values()) or sum(not isinstance(s, Absent) for s in sizes.values())


@join(
    needs=("dimm", "dimm/*.serial", "bmc.dimm", "bmc.dimm/*.serial"),
    gives={
        "bmc.differs.dimm.serial": listing("Modules, by serial number, that the DMI table or the BMC alone lists."),
    },
)
def planes_dimm(inputs: Inputs) -> Facts:
    """Compare the serial numbers of all modules; makers give one twice, so each counts."""
    theirs, ours = (_by_place(inputs, plane, "serial") for plane in ("bmc.dimm", "dimm"))
    whole((*theirs.values(), *ours.values()))
    yield "bmc.differs.dimm.serial", (*_beyond(ours, theirs), *_beyond(theirs, ours))


def _beyond(values: Mapping[str, Reading], others: Mapping[str, Reading]) -> Iterable[str]:
    """Name the places whose serial number the other plane has less often."""
    left = Counter(folded(serial) for serial in others.values() if not isinstance(serial, Absent))
    for place, serial in values.items():
        if isinstance(serial, Absent):
            continue
        if left[folded(serial)] == 0:
            yield f"{place} {serial}"
        left[folded(serial)] -= 1


@join(
    needs=("time.offset", "bmc.manager", "bmc.manager/*.offset"),
    gives={
        "bmc.manager/*.ahead": quantity("s", "Its clock less the node's; below zero it is slow.", Class.MEASUREMENT),
    },
)
def planes_clock(inputs: Inputs) -> Facts:
    """Hold each controller's clock against the node's; both were held against ours."""
    ours = inputs.reading("time.offset")
    for name, theirs in inputs.table("bmc.manager", "offset").items():
        known = isinstance(ours, float) and isinstance(theirs, float)
        lost = settled((theirs, ours)) or Unknown(Reason.NOT_COLLECTED, "one of the two has no clock to tell")
        yield f"bmc.manager/{spell_key(name)}.ahead", theirs - ours if known else lost  # type: ignore[operator]
