"""The words a probe's author needs."""

from rackcheck.core.catalogue import collection, flag, integer, listing, quantity, setting, text, version
from rackcheck.core.documents import Documents, Walk
from rackcheck.core.fact import Absent, Class, Facts, Reason, Unknown, Unreadable
from rackcheck.core.join import Inputs, join
from rackcheck.core.path import spell_key
from rackcheck.core.probe import Read, Redfish, Shell, probe
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
    "Read",
    "Reason",
    "Redfish",
    "Resource",
    "Shell",
    "Sourced",
    "Unknown",
    "Unreadable",
    "Walk",
    "collection",
    "flag",
    "integer",
    "join",
    "listing",
    "probe",
    "quantity",
    "setting",
    "spell_key",
    "text",
    "version",
]
