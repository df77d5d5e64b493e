"""Memory errors of each module, and errors that the driver cannot assign to a module."""

from rackcheck import Class, Facts, Files, Read, Reason, Unreadable, collection, integer, probe, quantity, read, text
from rackcheck.parse.host.memory import edac_counters
from rackcheck.parse.host.memory.edac_counters import CHANNEL, MC, MODULES, ROW

TEXTS = {"label": "dimm_label", "location": "dimm_location", "type": "dimm_mem_type", "correction": "dimm_edac_mode"}
COUNTS = {"corrected": "ce_count", "uncorrected": "ue_count"}
OWN = ("mc_name", "size_mb", "ce_noinfo_count", "ue_noinfo_count")
NO_DRIVER = "no memory controller has an EDAC driver: errors are not counted"


@probe(
    Read(
        *(f"{MC}/{name}" for name in (*OWN, *COUNTS.values())),
        *(f"{p}/{n}" for p in MODULES for n in (*TEXTS.values(), "size", "dimm_ce_count", "dimm_ue_count")),
        *(f"{ROW}/{name}" for name in COUNTS.values()),
        *(f"{CHANNEL}_{name}" for name in ("dimm_label", *COUNTS.values())),
        cap=4 << 20,
    ),
    gives={
        "memory.controller/*.name": text("The driver's name for the controller: Skylake Socket#0 IMC#0."),
        "memory.controller/*.size": quantity("GiB", "Memory behind the controller."),
        "memory.controller/*.corrected_elsewhere": integer("Corrected errors of unknown modules.", Class.COUNTER),
        "memory.controller/*.uncorrected_elsewhere": integer("Uncorrected errors of unknown modules.", Class.COUNTER),
        "memory.controller/*.module": collection("Parts with counters: dimm0, rank0, or csrow0 and csrow0:ch1."),
        "memory.controller/*.module/*.label": text("The module's position, as labelled or as the driver guesses."),
        "memory.controller/*.module/*.location": text("The module's position on the controller: channel 0 slot 0."),
        "memory.controller/*.module/*.type": text("The kind of memory: Registered-DDR4, Unbuffered-DDR5."),
        "memory.controller/*.module/*.correction": text("How errors are corrected: SECDED, S4ECD4ED, S8ECD8ED."),
        "memory.controller/*.module/*.size": quantity("GiB", "The module's size, or the rank's."),
        "memory.controller/*.module/*.corrected": integer("Corrected errors since boot.", Class.COUNTER),
        "memory.controller/*.module/*.uncorrected": integer("Uncorrected errors since boot.", Class.COUNTER),
    },
)  # fmt: skip
def edac_dimms(files: Files) -> Facts:
    """Read the counters of each memory controller; raises Unreadable if there is none."""
    numbers = edac_counters.controllers(files, (*OWN, *COUNTS.values()))
    if not numbers:
        raise Unreadable(NO_DRIVER, Reason.TOOL_MISSING)
    for number in sorted(numbers, key=read.natural):
        item, place = f"memory.controller/mc{number}", MC.replace("*", number)
        yield f"{item}.name", files.read(f"{place}/mc_name")
        yield f"{item}.size", files.read(f"{place}/size_mb", edac_counters.gibibytes)
        yield f"{item}.corrected_elsewhere", files.read(f"{place}/ce_noinfo_count", read.whole)
        yield f"{item}.uncorrected_elsewhere", files.read(f"{place}/ue_noinfo_count", read.whole)
    for one in edac_counters.counted(files, numbers):
        item = f"memory.controller/mc{one.controller}.module/{one.name}"
        if one.kind == "module":
            for leaf, name in TEXTS.items():
                yield f"{item}.{leaf}", files.read(f"{one.folder}/{name}")
            yield f"{item}.size", files.read(f"{one.folder}/size", edac_counters.gibibytes)
        elif one.kind == "channel":
            yield f"{item}.label", files.read(f"{one.prefix}dimm_label")
        for leaf, name in COUNTS.items():
            yield f"{item}.{leaf}", files.read(f"{one.prefix}{name}", read.whole)
