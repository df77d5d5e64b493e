"""The partitions each RDMA port has joined."""

from rackcheck import Facts, Shell, listing, probe, spell_key
from rackcheck.parse.host.nic import pkey_tables

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
    for port in pkey_tables.ports(answer):
        yield f"nic/{spell_key(port.device)}.port/{port.number}.pkeys", port.keys
