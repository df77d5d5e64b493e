"""The findings of a run by what a person does: firmware, power cycles, cables, cases for parts, and the rest by hand.

Pure. Settings that commands or requests change are in `rackcheck.remedy`; here, they only add nodes to the list of
power cycles. Each other finding is in exactly one list: that of its rule's kind of work, see `rackcheck.remedy.work`.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from rackcheck.evaluate.verdict import Evidence, Status, Verdict
from rackcheck.model import path as paths
from rackcheck.model.evidence import clause_text, seen
from rackcheck.model.path import BadPath
from rackcheck.model.profile import Rule, Severity
from rackcheck.model.text import natural
from rackcheck.probe.group import is_group
from rackcheck.remedy.fixes import ByHand
from rackcheck.remedy.text import RemedyText
from rackcheck.remedy.tunables import When
from rackcheck.remedy.work import Work, is_of_link, needs_reboot, work_of
from rackcheck.views.differing_setting import differing_setting
from rackcheck.views.filled_fix import filled_fix
from rackcheck.views.items import folded_paths
from rackcheck.views.named_part import NamedPart
from rackcheck.views.part_findings import PartFinding
from rackcheck.views.part_names import Named
from rackcheck.views.summary import Finding
from rackcheck.views.work_facts import BAD, Link, WorkFacts

ITEMS = 8
"""Maximum number of paths in the name of a firmware component."""


@dataclass(frozen=True, slots=True)
class FirmwareUpdate:
    """One component's firmware on nodes with the same version: what is installed, and what the rule expects."""

    rule: str
    component: str
    now: str
    wanted: str
    nodes: tuple[str, ...]
    fix: str


@dataclass(frozen=True, slots=True)
class PowerCycle:
    """Nodes that must be restarted once, for the same reasons; `off` if a reboot is not enough.

    `reasons` has the rules by reason. `fixes` has the texts of rules about pending changes.
    """

    nodes: tuple[str, ...]
    off: bool
    reasons: tuple[tuple[str, tuple[str, ...]], ...]
    fixes: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class LinkFinding:
    """A finding about a link."""

    rule: str
    severity: str
    evidence: str
    fix: str


@dataclass(frozen=True, slots=True)
class CableWork:
    """One end of a cable on one node, with all findings about it."""

    node: str
    link: Link
    findings: tuple[LinkFinding, ...]


@dataclass(frozen=True, slots=True)
class CaseFinding:
    """A finding about a part, as evidence for a case: each line of `evidence` is a value and what it must be."""

    rule: str
    title: str
    status: Status
    severity: str
    evidence: tuple[str, ...]
    fix: str


@dataclass(frozen=True, slots=True)
class Case:
    """A part of a node to reseat or to replace; `part` is None if the run does not identify the part.

    `xids` are the Xids in the kernel's log about this part, with their meaning.
    """

    node: str
    part: NamedPart | None
    findings: tuple[CaseFinding, ...]
    xids: tuple[str, ...] = ()


@dataclass(frozen=True)
class WorkLists:
    """All work that is no setting."""

    firmware: tuple[FirmwareUpdate, ...]
    power: tuple[PowerCycle, ...]
    cables: tuple[CableWork, ...]
    cases: tuple[Case, ...]
    hands: tuple[tuple[ByHand, tuple[str, ...]], ...]

    @property
    def is_empty(self) -> bool:
        """Whether there is no work in these lists."""
        return not (self.firmware or self.power or self.cables or self.cases or self.hands)


@dataclass(frozen=True, slots=True)
class _Item:
    """A finding of one node that no command fixes."""

    node: str
    rule: Rule
    verdict: Verdict
    hand: ByHand
    parts: tuple[NamedPart, ...]

    @property
    def bad(self) -> tuple[Evidence, ...]:
        return tuple(each for each in self.verdict.evidence if each.status in BAD)


