"""The names that the author of a probe, or of a rule in Python, needs."""

from rackcheck.model import text as read
from rackcheck.model.by_part import by_part
from rackcheck.model.catalogue import (
    collection,
    final,
    flag,
    integer,
    listing,
    quantity,
    setting,
    text,
    version,
    view,
)
from rackcheck.model.documents import Documents, Walk
from rackcheck.model.fact import Absent, Class, Facts, Reason, Unknown, Unreadable
from rackcheck.model.inputs import Inputs
from rackcheck.model.path import spell_key
from rackcheck.model.profile import Scope
from rackcheck.model.python_rule import Wrong, rule
from rackcheck.model.question import Load, Read, Redfish, Shell
from rackcheck.model.resource import Resource
from rackcheck.model.text import Files, Sourced
from rackcheck.probe.compare import comparison
from rackcheck.probe.contract import probe
from rackcheck.probe.group import Member, gathering
from rackcheck.probe.join import join

__version__ = "0.1.0"

__all__ = [
    "Absent",
    "Class",
    "Documents",
    "Facts",
    "Files",
    "Inputs",
    "Load",
    "Member",
    "Read",
    "Reason",
    "Redfish",
    "Resource",
    "Scope",
    "Shell",
    "Sourced",
    "Unknown",
    "Unreadable",
    "Walk",
    "Wrong",
    "by_part",
    "collection",
    "comparison",
    "final",
    "flag",
    "gathering",
    "integer",
    "join",
    "listing",
    "probe",
    "quantity",
    "read",
    "rule",
    "setting",
    "spell_key",
    "text",
    "version",
    "view",
]
