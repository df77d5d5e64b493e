"""Name servers for DNS."""

from rackcheck import Facts, Files, Read, integer, probe

PLACE = "/etc/resolv.conf"


@probe(
    Read(PLACE),
    gives={"os.dns.nameservers": integer("Name servers in /etc/resolv.conf; systemd-resolved counts as one.")},
)
def resolver(files: Files) -> Facts:
    """Count the `nameserver` lines in /etc/resolv.conf."""
    yield (
        "os.dns.nameservers",
        files.read(PLACE, lambda content: sum(r.split()[:1] == ["nameserver"] for r in content.splitlines())),
    )
