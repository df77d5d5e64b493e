"""The partitions of each RDMA port."""

from collections.abc import Iterator
from dataclasses import dataclass

from rackcheck import Facts, Shell, listing, probe, spell_key
from rackcheck.model.fact import Unreadable
from rackcheck.model.regex import regex
from rackcheck.model.text.values import rows

# The device's firmware answers, so the query is not quick. A table has 128 places, nearly all of them 0x0000: no key.
COMMAND = """\
for p in /sys/class/infiniband/*/ports/[0-9]*; do
[ -d "$p/pkeys" ] || continue
printf '%s' "${p#/sys/class/infiniband/}"
for k in "$p"/pkeys/*; do
v=; read -r v 2>/dev/null <"$k"
case $v in 0x0000) ;; *) printf ' %s' "${v:-?}";; esac
done
echo
done 2>/dev/null"""

FULL = 0x8000
"""The bit of a partition key that means full membership; two limited members of a partition cannot communicate."""


@probe(
    Shell(COMMAND, seconds=30),
    gives={
        "nic/*.port/*.pkeys": listing(
            "The partition keys of the port, in order; 0x8000 and above is a full member, a lower key a limited member."
        ),
        "nic/*.port/*.full_memberships": listing("The partition keys with which the port is a full member."),
    },
)
def rdma_pkeys(answer: str) -> Facts:
    """Read each port's partition keys."""
    for port in ports(answer):
        item = f"nic/{spell_key(port.device)}.port/{port.number}"
        yield f"{item}.pkeys", port.keys
        yield f"{item}.full_memberships", tuple(key for key in port.keys if int(key, 16) >= FULL)


# Partition keys of RDMA ports, as a loop of the shell prints them from sysfs: `DEVICE/ports/NUMBER KEY KEY ...`.
#
# A table has 128 places, nearly all of them 0x0000, which is not a key and is left out.


_ROW = regex(r"([^/\s]{1,100})/ports/([0-9]{1,5})((?: 0x[0-9a-f]{4})*)")


@dataclass(frozen=True)
class PkeyPort:
    """One RDMA port and its partition keys, in order and without duplicates.

    A partition key of 0x8000 or above means full membership, a lower key means limited membership.
    """

    device: str
    number: str
    keys: tuple[str, ...]


def ports(answer: str) -> Iterator[PkeyPort]:
    """Yield each RDMA port; raises Unreadable on a row without a port, and on a partition key that is not readable."""
    yield from map(_port, rows(answer))


def _port(row: str) -> PkeyPort:
    match = _ROW.fullmatch(row)
    if match is None:
        raise Unreadable(f"expected a port and its keys, got: {row[:80]!r}")
    return PkeyPort(match[1], match[2], tuple(sorted(set(match[3].split()))))
