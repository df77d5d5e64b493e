"""What the Xids' sub-fields tell: NVLink errors of Blackwell, and what the driver says a GPU needs now."""

from rackcheck import Absent, Class, Facts, integer, listing, probe, spell_key, text
from rackcheck.core.read import dmesg
from rackcheck_probes.kernel_log import DMESG, by_place, xids


@probe(
    DMESG,
    gives={
        "log.xid/*.nvlink": listing(
            "Xids 144 to 150 of this GPU, each once: number, unit, Fatal or Nonfatal, link.", Class.COUNTER
        ),
        "log.xid/*.nvlink_fatal": integer(
            "Lines with an Xid 144 to 150 that the driver itself calls Fatal.", Class.COUNTER
        ),
        "log.xid/*.recovery": text(
            "What the last Xid 154 says the GPU needs to recover: None, GPU Reset Required, Node Reboot Required; "
            "absent without one.",
            Class.MEASUREMENT,
        ),
    },
)
def xid_detail(answer: str) -> Facts:
    """Take apart the Xids that have sub-fields."""
    dmesg.whole(answer)
    for place, errors in by_place(xids(answer)).items():
        item = f"log.xid/{spell_key(place)}"
        links = [(error.code, error.nvlink) for error in errors if error.nvlink is not None]
        kinds = sorted({(code, link.unit, link.link, link.fatal) for code, link in links})
        recoveries = [error.recovery for error in errors if error.recovery is not None]
        yield (
            f"{item}.nvlink",
            tuple(f"{code} {unit} {'Fatal' if fatal else 'Nonfatal'} link {link}" for code, unit, link, fatal in kinds),
        )
        yield f"{item}.nvlink_fatal", sum(link.fatal for _, link in links)
        yield f"{item}.recovery", recoveries[-1] if recoveries else Absent("no Xid 154")
