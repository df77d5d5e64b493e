"""The lists of work of a run that was made by hand, and the findings that they contain."""

from collections.abc import Iterable, Mapping
from typing import Any

from rackcheck.evaluate.verdict import Status
from rackcheck.model.profile import Profile
from rackcheck.remedy.bios import AttributeChange, Patch
from rackcheck.remedy.fixes import ByHand, Firmware, Lines, remedies
from rackcheck.remedy.text import BmcOrder, RemedyText
from rackcheck.remedy.work import names_links
from rackcheck.run.event import Event
from rackcheck.views.summary import Summary, summarize
from rackcheck.views.work_facts import WorkFacts
from rackcheck.views.work_lists import WorkLists, WorkReader

BAD = (Status.FAIL, Status.WARN)
Found = set[tuple[str, str]]
"""Findings as pairs of node and rule."""


def work(events: Iterable[Event], profile: Profile) -> tuple[Summary, RemedyText, WorkLists]:
    """The summary, the settings and the other work of a run; each BIOS setting has a request."""
    reader = WorkFacts(frozenset(rule.id for rule in profile.rules if names_links(rule)))
    kept = list(events)
    for event in kept:
        reader.take(event)
    found = summarize(kept, profile)
    steps: dict[str, list[Lines]] = {}
    hands: dict[ByHand, list[str]] = {}
    orders = []
    for judged in found.everyone:
        for each in remedies(profile.rules, judged.verdicts):
            match each:
                case Lines():
                    steps.setdefault(judged.node, []).append(each)
                case ByHand():
                    hands.setdefault(each, []).append(judged.node)
                case Firmware(rule, fact):
                    change = AttributeChange(rule, str(fact), "A", "Enabled", "its registry")
                    orders.append(BmcOrder(judged.node, "https://bmc", Patch("/redfish/v1/x", (change,))))
    settings = RemedyText("run", "p 1", steps, tuple(orders), tuple((h, tuple(n)) for h, n in hands.items()))
    verdicts = {each.node: {v.rule: v for v in each.verdicts} for each in found.everyone}
    lists = WorkReader("run", profile.rules, verdicts, found.named, reader, settings).lists()
    return found, settings, lists


def bad(summary: Summary) -> Found:
    """The failing and warning findings of a run."""
    found = (each for each in summary.findings if each.status in BAD)
    return {(node, finding.rule.id) for finding in found for node in finding.nodes if node not in summary.others}


def listed(settings: RemedyText, lists: WorkLists) -> dict[str, Found]:
    """The findings in each list; the list of power cycles counts only for pending changes."""
    pending = {
        (node, rule)
        for cycle in lists.power
        for reason, rules in cycle.reasons
        if reason == "pending changes"
        for rule in rules
        for node in cycle.nodes
    }
    return {
        "setting": {(node, step.rule) for node, steps in settings.steps.items() for step in steps}
        | {(order.node, change.rule) for order in settings.orders for change in order.patch.changes},
        "firmware": {(node, each.rule) for each in lists.firmware for node in each.nodes},
        "power-cycle": pending,
        "cable": {(row.node, each.rule) for row in lists.cables for each in row.findings},
        "part": {(case.node, each.rule) for case in lists.cases for each in case.findings},
        "by-hand": {(node, hand.rule) for hand, nodes in lists.hands for node in nodes},
    }


def of_document(doc: Mapping[str, Any]) -> Found:
    """The findings in the document of `rackcheck remedy --json`."""
    found = {(node, step["rule"]) for each in doc["sets"] for step in each["steps"] for node in each["nodes"]}
    found |= {(each["node"], change["rule"]) for each in doc["bios"] for change in each["changes"]}
    found |= {(node, each["rule"]) for word in ("firmware", "by_hand") for each in doc[word] for node in each["nodes"]}
    found |= {(each["node"], f["rule"]) for word in ("cables", "cases") for each in doc[word] for f in each["findings"]}
    pending = ((each["nodes"], each["reasons"].get("pending changes", ())) for each in doc["power_cycle"])
    return found | {(node, rule) for nodes, rules in pending for rule in rules for node in nodes}
