"""Integrity of a component (SPDM, TPM): its state, and the result of verifying its identity."""

from collections.abc import Mapping

from rackcheck.model.fact import Reason, Unreadable, clean
from rackcheck.model.redfish_value import BROKEN
from rackcheck.model.resource import Resource
from rackcheck.parse.bmc.part import revision

PROOFS = (
    "SPDM.IdentityAuthentication.ResponderAuthentication.VerificationStatus",
    "TPM.IdentityAuthentication.VerificationStatus",
)


def proof(component: Resource) -> str:
    """Return the path of the property with the result of verifying the component's identity, by TPM or else by SPDM."""
    return PROOFS[1] if isinstance(component.body.get("TPM"), Mapping) else PROOFS[0]


def protocol(value: object) -> str:
    """Return the version of an integrity protocol; raises Unreadable for `0.0.0`, as it was then never queried."""
    word = revision(value)
    if not word.strip("0."):
        raise Unreadable(f"is {word[:40]!r}", Reason.NOT_COLLECTED)
    return word


def target(value: object) -> str:
    """Return the last two segments of the link to a component, such as `Chassis/HGX_ERoT_BMC_0`."""
    if not isinstance(value, str) or not value.startswith("/") or BROKEN in value:
        reason = Reason.NOT_COLLECTED if value is None else Reason.UNPARSABLE
        raise Unreadable(f"is not a link: {clean(repr(value))}", reason)
    words = [word for word in value.partition("#")[0].split("/") if word]
    if len(words) < 2:
        raise Unreadable(f"is an incomplete link: {clean(value, 60)!r}")
    return "/".join(words[-2:])
