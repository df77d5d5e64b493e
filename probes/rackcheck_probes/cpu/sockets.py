"""Which processors sit in which socket, as firmware found them."""

from rackcheck import Class, Facts, collection, integer, listing, probe, quantity, spell_key, text
from rackcheck.parse.host.os import dmidecode
from rackcheck_probes.os.dmi_table import PROCESSOR, TABLE, maker_text

COUNTS = {"cores": "Core Count", "cores_enabled": "Core Enabled", "threads": "Thread Count"}
TEXTS = {"status": "Status", "signature": "Signature"}
MAKERS = {"model": "Version", "id": "ID", "serial": "Serial Number", "part_number": "Part Number"}


@probe(
    TABLE,
    gives={
        "cpu.socket": collection("Processors by the board's name for their socket; empty sockets are left out."),
        "cpu.socket/*.model": text("The processor's name.", Class.IDENTITY),
        "cpu.socket/*.id": text("The processor's CPUID signature, byte by byte.", Class.IDENTITY),
        "cpu.socket/*.serial": text("The processor's serial number, if firmware can read it.", Class.IDENTITY),
        "cpu.socket/*.part_number": text("The processor's part number, if firmware can read it.", Class.IDENTITY),
        "cpu.socket/*.signature": text("Family, model and stepping.", Class.IDENTITY),
        "cpu.socket/*.status": text(
            "Whether firmware uses the processor: `Populated, Enabled`, `Populated, Disabled By BIOS`."
        ),
        "cpu.socket/*.speed.most": quantity("MHz", "The highest clock of the socket, according to the board."),
        "cpu.socket/*.speed.boot": quantity("MHz", "The clock at which firmware started the processor."),
        "cpu.socket/*.cores": integer("Cores that the processor has."),
        "cpu.socket/*.cores_enabled": integer("Cores that firmware left enabled."),
        "cpu.socket/*.threads": integer("Threads that the processor has."),
        "cpu.sockets_empty": listing("Sockets without a processor, by the board's names for the sockets."),
    },
)
def cpu_sockets(answer: str) -> Facts:
    """Read each central processor; other types of processor (math, video) are left out."""
    table = dmidecode.structures(answer)
    found = [s for s in table if s.kind == PROCESSOR and s.fields.get("Type") == "Central Processor"]
    sockets = dmidecode.named(found, "Socket Designation")
    empty = tuple(name for name, s in sockets if s.fields.get("Status", "").startswith("Unpopulated"))
    yield "cpu.sockets_empty", empty
    for name, structure in sockets:
        if name in empty:
            continue
        item = f"cpu.socket/{spell_key(name)}"
        for leaf, key in MAKERS.items():
            yield f"{item}.{leaf}", maker_text(structure, key)
        for leaf, key in TEXTS.items():
            yield f"{item}.{leaf}", structure.text(key)
        yield f"{item}.speed.most", structure.value(dmidecode.measured("MHz"), "Max Speed")
        yield f"{item}.speed.boot", structure.value(dmidecode.measured("MHz"), "Current Speed")
        for leaf, key in COUNTS.items():
            yield f"{item}.{leaf}", structure.count(key)
