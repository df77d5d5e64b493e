"""The sign-off document as values: one model, of which every rendering is a reading.

Pure and frozen; built by `report.build`, redacted by `report.redact`. All texts may hold what a hostile node said:
a rendering writes them literally. Nothing here knows a clock: times are those of the runs.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from rackcheck.evaluate.verdict import Outcome, Status
from rackcheck.model.fit import Match, ProfileFit
from rackcheck.model.fold import fold
from rackcheck.model.profile import Severity, Source
from rackcheck.report.burn_model import Burned
from rackcheck.views.locations import Whole, whole
from rackcheck.views.reasons import NO_NODE, Reasons, gathered, in_one_line

LETTERS = {
    Status.PASS: "p", Status.WARN: "w", Status.FAIL: "F", Status.WAIVED: "v", Status.UNKNOWN: "u", Status.NA: "n",
}  # fmt: skip
"""One letter per verdict; `-` where a rule is not in scope."""

OUT = "-"

NO_FIT = ProfileFit()
"""Nothing says for which machines the profile is."""


@dataclass(frozen=True, slots=True)
class Logo:
    """A picture of the brand: `kind` is png, jpeg or svg+xml."""

    kind: str
    data: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Party:
    """Who signs: `role` is integrator, customer, witness or another word; the name may be empty."""

    role: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class Brand:
    """What a site writes on the cover; every text may be empty."""

    title: str = ""
    integrator: str = ""
    customer: str = ""
    site: str = ""
    hall: str = ""
    contract: str = ""
    revision: str = ""
    footer: str = ""
    logo: Logo | None = None
    parties: tuple[Party, ...] = (Party("integrator"), Party("customer"))


@dataclass(frozen=True, slots=True)
class CountedRun:
    """One run that counts here: `kind` is audit, re-audit, rework or burn-in."""

    run: str
    time: str
    ended: str
    kind: str
    outcome: Outcome
    interrupted: bool
    nodes: tuple[str, ...]
    planes: tuple[str, ...]
    targets: str
    version: str
    operator: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class ReportSubject:
    """What the document is about; `kind` is run or acceptance, `state` draft or superseded.

    It is never "signed": who signs does so after this was written. `digest` is the profile's, `params` all of them,
    None where a site must supply one, `given` those that were set.
    """

    kind: str
    name: str
    state: str
    readings: tuple[CountedRun, ...]
    profile: str
    profile_version: str
    profile_title: str
    digest: str
    lineage: tuple[str, ...]
    params: Mapping[str, str | None]
    given: Mapping[str, str]
    inventory: str = ""

    @property
    def time(self) -> str:
        """When the newest run began."""
        return max((reading.time for reading in self.readings), default="")

    @property
    def planes(self) -> tuple[str, ...]:
        """The planes that any run asked."""
        return tuple(sorted({plane for reading in self.readings for plane in reading.planes}))


@dataclass(frozen=True, slots=True)
class VerdictTally:
    """What it comes to: `counts` of verdicts and their `total`, `nodes` by outcome, `severe` by severity.

    The verdicts of racks and the fleet count as those of nodes do; their outcomes stand in `Dossier.groups`.
    """

    outcome: Outcome
    interrupted: bool
    counts: Mapping[Status, int]
    total: int
    nodes: Mapping[Outcome, tuple[str, ...]]
    severe: Mapping[Severity, Mapping[Status, int]]


@dataclass(frozen=True, slots=True)
class Unchecked:
    """What was not checked: `kind` is plane, rule, site value, scope, phase or node; `count` of verdicts or rules."""

    kind: str
    what: str
    why: str
    count: int
    nodes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Gate:
    """One rule as it was agreed before the run; `expects` are its conditions in words, `scope` node, rack or fleet."""

    id: str
    title: str
    severity: Severity
    phase: str
    planes: tuple[str, ...]
    expects: tuple[str, ...]
    why: str
    fix: str
    refs: tuple[str, ...]
    counts: Mapping[Status, int]
    unset: tuple[str, ...] = ()
    from_memory: bool = False
    scope: str = "node"


@dataclass(frozen=True, slots=True)
class RuleChange:
    """A rule that an overlay made weaker, stricter or different than its parent's, or dropped; `how` says what."""

    rule: str
    kind: str
    how: str


@dataclass(frozen=True, slots=True)
class NodeRow:
    """One node: its place, its identity, its outcome, and `vector`: one letter per gate, in the gates' order.

    `reason` is why it is INCOMPLETE and what to type next, `fit` whether it is a machine that the profile is for.
    """

    name: str
    role: str
    outcome: Outcome
    vector: str
    rack: str = ""
    u: int = 0
    height: int = 1
    slot: str = ""
    host: str = ""
    bmc: str = ""
    vendor: str = ""
    product: str = ""
    serial: str = ""
    run: str = ""
    note: str = ""
    not_in_scope: int = 0
    reason: str = ""
    fit: ProfileFit = NO_FIT


