"""Meaning of the Xids in the kernel's log, by NVIDIA's catalogue and by four tools that classify them.

No tool takes precedence: Xids that only some of the four tools treat as serious are reported as disputed.
"""

from rackcheck import Class, Facts, listing, probe, spell_key
from rackcheck.parse.host.kernel_log import dmesg
from rackcheck.parse.host.kernel_log.xid import actions, by_agreement, named
from rackcheck.parse.host.kernel_log.xid_lines import by_place, xids
from rackcheck_probes.kernel_log.kernel_log import DMESG
from rackcheck_probes.kernel_log.xid_table import TABLE

FOUR = "DCGM's health watch, Azure's node health check, Azure's health agent, Imbue's health checks"


@probe(
    DMESG,
    gives={
        "log.xid/*.named": listing(
            "The Xids' numbers with their meaning; `not in our table` for an Xid without an entry.",
            Class.COUNTER,
        ),
        "log.xid/*.actions": listing(
            "Immediate actions in NVIDIA's catalogue for these Xids, in its words; "
            "`none given` if the catalogue has no action, "
            "`not in our table` if rackcheck's table does not contain the Xid.",
            Class.COUNTER,
        ),
        "log.xid/*.investigate": listing(
            "Investigations in NVIDIA's catalogue for these Xids, in its words.", Class.COUNTER
        ),
        "log.xid/*.serious": listing(f"Xids of this GPU that all four tools treat as serious: {FOUR}.", Class.COUNTER),
        "log.xid/*.mild": listing("Xids of this GPU that none of the four tools treats as serious.", Class.COUNTER),
        "log.xid/*.disputed": listing("Xids of this GPU that some of the four tools treat as serious.", Class.COUNTER),
        "log.xid/*.unlisted": listing("Xids of this GPU that rackcheck's table does not contain.", Class.COUNTER),
    },
)
def xid_meaning(answer: str) -> Facts:
    """Look up the meaning of each GPU's Xids."""
    dmesg.whole(answer)
    for place, errors in by_place(xids(answer)).items():
        item, codes = f"log.xid/{spell_key(place)}", {error.code for error in errors}
        yield f"{item}.named", named(codes, TABLE)
        yield f"{item}.actions", actions(codes, TABLE, "immediate")
        yield f"{item}.investigate", actions(codes, TABLE, "investigatory")
        for part, found in by_agreement(codes, TABLE).items():
            yield f"{item}.{part}", found
