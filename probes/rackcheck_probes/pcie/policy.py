"""The kernel's policy for power management of PCI Express links."""

from rackcheck import Facts, Files, Read, probe, read, text

PLACE = "/sys/module/pcie_aspm/parameters/policy"
WORDS = ("default", "performance", "powersave", "powersupersave")


@probe(
    Read(PLACE),
    gives={
        "kernel.aspm_policy": text(
            "default leaves links as the firmware set them; performance keeps them active; absent without ASPM.",
            words=WORDS,
        )
    },
)
def pcie_policy(files: Files) -> Facts:
    """Read the active policy, which the kernel writes in brackets."""
    yield "kernel.aspm_policy", files.read(PLACE, read.chosen)