@dataclass(frozen=True, slots=True)
class GroupRow:
    """A rack or the fleet as it was judged as a whole: `name` is `@rack:a01` or `@fleet`, `nodes` are those it is of.

    `scope` is rack or fleet, `vector` has one letter per gate as that of a node has, `reason` is why it is INCOMPLETE.
    """

    name: str
    scope: str
    outcome: Outcome
    vector: str
    nodes: tuple[str, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Exhibit:
    """One piece of evidence of a finding."""

    status: Status
    item: str
    observed: str
    expected: str
    source: str


@dataclass(frozen=True, slots=True)
class FindingEntry:
    """One rule's verdict with the same reason on one or many nodes, or racks; title, why and fix stand in its gate.

    `truth` is the verdict without waivers, where that differs. `more` pieces of evidence are not shown.
    """

    rule: str
    status: Status
    reason: str
    nodes: tuple[str, ...]
    evidence: tuple[Exhibit, ...] = ()
    more: int = 0
    truth: Status | None = None

    @property
    def where(self) -> str:
        """The nodes, folded."""
        return fold(self.nodes)


@dataclass(frozen=True, slots=True)
class Hardware:
    """One thing with an identity: `item` is its fact path (`gpu/0`, `node`); a text is empty where nothing told it."""

    node: str
    item: str
    kind: str
    model: str = ""
    part_number: str = ""
    serial: str = ""
    other: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Billed:
    """One difference to the bill of materials: missing, extra, swapped, or unread (nobody could look).

    `line` is the row of the bill's file, 0 for what is extra.
    """

    kind: str
    node: str
    item: str
    serial: str
    said: str
    line: int = 0


@dataclass(frozen=True, slots=True)
class BomComparison:
    """The bill of materials beside what was found."""

    file: str
    digest: str
    rows: int
    matched: int
    differences: tuple[Billed, ...]


@dataclass(frozen=True, slots=True)
class Versions:
    """One component of the firmware and software matrix: its versions, each with its nodes, the most common first.

    A version of `""` is one that is not known; `why` says why. `even` when every node has the same.
    """

    fact: str
    plane: str
    groups: tuple[tuple[str, tuple[str, ...]], ...]
    why: str = ""

    @property
    def even(self) -> bool:
        """Whether all nodes are alike and known."""
        return len(self.groups) == 1 and bool(self.groups[0][0])


@dataclass(frozen=True, slots=True)
class Area:
    """Compliance of one area (`bios`, `sysctl`, `gpu`) on one plane: how many verdicts of each kind."""

    plane: str
    area: str
    rules: int
    counts: Mapping[Status, int]


@dataclass(frozen=True, slots=True)
class Exemption:
    """A waiver as it stands: `state` is used, unused, lapsed, expired, waiting or elsewhere; `detail` says why."""

    rule: str
    nodes: tuple[str, ...]
    pins: tuple[tuple[str, str], ...]
    until: str
    by: str
    ticket: str
    reason: str
    place: str
    state: str
    detail: str
    used: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Punch:
    """One line of the punch list: class A blocks, B is to be fixed by `until` (may be empty), C is a note."""

    cls: str
    rule: str
    what: str
    nodes: tuple[str, ...]
    owner: str = ""
    until: str = ""


@dataclass(frozen=True, slots=True)
class Rework:
    """What turned between readings: a rule (`fact` empty) or a part; `steps` are run, time, and what it was then."""

    rule: str
    fact: str
    nodes: tuple[str, ...]
    steps: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True, slots=True)
class Baseline:
    """A fingerprint of the facts that should stay: SHA-256 over identity, version and config facts, whole and by node.

    `classes` maps identity, version and config to a digest each; volatile facts are no part of it.
    """

    digest: str
    classes: Mapping[str, str]
    facts: int
    unknown: int
    nodes: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class RawReply:
    """One raw answer: where it lies in the bundle by its SHA-256, or why there is none."""

    run: str
    node: str
    plane: str
    time: str
    digest: str
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class Dossier:
    """The whole document; `level` is full, customer or public.

    `burned` is None where no burn-in was run; `simulated` where what was read is no machine.
    """

    level: str
    brand: Brand
    version: str
    subject: ReportSubject
    tally: VerdictTally
    unchecked: tuple[Unchecked, ...]
    gates: tuple[Gate, ...]
    changes: tuple[RuleChange, ...]
    sources: tuple[Source, ...]
    nodes: tuple[NodeRow, ...]
    groups: tuple[GroupRow, ...]
    findings: tuple[FindingEntry, ...]
    notes: tuple[str, ...]
    parts: tuple[Hardware, ...]
    bill: BomComparison | None
    firmware: tuple[Versions, ...]
    compliance: tuple[Area, ...]
    performance: str
    exemptions: tuple[Exemption, ...]
    punch: tuple[Punch, ...]
    rework: tuple[Rework, ...]
    baseline: Baseline
    evidence: tuple[RawReply, ...]
    burned: Burned | None = None
    simulated: bool = False

    @property
    def title(self) -> str:
        """What kind of document it is, in two words."""
        if self.subject.kind == "acceptance":
            return "Acceptance report"
        alone = bool(self.subject.readings) and all(reading.kind == "burn-in" for reading in self.subject.readings)
        return "Burn-in report" if alone else "Audit report"

    @property
    def whole(self) -> Whole:
        """How many nodes and racks there are to count a share of."""
        return whole(len(self.nodes), (group.name for group in self.groups))

    @property
    def reasons(self) -> Reasons:
        """Why nodes, racks and the fleet are INCOMPLETE, each reason with those that have it, most first."""
        everyone: tuple[NodeRow | GroupRow, ...] = (*self.nodes, *self.groups)
        return gathered((each.name, each.outcome, each.reason) for each in everyone)

    @property
    def reason(self) -> str:
        """Say in one line why the whole is INCOMPLETE; empty where it is not."""
        if self.tally.outcome is not Outcome.INCOMPLETE:
            return ""
        return in_one_line(self.reasons, self.whole) or ("" if self.nodes else NO_NODE)

    @property
    def others(self) -> tuple[str, ...]:
        """The nodes that are known to be other machines than the profile is for: none of their rules decides."""
        return tuple(node.name for node in self.nodes if node.fit.match is Match.OTHER)

    def gate(self, rule: str) -> Gate:
        """Give the gate of a rule; raises KeyError where there is none."""
        found = next((gate for gate in self.gates if gate.id == rule), None)
        if found is None:
            raise KeyError(rule)
        return found
