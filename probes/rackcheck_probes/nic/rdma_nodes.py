"""The character devices through which programs use each RDMA device."""

from rackcheck import Facts, Shell, flag, probe, spell_key
from rackcheck.parse.host.nic import ib_nodes
from rackcheck_probes.os.hidden import THERE

# Only listed, never opened: opening issmN announces a subnet manager to the fabric.
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


@probe(
    Shell(COMMAND, quick=True),
    gives={
        "nic/*.verbs_node": flag("Whether the device's uverbs node is in /dev/infiniband: programs need it."),
        "nic/*.port/*.umad_node": flag("Whether the port's umad node is in /dev/infiniband: perfquery needs it."),
        "nic/*.port/*.issm_node": flag(
            "Whether the port's issm node is in /dev/infiniband: a subnet manager needs it."
        ),
        "nic.rdma_cm_node": flag("Whether /dev/infiniband/rdma_cm exists: librdmacm needs it."),
    },
)
def rdma_nodes(answer: str) -> Facts:
    """Read which device files exist; the kernel's lists in sysfs map each device file to an RDMA device."""
    found = ib_nodes.nodes(answer)
    yield "nic.rdma_cm_node", found.connection
    for device in found.devices:
        yield f"nic/{spell_key(device)}.verbs_node", found.has("uverbs", device)
    for device, port in found.ports:
        for kind in ("umad", "issm"):
            yield f"nic/{spell_key(device)}.port/{port}.{kind}_node", found.has(kind, device, port)
