"""What the kernel has counted on each network interface."""

from rackcheck import Class, Facts, Files, Read, integer, probe, spell_key
from rackcheck.core import read
from rackcheck_probes.interfaces import HARDWARE

HELP = {
    "rx_packets": "Packets received.", "tx_packets": "Packets sent.",
    "rx_bytes": "Bytes received.", "tx_bytes": "Bytes sent.",
    "rx_errors": "Packets received with any error.", "tx_errors": "Packets not sent for any error.",
    "rx_dropped": "Packets received and thrown away, for want of buffers or of a protocol.",
    "tx_dropped": "Packets thrown away before they were sent.",
    "rx_crc_errors": "Packets received with a wrong checksum: the cable or the module.",
    "rx_frame_errors": "Packets received that were not aligned.",
    "rx_fifo_errors": "Packets lost because the device's queue was full.",
    "rx_length_errors": "Packets received with a wrong length.",
    "rx_missed_errors": "Packets lost because the host gave no buffers.",
    "rx_over_errors": "Packets received that were larger than their buffers.",
    "rx_nohandler": "Packets received for no protocol on an interface that was inactive.",
    "tx_aborted_errors": "Packets given up while they were sent.",
    "tx_carrier_errors": "Packets lost because the signal went.",
    "tx_fifo_errors": "Packets lost because the device's sending queue failed.",
    "tx_window_errors": "Packets lost in late collisions.",
    "collisions": "Collisions while sending.",
}  # fmt: skip


@probe(
    Read(f"{HARDWARE}/mtu", *(f"{HARDWARE}/statistics/{name}" for name in HELP), seconds=30, cap=4 << 20),
    gives={f"nic.interface/*.counter.{name}": integer(text, Class.COUNTER) for name, text in HELP.items()},
)
def interface_counters(files: Files) -> Facts:
    """Read each interface's counters."""
    for one, other in files.found(f"{HARDWARE}/mtu"):
        if one == other:
            for name in HELP:
                place = f"/sys/class/net/{one}/device/net/{one}/statistics/{name}"
                yield f"nic.interface/{spell_key(one)}.counter.{name}", files.read(place, read.whole)