@dataclass(frozen=True)
class WorkReader:
    """Sorts the findings of a run into lists; `verdicts` are by node and rule, `named` too."""

    run: str
    rules: Sequence[Rule]
    verdicts: Mapping[str, Mapping[str, Verdict]]
    named: Named
    facts: WorkFacts
    settings: RemedyText
    _kinds: dict[str, Work] = field(init=False, repr=False, compare=False, default_factory=dict)

    @cached_property
    def _rule(self) -> Mapping[str, Rule]:
        return {rule.id: rule for rule in self.rules}

    def lists(self) -> WorkLists:
        """Return the lists, each in the order of its rules or nodes."""
        sorted_items: dict[Work, list[_Item]] = {work: [] for work in Work}
        for item in self._items():
            for work, some in self._sorted(item):
                sorted_items[work].append(some)
        left = [*sorted_items[Work.SETTING], *sorted_items[Work.HAND]]
        cases, left = self._cases(sorted_items[Work.PART], left)
        return WorkLists(
            tuple(self._firmware(sorted_items[Work.FIRMWARE])),
            tuple(self._power(sorted_items)), tuple(self._cables(sorted_items[Work.CABLE])), cases,
            tuple(self._hands(left)),
        )  # fmt: skip

    def _sorted(self, item: _Item) -> Iterator[tuple[Work, _Item]]:
        """Yield a finding with its kind of work; of settings that differ, those of a cable are a finding apart."""
        work = self._work(item.rule)
        links = [each for each in item.bad if work is not Work.CABLE and is_of_link(each.item)]
        rest = tuple(each for each in item.verdict.evidence if each not in links)
        if links:
            yield Work.CABLE, replace(item, verdict=replace(item.verdict, evidence=tuple(links)))
        if not links or any(each.status in BAD for each in rest):
            yield work, replace(item, verdict=replace(item.verdict, evidence=rest)) if links else item

    def _work(self, rule: Rule) -> Work:
        if rule.id not in self._kinds:
            self._kinds[rule.id] = work_of(rule)
        return self._kinds[rule.id]

    def _items(self) -> Iterator[_Item]:
        for hand, nodes in self.settings.hands:
            for node in nodes:
                parts = tuple(self.named.get(node, {}).get(hand.rule, ()))
                yield _Item(node, self._rule[hand.rule], self.verdicts[node][hand.rule], hand, parts)

    def _fix(self, items: Sequence[_Item], parts: Iterable[NamedPart] | None = None) -> str:
        """Return the fix of a rule, with the names that these findings of it determine."""
        first = items[0]
        evidence = tuple(each for item in items for each in item.bad)
        nodes = tuple(dict.fromkeys(item.node for item in items))
        finding = Finding(first.rule, first.verdict.status, first.verdict.reason, evidence, nodes)
        own = {item.node: item.parts if parts is None else tuple(parts) for item in items}
        return filled_fix(PartFinding(finding, own if all(own.values()) else {}), self.run)

    def _firmware(self, items: Iterable[_Item]) -> Iterator[FirmwareUpdate]:
        alike: dict[tuple[str, str, str, str], list[_Item]] = {}
        for item in items:
            rows: dict[tuple[str, str], list[str]] = {}
            for component, now, wanted in (row for each in item.bad for row in _versions(each)):
                rows.setdefault((now, wanted), []).append(component)
            for (now, wanted), found in rows.items() or [(("", ""), [""])]:
                alike.setdefault((item.rule.id, _component(found), now, wanted), []).append(item)
        for (rule, component, now, wanted), some in alike.items():
            nodes = tuple(dict.fromkeys(item.node for item in some))
            yield FirmwareUpdate(rule, component, now, wanted, nodes, self._fix(some))

    def _power(self, items: Mapping[Work, Sequence[_Item]]) -> Iterator[PowerCycle]:
        reasons: dict[str, dict[str, list[str]]] = {}

        def add(node: str, reason: str, rule: str) -> None:
            mine = reasons.setdefault(node, {}).setdefault(reason, [])
            if rule not in mine and not is_group(node):
                mine.append(rule)

        for order in self.settings.orders:
            for change in order.patch.changes:
                add(order.node, BIOS, change.rule)
        for node, steps in self.settings.steps.items():
            for step in (step for step in steps if step.when is When.REBOOT):
                add(node, SETTINGS, step.rule)
        for item in items[Work.SETTING]:
            if needs_reboot(item.rule):
                add(item.node, BY_HAND, item.rule.id)
        for item in items[Work.POWER]:
            add(item.node, PENDING, item.rule.id)
        for item in items[Work.FIRMWARE]:
            add(item.node, FIRMWARE, item.rule.id)
        alike: dict[tuple[tuple[str, tuple[str, ...]], ...], list[str]] = {}
        for node in sorted(reasons, key=natural):
            mine = tuple((reason, tuple(reasons[node][reason])) for reason in REASONS if reasons[node].get(reason))
            alike.setdefault(mine, []).append(node)
        pending = items[Work.POWER]
        for why, nodes in sorted(alike.items(), key=lambda one: (-len(one[1]), natural(one[1][0]))):
            if not why:
                continue
            rules = dict(why).get(PENDING, ())
            fixes = ((rule, self._fix([i for i in pending if i.rule.id == rule and i.node in nodes])) for rule in rules)
            yield PowerCycle(tuple(nodes), any(reason == FIRMWARE for reason, _ in why), why, tuple(fixes))

    def _cables(self, items: Iterable[_Item]) -> Iterator[CableWork]:
        found: dict[tuple[str, Link], list[LinkFinding]] = {}
        for item in items:
            links = (
                self.facts.links.get((item.node, item.rule.id)) or _by_part(item) or (Link("a link that is not known"),)
            )
            for link in links:
                own = [each for each in item.bad if link.device.removeprefix("NIC ") in each.item] or item.bad
                text = "; ".join(map(_clause, own)) or item.verdict.reason
                parts = [each for each in item.parts if f"NIC {each.part.key('nic')}" == link.device]
                finding = LinkFinding(item.rule.id, item.rule.severity.value, text, self._fix([item], parts or None))
                found.setdefault((item.node, link), []).append(finding)
        for (node, link), findings in sorted(
            found.items(), key=lambda one: (natural(one[0][0]), natural(str(one[0][1])))
        ):
            yield CableWork(node, link, tuple(findings))

    def _cases(self, items: Iterable[_Item], others: Iterable[_Item]) -> tuple[tuple[Case, ...], list[_Item]]:
        """Return one case for each part, and the other findings that are about no part with a case.

        A finding of another kind about parts that all have a case is evidence for these cases: a GPU that trained half
        of its lanes also differs from the other GPUs.
        """
        found: dict[str, list[tuple[NamedPart | None, list[CaseFinding]]]] = {}
        for item in items:
            for part in item.parts or (None,):
                self._add(found.setdefault(item.node, []), part, item)
        left = []
        for item in others:
            mine = found.get(item.node, [])
            if item.parts and all(_same(mine, part) is not None for part in item.parts):
                for part in item.parts:
                    self._add(mine, part, item)
            else:
                left.append(item)
        rows = ((node, part, some) for node in sorted(found, key=natural) for part, some in found[node])
        cases = (
            Case(node, part, tuple(sorted(some, key=_gravity)), self._xids(node, part)) for node, part, some in rows
        )
        return tuple(cases), left

    def _xids(self, node: str, part: NamedPart | None) -> tuple[str, ...]:
        return self.facts.xids.get((node, part.part.pci), ()) if part is not None else ()

    def _add(
        self, cases: list[tuple[NamedPart | None, list[CaseFinding]]], part: NamedPart | None, item: _Item
    ) -> None:
        same = _same(cases, part)
        if same is None:
            same = []
            cases.append((part, same))
        own = [each for each in item.bad if part is not None and _is_about(each, part)] or item.bad
        texts = tuple(map(clause_text, own)) or (item.verdict.reason,)
        rule = item.rule
        fix = self._fix([item], None if part is None else (part,))
        same.append(CaseFinding(rule.id, rule.title, item.verdict.status, rule.severity.value, texts, fix))

    def _hands(self, items: Iterable[_Item]) -> Iterator[tuple[ByHand, tuple[str, ...]]]:
        alike: dict[ByHand, list[_Item]] = {}
        for item in items:
            alike.setdefault(item.hand, []).append(item)
        place = {rule.id: number for number, rule in enumerate(self.rules)}
        for hand, some in sorted(alike.items(), key=lambda one: place[one[0].rule]):
            nodes = tuple(dict.fromkeys(item.node for item in some))
            yield replace(hand, fix=self._fix(some)), nodes


