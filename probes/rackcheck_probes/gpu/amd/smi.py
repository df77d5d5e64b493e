"""Values of each GPU that AMD's own tool reports and the driver's files do not contain."""

from rackcheck import Class, Facts, Shell, integer, listing, probe, spell_key, text
from rackcheck.parse.host.gpu import amdsmi


# Without AMD's driver there is nothing to query, and no tool. The tool's folder is in no PATH by default.
@probe(
    Shell(
        "if [ -d /sys/module/amdgpu ]; then PATH=$PATH:/opt/rocm/bin amd-smi static --json; else echo '[]'; fi",
        seconds=30,
        cap=4 << 20,
    ),
    gives={
        "gpu.amd/*.index": integer("The GPU's number in amd-smi.", Class.IDENTITY),
        "gpu.amd/*.market_name": text("The GPU's market name: AMD Instinct MI300X.", Class.IDENTITY),
        "gpu.amd/*.asic_serial": text("The chip's own serial number.", Class.IDENTITY),
        "gpu.amd/*.module": integer("The GPU's position on its baseboard; absent if amd-smi reports none."),
        "gpu.amd/*.ecc.blocks_enabled": listing("The GPU's blocks whose errors are counted: umc, gfx, sdma."),
        "gpu.amd/*.ecc.poison": text(
            "Whether corrupt data is marked as poisoned, so that no program uses it: ENABLED, DISABLED."
        ),
        "gpu.amd/*.bad_pages.threshold": integer("Number of retired pages at which the GPU must be replaced."),
        "gpu.amd/*.xgmi.policy": text("How XGMI links save power: plpd_disallow, plpd_default, plpd_optimized."),
        "gpu.amd/*.process_isolation": text("Whether programs are isolated on the GPU: Enabled, Disabled."),
    },
)
def amd_smi(answer: str) -> Facts:
    """Read the JSON object that amd-smi prints for each GPU; the object contains the GPU's PCI address."""
    for address, gpu in amdsmi.by_address(answer):
        item = f"gpu.amd/{spell_key(address)}"
        yield f"{item}.index", amdsmi.number(gpu, "gpu")
        yield f"{item}.market_name", amdsmi.text(gpu, "asic", "market_name")
        yield f"{item}.asic_serial", amdsmi.text(gpu, "asic", "asic_serial")
        yield f"{item}.module", amdsmi.number(gpu, "asic", "oam_id")
        yield f"{item}.ecc.blocks_enabled", amdsmi.enabled(gpu)
        yield f"{item}.ecc.poison", amdsmi.text(gpu, "ras", "poison_schema")
        yield f"{item}.bad_pages.threshold", amdsmi.number(gpu, "ras", "bad_page_threshold")
        yield f"{item}.xgmi.policy", amdsmi.policy(gpu, "xgmi_plpd", "plpds")
        yield f"{item}.process_isolation", amdsmi.text(gpu, "process_isolation")
