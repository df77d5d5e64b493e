"""Whether an upgrade of packages requires a reboot."""

from rackcheck import Absent, Facts, Shell, Unreadable, flag, listing, probe, read

END = "-- end --"


# A missing file is meaningful only if an installed tool writes the file. RHEL's equivalent tool writes a separate log.
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
            "Whether an upgraded package requires a reboot; available on Ubuntu and Debian with update-notifier."
        ),
        "os.reboot.packages": listing("The packages that require a reboot."),
    },
)
def reboot_required(answer: str) -> Facts:
    """Check for the marker file, and read the names of the packages that require the reboot."""
    rows = read.rows(answer)
    if len(rows) < 2 or rows[-1] != END:
        raise Unreadable("the output was truncated")
    yield "os.reboot.required", read.flag(rows[0], yes="yes", no="no")
    yield "os.reboot.packages", tuple(rows[1:-1]) if rows[0] == "yes" else Absent("no reboot is required")
