"""Sub-fields of Xids: NVLink errors of Blackwell GPUs, and the recovery that the driver requires for a GPU."""

from rackcheck import Absent, Class, Facts, integer, listing, probe, spell_key, text
from rackcheck.parse.host.kernel_log import dmesg
from rackcheck.parse.host.kernel_log.xid_lines import by_place, nvlink_errors, recovery, xids
from rackcheck_probes.kernel_log.kernel_log import DMESG


@probe(
    DMESG,
    gives={
        "log.xid/*.nvlink": listing(
            "Xids 144 to 150 of this GPU, each once: number, unit, Fatal or Nonfatal, link.", Class.COUNTER
        ),
        "log.xid/*.nvlink_fatal": integer("Lines with an Xid 144 to 150 that the driver marks Fatal.", Class.COUNTER),
        "log.xid/*.recovery": text(
            "The recovery that the last Xid 154 requires: None, GPU Reset Required, Node Reboot Required; "
            "absent without an Xid 154.",
            Class.MEASUREMENT,
        ),
    },
)
def xid_detail(answer: str) -> Facts:
    """Read the sub-fields of each GPU's Xids, and the recovery that the last Xid 154 requires."""
    dmesg.whole(answer)
    for place, errors in by_place(xids(answer)).items():
        item = f"log.xid/{spell_key(place)}"
        yield f"{item}.nvlink", nvlink_errors(errors)
        yield f"{item}.nvlink_fatal", sum(error.nvlink is not None and error.nvlink.fatal for error in errors)
        yield f"{item}.recovery", recovery(errors) or Absent("no Xid 154")
