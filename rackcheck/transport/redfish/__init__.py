"""Reads a BMC with a limited number of GETs in one session; the session is always closed."""

import threading
from collections.abc import Mapping, Sequence

from rackcheck.model.capture import BmcCapture
from rackcheck.model.documents import HANDSHAKE, LinkPattern
from rackcheck.model.fact import Reason, Unknown, clean
from rackcheck.model.resource import ROOT, Body
from rackcheck.transport.memory import Allowance
from rackcheck.transport.redfish.target import INTERRUPTED, POLL, SESSION_REJECTED, WIDEST, Bmc, Limits
from rackcheck.transport.redfish.trace import Trace

__all__ = ["INTERRUPTED", "POLL", "SESSION_REJECTED", "WIDEST", "Bmc", "Limits", "read"]


def read(
    bmc: Bmc, links: Sequence[LinkPattern], limits: Limits | None = None, *, whole: Sequence[LinkPattern] = (),
    stop: threading.Event | None = None, trace: Trace | None = None, allowance: Allowance | None = None,
) -> tuple[BmcCapture, Unknown | None]:  # fmt: skip
    """Fetch each resource that the links lead to; if the BMC returned nothing, also return the reason.

    The links in `whole` are followed only if the BMC returns whole collections with $expand. Failures of a BMC raise no
    exception. If `stop` is set, reading ends; the session is closed in any case. `trace` collects some headers and the
    duration of each GET. `allowance` limits the memory for the reply.
    """
    from rackcheck.transport.redfish.session import Session  # noqa: PLC0415  the HTTP libraries take 0.2 s to import
    from rackcheck.transport.redfish.visit import BmcVisit  # noqa: PLC0415

    session: Session | None = None
    try:
        session = Session(bmc, limits or Limits(), trace, allowance)
    except OSError as error:
        trouble: Unknown | None = Unknown(Reason.UNREACHABLE, f"the CA file {bmc.ca}: {clean(str(error))}")
    else:
        visit = BmcVisit(session, stop or threading.Event())
        trouble = visit.make(tuple(links), tuple(whole))
        trouble = trouble or _mute(visit.bodies, rejected=session.is_rejected)
    if trouble is not None:
        left = {session.place: session.left} if session is not None and session.left is not None else {}
        return BmcCapture({ROOT: trouble, **left}), trouble
    assert session is not None
    if session.left is not None:
        visit.bodies.setdefault(session.place, session.left)
    if session.wire.handshake is not None:
        shown = session.wire.hiding.json(session.wire.handshake.body())
        assert isinstance(shown, dict)
        visit.bodies[HANDSHAKE] = shown
    return BmcCapture(visit.bodies, session.times), None


def _mute(bodies: Mapping[str, Body | Unknown], *, rejected: bool) -> Unknown | None:
    """Return why a BMC returned no resource after the login; None if any HTTP reply was received, even an error.

    If `rejected` is true, status 401 alone is such a reason, too: the BMC rejected its sessions.
    """
    asked = [body for uri, body in bodies.items() if uri != ROOT]
    lost = [body for body in asked if isinstance(body, Unknown)]
    whys = [why for why in lost if why != INTERRUPTED]
    if rejected and len(lost) == len(asked) and {why.reason for why in whys} == {Reason.DENIED}:
        return SESSION_REJECTED
    if not lost or len(lost) < len(asked) or any(w.reason not in {Reason.TIMEOUT, Reason.UNREACHABLE} for w in whys):
        return None
    return (
        Unknown(whys[0].reason, f"the login succeeds, but no resource is returned: {whys[0].detail}")
        if whys
        else INTERRUPTED
    )
