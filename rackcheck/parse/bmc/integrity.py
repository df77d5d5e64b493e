"""Integrity of a component (SPDM, TPM): what the BMC says of it and of its identity's proof."""

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
    """Name the property that says whether the component's identity was verified: that of its protocol."""
    return PROOFS[1] if isinstance(component.body.get("TPM"), Mapping) else PROOFS[0]


def protocol(value: object) -> str:
    """Give the version of a protocol; `0.0.0` is one that was never asked."""
    word = revision(value)
    if not word.strip("0."):
        raise Unreadable(f"says {word[:40]!r}", Reason.NOT_COLLECTED)
    return word


def target(value: object) -> str:
    """Give the last two words of the link to a component, `Chassis/HGX_ERoT_BMC_0`: no place on a server."""
    if not isinstance(value, str) or not value.startswith("/") or BROKEN in value:
        reason = Reason.NOT_COLLECTED if value is None else Reason.UNPARSABLE
        raise Unreadable(f"not a link: {clean(repr(value))}", reason)
    words = [word for word in value.partition("#")[0].split("/") if word]
    if len(words) < 2:
        raise Unreadable(f"a link to nothing: {clean(value, 60)!r}")
    return "/".join(words[-2:])
