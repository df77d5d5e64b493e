"""Meaning of the NVSwitches' errors in the kernel's log, as the driver describes them."""

from rackcheck import Class, Facts, listing, probe, spell_key
from rackcheck.model.fact import visible
from rackcheck.parse.host.kernel_log import dmesg
from rackcheck.parse.host.kernel_log.xid_lines import by_place, sxids
from rackcheck_probes.kernel_log.kernel_log import DMESG


@probe(
    DMESG,
    gives={
        "log.sxid/*.named": listing(
            "Each SXid with the driver's severity and description; only the number if the log has lost the rest.",
            Class.COUNTER,
        ),
        "log.sxid/*.links": listing("The NVLinks in these errors, each once, in order.", Class.COUNTER),
    },
)
def sxid_meaning(answer: str) -> Facts:
    """Collect the severity, the link and the description of each SXid from the first of its log lines."""
    dmesg.whole(answer)
    for place, errors in by_place(sxids(answer)).items():
        item = f"log.sxid/{spell_key(place)}"
        names = {(e.code, f", {'Fatal' if e.fatal else 'Non-fatal'}, {visible(e.words)}") for e in errors if e.words}
        names |= {(error.code, "") for error in errors} - {(code, "") for code, _ in names}
        links = {error.link for error in errors if error.link is not None}
        yield f"{item}.named", tuple(f"{code}{words}" for code, words in sorted(names))
        yield f"{item}.links", tuple(str(link) for link in sorted(links))