NO_LINK = Link("a link that the run does not identify")

BIOS = "BIOS settings"
SETTINGS = "settings that take effect after a reboot"
BY_HAND = "settings to change by hand"
PENDING = "pending changes"
FIRMWARE = "firmware"
REASONS = (BIOS, SETTINGS, BY_HAND, PENDING, FIRMWARE)
"""The reasons for a restart, in their order."""


def _clause(evidence: Evidence) -> str:
    differs = differing_setting(evidence)
    return clause_text(evidence) if differs is None else str(differs)


def _versions(evidence: Evidence) -> Iterator[tuple[str, str, str]]:
    """Yield the components that a piece of evidence is about, each with its version and the expected version.

    If items must have the same version, these are the items that differ from most of them.
    """
    wanted = evidence.expected.removeprefix("must be ")
    pairs = [piece.partition(" ")[::2] for piece in evidence.exact.split(", ")] if "*" in evidence.item else []
    counts = Counter(version for _, version in pairs)
    most = [version for version, count in counts.items() if count == max(counts.values())]
    if len(most) == 1 and all(_is_path(path) and version for path, version in pairs):
        yield from ((path, version, f"{most[0]}, as most") for path, version in pairs if version != most[0])
    else:
        yield evidence.item, seen(evidence), wanted


def _is_path(text: str) -> bool:
    try:
        return bool(paths.parse(text).items)
    except BadPath:
        return False


def _component(items: Sequence[str]) -> str:
    try:
        return folded_paths(items, ITEMS)
    except BadPath:
        return ", ".join(dict.fromkeys(items))


def _by_part(item: _Item) -> tuple[Link, ...]:
    """Return the NICs that a finding names, if it names no port."""
    parts = (each.part for each in item.parts if each.part.word == "NIC")
    return tuple(
        Link(f"NIC {part.key('nic') or part.name}", "", part.key("nic.interface"), part.pci, part.slot, part.serial)
        for part in parts
    )


def _same(
    cases: Sequence[tuple[NamedPart | None, list[CaseFinding]]], part: NamedPart | None
) -> list[CaseFinding] | None:
    for other, findings in cases:
        if (part is None and other is None) or (part is not None and other is not None and part.same(other)):
            return findings
    return None


def _gravity(finding: CaseFinding) -> tuple[int, int]:
    return (Status.FAIL, Status.WARN).index(finding.status), list(Severity).index(Severity(finding.severity))


def _is_about(evidence: Evidence, named: NamedPart) -> bool:
    """Whether a piece of evidence names an item of a part, or its PCI address."""
    part = named.part
    keys = {part.pci, *(key for item in part.items for _, key in paths.parse(item).items)} - {""}
    try:
        own = {key for _, key in paths.parse(evidence.item).items}
    except BadPath:
        own = set()
    return not own.isdisjoint(keys)
