"""The texts of rules stay as they are in every copy of a report: none looks like a path, an address or a name."""

from rackcheck.probe.registry import registry
from rackcheck.profile import library
from rackcheck.report import known


def test_no_text_of_a_shipped_rule_is_changed_in_a_public_copy() -> None:
    catalogue = registry().catalogue
    rules = [rule for name in library.profiles() for rule in library.load(name, catalogue).own]
    texts = {text for rule in rules for text in (rule.title, rule.why, rule.fix)}
    assert len(texts) > 1000
    hidden = {text: known.nameless(known.homeless(known.addressless(text, urls=True))) for text in texts}
    assert {text: copy for text, copy in hidden.items() if text != copy} == {}
