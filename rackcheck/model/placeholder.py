"""Placeholders that machines return for values which nobody stored: the only list of them. Pure."""

import re

NOTHING = frozenset(
    {
        *("", "-", "--", "-*", "null", "none", "undefined", "unknown", "n/a", "na", "not available", "not specified"),
        *("not present", "version not available", "to be filled by o.e.m.", "default string"),
    }
)
"""Texts that are no value of any property, in lower case (from recorded trees and field reports)."""

MAKER = frozenset(
    {
        *("to be filled by o.e.m.", "to be filled by oem", "not specified", "not available", "not applicable"),
        *("default string", "system manufacturer", "system product name", "system serial number", "system version"),
        *("o.e.m.", "oem", "none", "n/a", "na", "unknown", "empty", "undefined", "chassis serial number"),
        *("0123456789", "-", "."),
    }
)
"""Texts that vendors leave in tables of a machine's parts (DMI), in lower case."""

LABEL = (
    NOTHING
    | MAKER
    | {
        *("nil", "(null)", "absent", "default", "invalid", "not provided", "not set", "unset", "redacted", "test"),
        *("no serial", "serial", "serial number", "base board serial number", "board serial number", "no dimm"),
        *("not installed", "no module installed", "empty slot", "slot empty"),
        *("product serial number", "filled by oem", "fill by oem", "oem serial number"),
        *("asset tag", "no asset tag", "free form asset tag", "part number", "no part number"),
    }
)
"""Texts that are no serial number, part number, order number or asset tag, in lower case."""

BARE = frozenset(re.sub(r"[\W_]", "", text) for text in LABEL) | {
    *("tobefilled", "noassettag", "assettag", "unspecified", "tbd", "invalidserial", "invalidserialnumber", "nana"),
    *("type1systemserialnumber", "type2boardserialnumber", "type3chassisserialnumber", "nonumber", "noserialnumber"),
}
"""The texts of `LABEL` without blanks and punctuation, and similar texts."""
