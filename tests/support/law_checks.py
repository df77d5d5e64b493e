"""Checks of the law of evidence, and rules compiled for them."""

import json
from pathlib import Path as FilePath

from law_facts import CATALOGUE
from law_rules import Yaml

from rackcheck.evaluate.verdict import Outcome, Status, Verdict, conclude, judge
from rackcheck.model.profile import Profile, Rule
from rackcheck.model.tree import Tree
from rackcheck.profile import library


def compare(rules: tuple[Rule, ...], before: tuple[Verdict, ...], tree: Tree, taken: str) -> tuple[Verdict, ...]:
    """Judge one node by the remaining facts, and compare with the verdict on all facts."""
    after = check(rules, tree)
    for b, a in zip(before, after, strict=True):
        assert a.status in {b.status, Status.UNKNOWN}, f"{b.status} became {a.status} ({a.reason}) without {taken}"
    known = {rule.id: rule for rule in rules}
    outcome, lesser = (conclude(each, known).outcome for each in (before, after))
    assert lesser in {outcome, Outcome.INCOMPLETE}, f"{outcome} became {lesser} without {taken}"
    evidence = [v for v in before if known[v.rule].severity.decides and v.status in {Status.PASS, Status.WAIVED}]
    assert outcome is not Outcome.PASS or evidence, "a PASS that rests on nothing"
    return after


def check(rules: tuple[Rule, ...], tree: Tree) -> tuple[Verdict, ...]:
    """Judge one node; regardless of what is known, every verdict except a pass has a reason."""
    verdicts = judge(rules, tree)
    for verdict in verdicts:
        assert verdict.reason or verdict.status is Status.PASS, f"{verdict.status} of {verdict.rule} has no reason"
    return verdicts


def compiled(folder: FilePath, written: Yaml) -> Profile:
    """Compile rules written as in a profile's file."""
    path = folder / "law.yaml"
    path.write_text(json.dumps({"rackcheck": 1, "profile": "law", "version": 1, "rules": written}))
    return library.load(str(path), CATALOGUE)
