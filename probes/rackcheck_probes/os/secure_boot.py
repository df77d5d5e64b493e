"""State of Secure Boot as the operating system reads it; with Secure Boot, firmware verifies the boot loader."""

from rackcheck import Absent, Facts, Shell, flag, probe
from rackcheck.parse.host.os import efivars

LEAVES = {"SecureBoot": "enabled", "SetupMode": "setup_mode"}


@probe(
    Shell(efivars.asking(*LEAVES)),
    gives={
        "os.secure_boot.enabled": flag("Whether Secure Boot was on at this boot; absent without UEFI."),
        "os.secure_boot.setup_mode": flag(
            "Whether firmware accepts any key because no Secure Boot platform key is set yet."
        ),
    },
)
def secure_boot(answer: str) -> Facts:
    """Read each UEFI variable about Secure Boot; all facts are absent without UEFI."""
    shown = efivars.variables(answer)
    for name, leaf in LEAVES.items():
        yield f"os.secure_boot.{leaf}", Absent("not booted by UEFI") if shown is None else efivars.yes(name, shown)
