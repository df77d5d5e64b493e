"""The words that the author of a probe, or of a rule in Python, needs."""

from rackcheck.core.among import comparison
from rackcheck.core.called import Wrong, rule
from rackcheck.core.catalogue import collection, final, flag, integer, listing, quantity, setting, text, version, view
from rackcheck.core.documents import Documents, Walk
from rackcheck.core.fact import Absent, Class, Facts, Reason, Unknown, Unreadable
from rackcheck.core.group import Member, gathering
from rackcheck.core.inputs import Inputs
from rackcheck.core.join import join
from rackcheck.core.path import spell_key
from rackcheck.core.probe import probe
from rackcheck.core.profile import Scope
from rackcheck.core.question import Load, Read, Redfish, Shell
from rackcheck.core.read import Files, Sourced
from rackcheck.core.resource import Resource

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
    "rule",
    "setting",
    "spell_key",
    "text",
    "version",
    "view",
]
