"""What the Xids in the kernel's log mean, by NVIDIA's catalogue and by four tools that judge them.

No source is believed over the others: what they do not agree on is called disputed.
"""

from rackcheck import Class, Facts, listing, probe, spell_key
from rackcheck.parse.host.kernel_log import dmesg
from rackcheck.parse.host.kernel_log.xid import actions, by_agreement, named
from rackcheck.parse.host.kernel_log.xid_lines import by_place, xids
from rackcheck_probes.kernel_log.kernel_log import DMESG
from rackcheck_probes.kernel_log.xid_table import TABLE

FOUR = "DCGM's health watch, Azure's node health check, its health agent, Imbue's health checks"


@probe(
    DMESG,
    gives={
        "log.xid/*.named": listing(
            "The Xids' numbers with what each means; `not in our table` beside one that it does not hold.",
            Class.COUNTER,
        ),
        "log.xid/*.actions": listing(
            "What NVIDIA's catalogue says to do at once for these Xids, in its words; `none given` where it says "
            "nothing, `not in our table` for an Xid that is not in it.",
            Class.COUNTER,
        ),
        "log.xid/*.investigate": listing(
            "What NVIDIA's catalogue says to look into for these Xids, in its words.", Class.COUNTER
        ),
        "log.xid/*.serious": listing(f"Of these Xids, those that all take for serious: {FOUR}.", Class.COUNTER),
        "log.xid/*.mild": listing("Of these Xids, those that none of the four takes for serious.", Class.COUNTER),
        "log.xid/*.disputed": listing("Of these Xids, those that some of the four take for serious.", Class.COUNTER),
        "log.xid/*.unlisted": listing("Of these Xids, those that our table does not hold.", Class.COUNTER),
    },
)
def xid_meaning(answer: str) -> Facts:
    """Look up the Xids of each GPU."""
    dmesg.whole(answer)
    for place, errors in by_place(xids(answer)).items():
        item, codes = f"log.xid/{spell_key(place)}", {error.code for error in errors}
        yield f"{item}.named", named(codes, TABLE)
        yield f"{item}.actions", actions(codes, TABLE, "immediate")
        yield f"{item}.investigate", actions(codes, TABLE, "investigatory")
        for part, found in by_agreement(codes, TABLE).items():
            yield f"{item}.{part}", found
