"""Maps the reason that a transport reports to the trouble that must be fixed; pure."""

import re

from rackcheck.doctor.finding import Trouble
from rackcheck.model.fact import Reason, Unknown, clean
from rackcheck.model.regex import regex
from rackcheck.transport.redfish import SESSION_REJECTED
from rackcheck.transport.wire import ConnectStage

SESSIONS = regex(r"RAC0218|SessionLimit", re.IGNORECASE)
"""Matches messages that all sessions are in use: iDRAC's message (with HTTP 503), and the Redfish standard's."""


def of_ssh(stage: ConnectStage, why: Unknown, *, known: bool) -> Trouble:
    """Return the trouble of a connection that ended at this stage; `known` is whether known_hosts has the host."""
    match stage:
        case ConnectStage.NAME:
            return Trouble.NO_NAME
        case ConnectStage.PORT:
            return Trouble.REFUSED if "refused" in why.detail.casefold() else Trouble.SILENT
        case ConnectStage.HANDSHAKE:
            return Trouble.NO_SSH
        case ConnectStage.KEY if "revoked" in why.detail:
            return Trouble.KEY_REVOKED
        case ConnectStage.KEY:
            return Trouble.KEY_CHANGED if known else Trouble.KEY_UNKNOWN
        case ConnectStage.LOGIN if why.reason is Reason.DENIED:
            return Trouble.LOGIN
        case ConnectStage.LOGIN:
            return Trouble.NO_SSH
    return Trouble.CUT


def of_bmc(why: Unknown, *, answered: bool = False) -> Trouble:
    """Return what is wrong with a BMC's connection; `answered` is whether the BMC's service root was read before."""
    detail = why.detail.casefold()
    match why.reason:
        case Reason.CERTIFICATE_CHANGED:
            return Trouble.CERT_CHANGED if detail.startswith("expected ") else Trouble.CERT_UNKNOWN
        case Reason.DENIED:
            return Trouble.BMC_REJECTS if why == SESSION_REJECTED else Trouble.BMC_LOGIN
        case Reason.NOT_READY:
            return Trouble.BMC_FULL if SESSIONS.search(why.detail) else Trouble.BMC_BUSY
        case Reason.TIMEOUT if answered:
            return Trouble.SLOW
        case Reason.TIMEOUT:
            return Trouble.SILENT if "no connection" in detail else Trouble.HANGS
        case Reason.UNREACHABLE if "refused" in detail:
            return Trouble.REFUSED
        case Reason.UNREACHABLE if "tls" in detail or "closed" in detail or "http" in detail:
            return Trouble.BMC_ODD
        case Reason.UNREACHABLE:
            return Trouble.SILENT
    return Trouble.BMC_ODD


def seen(why: Unknown) -> str:
    """Format a transport's message without the transport's advice: doctor's own advice is more specific."""
    message = re.sub(r"\. Check it, then: .*|; if it is the BMC's own, pin it: .*", "", why.detail)
    return clean(message or why.reason.value, 300)
