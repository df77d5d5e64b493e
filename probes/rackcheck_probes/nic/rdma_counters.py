"""Error and traffic counters of each RDMA port."""

from rackcheck import Class, Facts, Files, Read, integer, listing, probe, spell_key
from rackcheck.parse.host.nic import ib_port

PORT = "/sys/class/infiniband/{}/ports/{}"
HELP = {
    "symbol_error": "Minor link errors on any lane, which point to the cable or the module.",
    "link_error_recovery": "Times the link recovered by itself from an error.",
    "link_downed": "Times the link failed to recover and went down.",
    "port_rcv_errors": "Packets received with an error.",
    "port_rcv_remote_physical_errors": "Packets that a switch on the path had already marked as bad.",
    "port_rcv_switch_relay_errors": "Packets that a switch could not forward.",
    "port_xmit_discards": "Packets dropped because the port was down or congested.",
    "port_xmit_constraint_errors": "Packets not sent because of a partition or raw filter.",
    "port_rcv_constraint_errors": "Packets dropped because of a partition or raw filter.",
    "local_link_integrity_errors": "Times that too many local physical errors occurred in a row.",
    "excessive_buffer_overrun_errors": "Times that receive buffers overran because of consecutive flow control errors.",
    "VL15_dropped": "Management packets dropped for lack of buffers.",
    "port_xmit_data": "Data sent, in words of 4 bytes.",
    "port_rcv_data": "Data received, in words of 4 bytes.",
    "port_xmit_packets": "Packets sent.",
    "port_rcv_packets": "Packets received.",
    "port_xmit_wait": "Ticks in which there was data to send and no credit to send it.",
}


@probe(
    Read(PORT.format("*", "*") + "/state", *(PORT.format("*", "*") + f"/counters/{name}" for name in HELP),
         seconds=30, cap=4 << 20),
    gives={
        **{f"nic/*.port/*.counter.{name.lower()}": integer(text, Class.COUNTER) for name, text in HELP.items()},
        "nic/*.port/*.counter.full": listing(
            "Standard error counters that have reached their maximum and count no further.", Class.COUNTER
        ),
    },
)  # fmt: skip
def rdma_counters(files: Files) -> Facts:
    """Read the standard counters of each port, and which of them are at their maximum."""
    for device, port in files.found(PORT.format("*", "*") + "/state"):
        item, folder = f"nic/{spell_key(device)}.port/{spell_key(port)}.counter", PORT.format(device, port)
        values = {name: ib_port.counter(files, f"{folder}/counters/{name}") for name in HELP}
        for name, count in values.items():
            yield f"{item}.{name.lower()}", count
        yield f"{item}.full", ib_port.full({name: count.reading for name, count in values.items()})
