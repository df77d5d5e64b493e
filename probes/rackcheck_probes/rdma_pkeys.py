"""The partitions each RDMA port has joined."""

import re

from rackcheck import Facts, Shell, Unreadable, listing, probe, spell_key
from rackcheck.core import read

# The device's firmware answers, so it is no quick question. A table has 128 places, nearly all of them 0x0000: no key.
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
ROW = re.compile(r"([^/\s]{1,100})/ports/([0-9]{1,5})((?: 0x[0-9a-f]{4})*)")


@probe(
    Shell(COMMAND, seconds=30),
    gives={
        "nic/*.port/*.pkeys": listing(
            "The partition keys of the port, in order; 0x8000 and above is a full member, below it a limited one."
        ),
    },
)
def rdma_pkeys(answer: str) -> Facts:
    """Read each port's keys."""
    for row in read.rows(answer):
        match = ROW.fullmatch(row)
        if match is None:
            raise Unreadable(f"not a port and its keys: {row[:80]!r}")
        keys = tuple(dict.fromkeys(sorted(match[3].split())))
        yield f"nic/{spell_key(match[1])}.port/{match[2]}.pkeys", keys
