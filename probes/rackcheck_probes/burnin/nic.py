"""Network ports while the node is under load: whether they stayed up, and their error counters."""

from rackcheck import Class, Facts, Load, Reason, Sourced, Unknown, collection, flag, integer, probe, spell_key
from rackcheck.model.burn_record import Burn, Record
from rackcheck.parse.burnin.readings import EDGE, column, moved


@probe(
    Load(),
    gives={
        "burnin.nic": collection("RDMA devices that were monitored"),
        "burnin.nic/*.was_up": flag("The port was up when the load began", Class.MEASUREMENT),
        "burnin.nic/*.stayed": flag("The port did not change state or go down during the load", Class.MEASUREMENT),
        "burnin.nic/*.moved.symbol_errors": integer("Symbol errors during the load", Class.COUNTER),
        "burnin.nic/*.moved.link_downed": integer("Times the link went down", Class.COUNTER),
    },
)
def burnin_nic(burn: Burn) -> Facts:
    """Return a burn-in's observations of each network port."""
    names = burn.things("nic")
    if names or (burn.hello and burn.whole):
        yield "burnin.nic", names
    for name in names:
        at = f"burnin.nic/{spell_key(name)}"
        samples = burn.samples.get(f"nic/{name}", ())
        up = column(samples, "up")
        downed = moved(burn, f"nic/{name}", "link_downed")
        few = Unknown(Reason.NOT_TESTED, "the port's state was not sampled from start to end of the load")
        yield f"{at}.was_up", bool(up[0]) if up else few
        fell = any(up) and not all(up[up.index(1.0) :]) if 1.0 in up else False
        went = fell or (isinstance(downed, int) and downed > 0)
        down = next((row.t for row in samples if row.number("up") == 0), None)
        message = (
            f"burn-in: {name} was down when sampled {down:.1f} s after the start"
            if went and down is not None
            else "burn-in"
        )
        seen = _to_the_end(burn, samples)
        yield f"{at}.stayed", Sourced(not went, message) if went or (len(up) > 1 and seen) else few
        yield f"{at}.moved.symbol_errors", moved(burn, f"nic/{name}", "symbol_error")
        yield f"{at}.moved.link_downed", downed


def _to_the_end(burn: Burn, samples: tuple[Record, ...]) -> bool:
    """Return whether a port was sampled until the end of the load."""
    last = max((stage.t for stage in burn.stages), default=0.0)
    return burn.whole and bool(burn.stages) and samples[-1].t >= last - EDGE
