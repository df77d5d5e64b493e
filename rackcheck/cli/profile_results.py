"""What `rackcheck profile check` finds in a loaded profile; imported only if it is not kept from an earlier command."""

import json

from rackcheck.evaluate.waiver import troubled
from rackcheck.model.profile import Profile
from rackcheck.profile import lint, reviewed
from rackcheck.profile.layers import Layers
from rackcheck.signoff import waivers
from rackcheck.views.summary import several


def results(loaded: Profile, laid: Layers) -> str:
    """Return, as JSON, everything about a profile that does not depend on the name by which the user called it."""
    waived = waivers.own(loaded.files)
    unset = sorted({param for rule in loaded.rules for param in rule.unset})
    waits = f"; site values not set: {', '.join(unset)}" if unset else ""
    facts = {fact for rule in loaded.own for fact in rule.facts()}
    rules = {rule.id: rule for rule in loaded.rules}
    notes = []
    for waiver in waived:
        trouble = troubled(waiver, rules, waiver.until)
        if trouble is not None:
            notes.append(f"{waiver.place}: warning: the waiver of {waiver.rule} has no effect: {trouble[1]}")
    return json.dumps({
        "head": f"{several(len(loaded.own), 'rule')}, {several(len(facts), 'fact')}{waits}",
        "review": reviewed.review_notice(reviewed.unreviewed(loaded.files)),
        "findings": [finding.plain() for finding in lint.findings(loaded, laid)],
        "notes": notes,
    })  # fmt: skip
