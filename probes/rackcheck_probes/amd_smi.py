"""What AMD's own tool tells of each GPU, and the driver's files do not."""

import re

from rackcheck import Class, Facts, Reason, Shell, Unknown, Unreadable, integer, listing, probe, spell_key, text
from rackcheck.core.fact import Reading
from rackcheck.core.read import amdsmi

ADDRESS = re.compile(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")


def known(reading: Reading) -> Reading:
    """Give a text; a number where a text belongs is spelt as one."""
    return str(reading) if isinstance(reading, int) else reading


def whole(reading: Reading) -> Reading:
    """Give a number; a text is none."""
    return Unknown(Reason.UNPARSABLE, f"not a number: {reading[:80]!r}") if isinstance(reading, str) else reading


# Without AMD's driver there is nothing to ask, and no tool. Its own folder is in no PATH by default.
@probe(
    Shell(
        "if [ -d /sys/module/amdgpu ]; then PATH=$PATH:/opt/rocm/bin amd-smi static --json; else echo '[]'; fi",
        seconds=30,
        cap=4 << 20,
    ),
    gives={
        "gpu.amd/*.index": integer("The number by which amd-smi calls the GPU.", Class.IDENTITY),
        "gpu.amd/*.market_name": text("The GPU's name as AMD sells it: AMD Instinct MI300X.", Class.IDENTITY),
        "gpu.amd/*.asic_serial": text("The chip's own serial number.", Class.IDENTITY),
        "gpu.amd/*.module": integer("The GPU's place on its baseboard; absent if it has none."),
        "gpu.amd/*.ecc.blocks_enabled": listing("The GPU's blocks whose errors are watched: umc, gfx, sdma."),
        "gpu.amd/*.ecc.poison": text("Whether bad data is marked and not used: ENABLED, DISABLED."),
        "gpu.amd/*.bad_pages.threshold": integer("Retired pages at which the GPU must be replaced."),
        "gpu.amd/*.xgmi.policy": text("How XGMI links save power: plpd_disallow, plpd_default, plpd_optimized."),
        "gpu.amd/*.process_isolation": text("Whether programs are kept apart on the GPU: Enabled, Disabled."),
    },
)
def amd_smi(answer: str) -> Facts:
    """Read each GPU's table, by its PCI address."""
    if not answer.endswith("\n"):
        raise Unreadable("the answer was cut")
    places = [(str(amdsmi.told(gpu, "bus", "bdf")).lower(), gpu) for gpu in amdsmi.gpus(answer)]
    if not all(ADDRESS.fullmatch(address) for address, _ in places):
        raise Unreadable("a GPU without its PCI address")
    whole_ones = {address for address, _ in places if address.endswith(".0")}
    for address, gpu in places:
        if not address.endswith(".0") and f"{address[:-1]}0" in whole_ones:
            continue  # one part of a GPU that is divided
        item = f"gpu.amd/{spell_key(address)}"
        yield f"{item}.index", whole(amdsmi.told(gpu, "gpu"))
        yield f"{item}.market_name", known(amdsmi.told(gpu, "asic", "market_name"))
        yield f"{item}.asic_serial", known(amdsmi.told(gpu, "asic", "asic_serial"))
        yield f"{item}.module", whole(amdsmi.told(gpu, "asic", "oam_id"))
        yield f"{item}.ecc.blocks_enabled", amdsmi.enabled(gpu)
        yield f"{item}.ecc.poison", known(amdsmi.told(gpu, "ras", "poison_schema"))
        yield f"{item}.bad_pages.threshold", whole(amdsmi.told(gpu, "ras", "bad_page_threshold"))
        yield f"{item}.xgmi.policy", amdsmi.policy(gpu, "xgmi_plpd", "plpds")
        yield f"{item}.process_isolation", known(amdsmi.told(gpu, "process_isolation"))
