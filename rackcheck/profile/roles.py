"""The roles of nodes: the roles that rackcheck knows, and the known role that a misspelt role resembles; pure."""

import difflib

from rackcheck.model.regex import regex

EVERY_ROLE = "any"
"""The role of a rule that applies to nodes of all roles."""

ROLES = (
    "compute", "nvswitch-tray", "power-shelf", "dpu", "storage", "switch", "login", "head", "management", "gateway",
    "cdu",
)  # fmt: skip
"""Known roles; a site may use other roles."""

NEAR = 0.8
"""Minimum similarity (difflib's ratio, 0 to 1) at which a known role is suggested for an unknown role."""

PARTED = regex(r"[-_.0-9]")
"""Matches the character after the first word of a role.

A role whose first word is a known role, such as a site's `compute-b` or `storage2`, is not a misspelt known role.
"""


def nearest(role: str) -> str:
    """Return the known role that an unknown role resembles; empty if the role is known or resembles none."""
    if role in {*ROLES, EVERY_ROLE} or PARTED.split(role)[0] in ROLES:
        return ""
    near = difflib.get_close_matches(role.casefold(), (*ROLES, EVERY_ROLE), n=1, cutoff=NEAR)
    return near[0] if near else ""
