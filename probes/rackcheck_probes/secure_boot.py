"""Whether firmware checked what the system booted, as the system sees it."""

from rackcheck import Absent, Facts, Shell, flag, probe
from rackcheck.core.read import efivars

LEAVES = {"SecureBoot": "enabled", "SetupMode": "setup_mode"}
GLOBAL = "8be4df61-93ca-11d2-aa0d-00e098032b8c"
"""UEFI's own variables."""


# The variables hold bytes of zero, which no shell keeps: `od` prints them. A container hides all of /sys/firmware.
@probe(
    Shell(
        "set -- /sys/firmware/*; [ -e \"$1\" ] || { echo '/sys/firmware shows nothing' >&2; exit 1; }\n"
        "[ -d /sys/firmware/efi ] || { echo legacy; exit 0; }\n"
        "cd /sys/firmware/efi/efivars || exit 1\n"
        'set -- *; [ -e "$1" ] || { echo "no EFI variable is shown: efivarfs is not mounted" >&2; exit 1; }\n'
        f"for v in {' '.join(LEAVES)}; do\n"
        f"[ -e $v-{GLOBAL} ] || continue\n"
        f"b=$(od -An -v -tu1 $v-{GLOBAL}) || exit 1\n"
        f'echo $v $b\ndone; echo "{efivars.END}"'
    ),
    gives={
        "os.secure_boot.enabled": flag("Whether Secure Boot was on at this boot; absent without UEFI."),
        "os.secure_boot.setup_mode": flag("Whether firmware still takes any key: Secure Boot has no owner yet."),
    },
)
def secure_boot(answer: str) -> Facts:
    """Read each variable; all of them are absent without UEFI."""
    shown = efivars.variables(answer)
    for name, leaf in LEAVES.items():
        yield f"os.secure_boot.{leaf}", Absent("not booted by UEFI") if shown is None else efivars.yes(name, shown)
