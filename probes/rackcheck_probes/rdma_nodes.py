"""The character devices through which programs use each RDMA device."""

import re

from rackcheck import Facts, Shell, Unreadable, flag, probe, spell_key
from rackcheck.core import read
from rackcheck_probes.hidden import THERE

# Only looked at, never opened: whoever opens issmN tells the fabric that a subnet manager runs here.
COMMAND = (
    THERE
    + """\
there /dev/infiniband/.
n() { if [ -c "/dev/infiniband/$1" ]; then echo "$1 yes $2 $3"; else echo "$1 no $2 $3"; fi; }
for p in /sys/class/infiniband/*/ports/[0-9]*; do
[ -d "$p" ] || continue
d=${p#/sys/class/infiniband/}; echo "port - ${d%%/*} ${p##*/}"
done
for f in /sys/class/infiniband_mad/umad[0-9]* /sys/class/infiniband_mad/issm[0-9]* \
/sys/class/infiniband_verbs/uverbs[0-9]*; do
d=; p=-
read -r d 2>/dev/null <"$f/ibdev" || continue
read -r p 2>/dev/null <"$f/port"
n "${f##*/}" "$d" "$p"
done 2>/dev/null
n rdma_cm - -"""
)
ROW = re.compile(r"(umad|issm|uverbs|port|rdma_cm)([0-9]{0,6}) (yes|no|-) ([^\s/]{1,100}) ([0-9]{1,5}|-)")


@probe(
    Shell(COMMAND, quick=True),
    gives={
        "nic/*.verbs_node": flag("Whether the device's uverbs node is in /dev/infiniband: programs cannot do without."),
        "nic/*.port/*.umad_node": flag("Whether the port's umad node is in /dev/infiniband: perfquery needs it."),
        "nic/*.port/*.issm_node": flag(
            "Whether the port's issm node is in /dev/infiniband: a subnet manager needs it."
        ),
        "nic.rdma_cm_node": flag("Whether /dev/infiniband/rdma_cm is there: librdmacm needs it."),
    },
)
def rdma_nodes(answer: str) -> Facts:
    """Read which nodes are there; the kernel's list says whose they are."""
    ports: dict[tuple[str, str], None] = {}
    there: set[tuple[str, str, str]] = set()
    connection: bool | None = None
    for row in read.rows(answer):
        match = ROW.fullmatch(row)
        if match is None:
            raise Unreadable(f"not a device and its node: {row[:80]!r}")
        kind, _, node, device, port = match.groups()
        if kind == "port":
            ports[device, port] = None
        elif kind == "rdma_cm":
            connection = node == "yes"
        elif node == "yes":
            there.add((kind, device, "-" if kind == "uverbs" else port))
    if connection is None:
        raise Unreadable("no row for rdma_cm: the answer was cut")
    yield "nic.rdma_cm_node", connection
    for device in dict.fromkeys(device for device, _ in ports):
        yield f"nic/{spell_key(device)}.verbs_node", ("uverbs", device, "-") in there
    for device, port in ports:
        for kind in ("umad", "issm"):
            yield f"nic/{spell_key(device)}.port/{port}.{kind}_node", (kind, device, port) in there
