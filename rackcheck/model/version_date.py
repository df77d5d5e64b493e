"""Order of dates that stand for versions, by the day.

Three forms are read: the year first (`2024-03-01`, `20240301`), and the month first with slashes, which is what the
SMBIOS specification (DSP0134, BIOS Information) says of a BIOS's release date. Whatever could be two days
is not ordered: a year of two digits, the day first, a time of day without its zone.
"""

import re
from datetime import date

from rackcheck.model.version_key import Key

_FORMS = (
    # Redfish writes a day as its first moment in UTC.
    re.compile(r"(?P<year>[0-9]{4})-(?P<month>[0-9]{2})-(?P<day>[0-9]{2})(?:T00:00:00(?:Z|\+00:00))?\Z"),
    # With the year first and of these centuries, eight digits are no day written the other way round: its month
    # would be 19 or 20.
    re.compile(r"(?P<year>(?:19|20)[0-9]{2})(?P<month>[0-9]{2})(?P<day>[0-9]{2})\Z"),
    re.compile(r"(?P<month>[0-9]{2})/(?P<day>[0-9]{2})/(?P<year>[0-9]{4})\Z"),
)


def read_date(text: str) -> Key | None:
    """Read a date; none for another form, or a day that no calendar has."""
    for form in _FORMS:
        match = form.match(text)
        if match is not None:
            try:
                day = date(int(match["year"]), int(match["month"]), int(match["day"]))
            except ValueError:
                return None
            return Key((day.year, day.month, day.day))
    return None
