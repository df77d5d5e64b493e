"""Whether apt upgrades packages automatically."""

from rackcheck import Facts, Shell, Unreadable, flag, probe, read
from rackcheck.model.regex import regex

ROW = regex(r'APT::Periodic(?:::(?P<name>[\w:-]{1,80}))? "(?P<value>[^"]{0,80})";')


@probe(
    Shell("apt-config dump APT::Periodic && echo '-- end --'", quick=True),
    gives={
        "os.unattended_upgrade": flag("Whether apt upgrades packages automatically, drivers included."),
        "os.update_lists": flag("Whether apt fetches the lists of packages automatically."),
    },
)
def unattended(answer: str) -> Facts:
    """Read the settings as apt reports them; a setting that is missing or 0 is off."""
    rows = read.rows(answer)
    if not rows or rows[-1] != "-- end --":
        raise Unreadable("the output was truncated")
    given = {}
    for row in rows[:-1]:
        match = ROW.fullmatch(row)
        if match is None:
            raise Unreadable(f"not a setting of apt: {row[:80]!r}")
        given[match["name"]] = match["value"]
    for leaf, name in (("unattended_upgrade", "Unattended-Upgrade"), ("update_lists", "Update-Package-Lists")):
        yield f"os.{leaf}", given.get(name, "0") not in {"", "0"}
