"""Whether each PCI function still responds, checked without root and without any PCI tool."""

from rackcheck import Class, Facts, Shell, Unreadable, flag, probe, spell_key
from rackcheck.model.fact import clean
from rackcheck.model.regex import regex
from rackcheck.model.text import rows

ROW = regex(r"([0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]) +((?:[0-9a-f]{2} +){15}[0-9a-f]{2}) *")


# One process reads all functions: a large node has hundreds. Every user may read the first 64 bytes. A
# function's ids alone are not enough: the ids of a virtual function are all ones.
@probe(
    Shell(
        'cd /sys/bus/pci/devices && { set -- */config; [ -e "$1" ] || exit 0; head -q -c 16 "$@" | od -An -v -tx1 |\n'
        'awk \'BEGIN { for (i = n = ARGC - 1; i; i--) { of[i] = ARGV[i]; sub("/config", "", of[i]); ARGV[i] = "" } }\n'
        '{ print of[NR] $0 } END { exit NR != n }\' "$@"; }',
        seconds=20,
    ),
    gives={
        "pcie/*.answers": flag(
            "Whether the function responds; reads from a function that fell off the bus return all ones.",
            Class.MEASUREMENT,
        ),
    },
)
def pcie_answers(answer: str) -> Facts:
    """Read the first 16 bytes of each function's configuration space."""
    for row in rows(answer):
        match = ROW.fullmatch(row)
        if match is None:
            raise Unreadable(f"expected a PCI address and 16 bytes, got: {clean(row, 80)!r}")
        yield f"pcie/{spell_key(match[1])}.answers", set(match[2].split()) != {"ff"}
