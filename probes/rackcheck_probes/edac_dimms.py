"""Memory errors of each module, and of what the driver can tell no module of."""

import re

from rackcheck import Class, Facts, Files, Read, Reason, Unreadable, collection, integer, probe, quantity, text
from rackcheck.core import read

MC = "/sys/devices/system/edac/mc/mc*"
# A driver that cannot tell modules names ranks in their place, and an old one rows of chips with their channels.
MODULES = (f"{MC}/dimm*", f"{MC}/rank*")
ROW, CHANNEL = f"{MC}/csrow*", f"{MC}/csrow*/ch*"
TEXTS = {"label": "dimm_label", "location": "dimm_location", "type": "dimm_mem_type", "correction": "dimm_edac_mode"}
COUNTS = {"corrected": "ce_count", "uncorrected": "ue_count"}
OWN = ("mc_name", "size_mb", "ce_noinfo_count", "ue_noinfo_count")
NOBODY = "no memory controller has an EDAC driver: nobody counts its errors"


def gibibytes(content: str) -> float:
    """Read the driver's MB, which are MiB."""
    return read.whole(content) / 1024


@probe(
    Read(
        *(f"{MC}/{name}" for name in (*OWN, *COUNTS.values())),
        *(f"{p}/{n}" for p in MODULES for n in (*TEXTS.values(), "size", "dimm_ce_count", "dimm_ue_count")),
        *(f"{ROW}/{name}" for name in COUNTS.values()),
        *(f"{CHANNEL}_{name}" for name in ("dimm_label", *COUNTS.values())),
        cap=4 << 20,
    ),
    gives={
        "memory.controller/*.name": text("What the driver calls the controller: Skylake Socket#0 IMC#0."),
        "memory.controller/*.size": quantity("GiB", "Memory behind the controller."),
        "memory.controller/*.corrected_elsewhere": integer("Corrected errors of no known module.", Class.COUNTER),
        "memory.controller/*.uncorrected_elsewhere": integer("Uncorrected errors of no known module.", Class.COUNTER),
        "memory.controller/*.module": collection("What has counters: dimm0, rank0, or csrow0 and csrow0:ch1."),
        "memory.controller/*.module/*.label": text("The module's place, as labelled or as the driver guesses."),
        "memory.controller/*.module/*.location": text("The module's place for the controller: channel 0 slot 0."),
        "memory.controller/*.module/*.type": text("The kind of memory: Registered-DDR4, Unbuffered-DDR5."),
        "memory.controller/*.module/*.correction": text("How errors are corrected: SECDED, S4ECD4ED, S8ECD8ED."),
        "memory.controller/*.module/*.size": quantity("GiB", "The module's size, or the rank's."),
        "memory.controller/*.module/*.corrected": integer("Corrected errors since boot.", Class.COUNTER),
        "memory.controller/*.module/*.uncorrected": integer("Uncorrected errors since boot.", Class.COUNTER),
    },
)  # fmt: skip
def edac_dimms(files: Files) -> Facts:
    """Read what every controller's driver tells; none means that nobody counts, not that there were no errors."""
    numbers = {keys[0] for name in (*OWN, *COUNTS.values()) for keys in files.found(f"{MC}/{name}")}
    numbers = {number for number in numbers if re.fullmatch("[0-9]{1,4}", number)}
    if not numbers:
        raise Unreadable(NOBODY, Reason.TOOL_MISSING)
    for number in sorted(numbers, key=read.natural):
        item, place = f"memory.controller/mc{number}", MC.replace("*", number)
        yield f"{item}.name", files.read(f"{place}/mc_name")
        yield f"{item}.size", files.read(f"{place}/size_mb", gibibytes)
        yield f"{item}.corrected_elsewhere", files.read(f"{place}/ce_noinfo_count", read.whole)
        yield f"{item}.uncorrected_elsewhere", files.read(f"{place}/ue_noinfo_count", read.whole)
    modular = set()
    for glob in MODULES:
        for number, module in files.found(f"{glob}/dimm_ce_count"):
            if number in numbers and re.fullmatch("[0-9]{1,4}", module):
                modular.add(number)
                yield from _module(files, number, glob.replace("*", number, 1).replace("*", module, 1))
    for number, row in files.found(f"{ROW}/ce_count"):
        if number in numbers - modular and re.fullmatch("[0-9]{1,4}", row):
            place = ROW.replace("*", number, 1).replace("*", row, 1)
            yield from _counted(files, f"memory.controller/mc{number}.module/csrow{row}", f"{place}/")
    for number, row, channel in files.found(f"{CHANNEL}_ce_count"):
        if number in numbers - modular and re.fullmatch("[0-9]{1,4} [0-9]{1,4}", f"{row} {channel}"):
            item = f"memory.controller/mc{number}.module/csrow{row}:ch{channel}"
            place = f"{ROW.replace('*', number, 1).replace('*', row, 1)}/ch{channel}_"
            yield f"{item}.label", files.read(f"{place}dimm_label")
            yield from _counted(files, item, place)


def _module(files: Files, number: str, place: str) -> Facts:
    item = f"memory.controller/mc{number}.module/{place.rpartition('/')[2]}"
    for leaf, name in TEXTS.items():
        yield f"{item}.{leaf}", files.read(f"{place}/{name}")
    yield f"{item}.size", files.read(f"{place}/size", gibibytes)
    yield from _counted(files, item, f"{place}/dimm_")


def _counted(files: Files, item: str, place: str) -> Facts:
    for leaf, name in COUNTS.items():
        yield f"{item}.{leaf}", files.read(f"{place}{name}", read.whole)
