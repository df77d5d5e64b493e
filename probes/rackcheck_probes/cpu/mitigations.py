"""How the kernel mitigates each known flaw of the CPU."""

from rackcheck import Facts, Files, Read, collection, probe, spell_key, text

GLOB = "/sys/devices/system/cpu/vulnerabilities/*"


@probe(
    Read(GLOB),
    gives={
        "cpu.vulnerability": collection("CPU flaws that this kernel reports, by the kernel's names."),
        "cpu.vulnerability/*.state": text("Status of the flaw: Not affected, Mitigation: ..., Vulnerable."),
    },
)
def mitigations(files: Files) -> Facts:
    """Read the kernel's line about each known flaw of the CPU."""
    for (name,) in files.found(GLOB):
        yield f"cpu.vulnerability/{spell_key(name)}.state", files.read(GLOB.replace("*", name))
