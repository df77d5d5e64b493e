"""Whether an upgrade waits for a reboot."""

from rackcheck import Absent, Facts, Shell, Unreadable, flag, listing, probe
from rackcheck.model import text as read

END = "-- end --"


# Only where something writes the mark does its absence mean anything. What RHEL has for it writes a log of its own.
@probe(
    Shell(
        "if [ -e /run/reboot-required ]; then echo yes && "
        "if [ -e /run/reboot-required.pkgs ]; then cat /run/reboot-required.pkgs | sort -u; fi\n"
        "elif [ -e /usr/share/update-notifier/notify-reboot-required ]; then echo no\n"
        "else echo 'update-notifier: not found, so nobody marks that here' >&2; exit 127; fi && "
        f"echo '{END}'",
        quick=True,
    ),
    gives={
        "os.reboot.required": flag(
            "Whether a package that was upgraded asks for a reboot; known on Ubuntu and Debian with update-notifier."
        ),
        "os.reboot.packages": listing("The packages that ask for it."),
    },
)
def reboot_required(answer: str) -> Facts:
    """Read the mark that packages leave, and their names."""
    rows = read.rows(answer)
    if len(rows) < 2 or rows[-1] != END:
        raise Unreadable("the answer was cut")
    yield "os.reboot.required", read.flag(rows[0], yes="yes", no="no")
    yield "os.reboot.packages", tuple(rows[1:-1]) if rows[0] == "yes" else Absent("no reboot is asked for")
