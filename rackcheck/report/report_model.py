"""The model of the sign-off document, which all renderings use.

The objects are immutable; `report.build` makes them, and `report.redact` makes redacted copies of them. Texts may come
from a hostile node, so a rendering must write them literally. No clock is read: all times come from the runs.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from rackcheck.evaluate.verdict import Outcome, Status
from rackcheck.model.fit import Match, ProfileFit
from rackcheck.model.fold import fold
from rackcheck.model.part_index import part_labels
from rackcheck.model.profile import Severity, Source
from rackcheck.model.regex import regex
from rackcheck.report.burn_model import Burned
from rackcheck.signoff.removed_run import RemovedRun
from rackcheck.views.locations import Whole, whole
from rackcheck.views.reasons import NO_NODE, Reasons, gathered, in_one_line
from rackcheck.views.steps import Step

LETTERS = {
    Status.PASS: "p", Status.WARN: "w", Status.FAIL: "F", Status.WAIVED: "v", Status.UNKNOWN: "u", Status.NA: "n",
}  # fmt: skip
"""The letter of each verdict; a rule that is not in scope has the letter `-`."""

OUT = "-"

HALL = regex(r"[0-9]+[A-Za-z]?|[A-Za-z][0-9]*")
"""Regular expression for the number or the letter of a hall, which means nothing without the word."""

NO_FIT = ProfileFit()
"""The fit of a profile that does not state which machines it is for."""


@dataclass(frozen=True, slots=True)
class Logo:
    """The logo of a brand: `kind` is png, jpeg or svg+xml."""

    kind: str
    data: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Party:
    """A party that signs: `role` is integrator, customer, witness or another word; the name may be empty."""

    role: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class Brand:
    """A site's data for the cover page; every text may be empty."""

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

    @property
    def place(self) -> str:
        """The site and the hall: `Hamburg, hall 2`; a hall's own words stay (`Hamburg, West Wing`)."""
        hall = f"hall {self.hall}" if HALL.fullmatch(self.hall) else self.hall
        return ", ".join(filter(None, (self.site, hall)))


@dataclass(frozen=True, slots=True)
class CountedRun:
    """One run of the document: `kind` is audit, re-audit, rework or burn-in."""

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
    """The subject of the document; `kind` is run or acceptance, `state` draft or superseded.

    `state` is never `signed`, because a document is signed after it is written. `digest` is the profile's digest,
    `params` are all params (None if the site must set a value), `given` are the params that were set.
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
        """The start of the newest run."""
        return max((reading.time for reading in self.readings), default="")

    @property
    def planes(self) -> tuple[str, ...]:
        """The planes that at least one run has read."""
        return tuple(sorted({plane for reading in self.readings for plane in reading.planes}))


@dataclass(frozen=True, slots=True)
class VerdictTally:
    """The result in numbers: `counts` of verdicts by status, their `total`, and `nodes` by outcome.

    `severe` contains the counts of verdicts by severity, then by status. Verdicts of racks and the fleet are counted
    like verdicts of nodes; their outcomes are in `Dossier.groups`.
    """

    outcome: Outcome
    interrupted: bool
    counts: Mapping[Status, int]
    total: int
    nodes: Mapping[Outcome, tuple[str, ...]]
    severe: Mapping[Severity, Mapping[Status, int]]

    @property
    def minor_failures(self) -> int:
        """The number of failing verdicts that do not decide an outcome."""
        return sum(counts.get(Status.FAIL, 0) for severity, counts in self.severe.items() if not severity.decides)


@dataclass(frozen=True, slots=True)
class Unchecked:
    """A gap in the checks: `kind` is plane, rule, site value, scope, phase or node.

    `count` is a number of nodes if `kind` is node, of rules if `kind` is scope or phase, and otherwise of verdicts.
    """

    kind: str
    what: str
    why: str
    count: int
    nodes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Gate:
    """One rule as agreed before the run; `expects` are its conditions as text, `scope` is node, rack or fleet."""

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
    """An inherited rule that an overlay dropped, or made weaker, stricter or different; `how` is the change."""

    rule: str
    kind: str
    how: str


@dataclass(frozen=True, slots=True)
class NodeRow:
    """One node: location, identity, outcome, and `vector`: a letter for each rule's verdict, in the profile's order.

    `reason` says why the node is INCOMPLETE, and names the next command; `fit` is whether the profile is for this
    machine.
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
    """A rack or the fleet, judged as a whole: `name` is `@rack:a01` or `@fleet`, `nodes` are its members.

    `scope` is rack or fleet, `vector` has a letter for each rule's verdict, `reason` is why the group is INCOMPLETE.
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
class DeviatingPart:
    """A part of a node that a finding is about; `missing` if the node lacks it, and unknown texts are empty.

    `on_bmc` is true if only the node's BMC lacks the part.
    """

    node: str
    kind: str
    name: str
    slot: str = ""
    pci: str = ""
    serial: str = ""
    missing: bool = False
    on_bmc: bool = False

    @property
    def text(self) -> str:
        """The part in one line: `dgx05: GPU module-6 (slot SXM3, PCI 0000:52:00.0, serial 1650005000003)`."""
        labels = part_labels(self.name, self.slot, self.pci, self.serial)
        named = f"{self.kind} {self.name}" + (f" ({', '.join(labels)})" if labels else "")
        state = " is not listed by the BMC" if self.on_bmc else " is missing" if self.missing else ""
        return f"{self.node}: {named}{state}"


@dataclass(frozen=True, slots=True)
class FindingEntry:
    """One rule's verdict with the same reason on one or more nodes or racks; the rule's texts are in its Gate.

    `truth` is the verdict without waivers, if that differs. `more` counts pieces of evidence that are not shown.
    `parts` are the parts that the finding is about; `under` is the rule of a graver finding about the same parts.
    `fix` is the rule's fix with the names that the finding determines, or empty if they are not filled in.
    """

    rule: str
    status: Status
    reason: str
    nodes: tuple[str, ...]
    evidence: tuple[Exhibit, ...] = ()
    more: int = 0
    truth: Status | None = None
    parts: tuple[DeviatingPart, ...] = ()
    under: str = ""
    fix: str = ""

    @property
    def where(self) -> str:
        """The names of the nodes or racks in compact form: `dgx[01-03]`."""
        return fold(self.nodes)


def fix_of(gate: Gate, found: Iterable[FindingEntry]) -> str:
    """Return the fix of findings of one rule: with names filled in if it is the same for all of them."""
    texts = {each.fix or gate.fix for each in found}
    return texts.pop() if len(texts) == 1 else gate.fix


@dataclass(frozen=True, slots=True)
class Hardware:
    """One physical part: `item` is its fact path (`psu/0`, `node`); texts that were not reported are empty.

    `items` are the part's fact paths on all planes, `serials` and `part_numbers` all its different numbers; each is
    empty if there are not several. `no_serial` and `no_part_number` are why no plane returned one. `repeat` is set if
    the part may be one that another entry lists, and `notes` are statements about it.
    """

    node: str
    item: str
    kind: str
    model: str = ""
    part_number: str = ""
    serial: str = ""
    other: Mapping[str, str] = field(default_factory=dict)
    items: tuple[str, ...] = ()
    serials: tuple[str, ...] = ()
    part_numbers: tuple[str, ...] = ()
    no_serial: str = ""
    no_part_number: str = ""
    notes: tuple[str, ...] = ()
    repeat: bool = False

    @property
    def places(self) -> tuple[str, ...]:
        """The part's fact paths on all planes."""
        return self.items or (self.item,)

    @property
    def every_serial(self) -> tuple[str, ...]:
        """The different serial numbers that the planes return for the part."""
        return self.serials or ((self.serial,) if self.serial else ())

    @property
    def every_part_number(self) -> tuple[str, ...]:
        """The different part numbers that the planes return for the part."""
        return self.part_numbers or ((self.part_number,) if self.part_number else ())

    @property
    def why_no_serial(self) -> str:
        """Why the part has no serial number; records of earlier releases have the reason in `other`."""
        return self.no_serial or self.other.get("serial", "")


@dataclass(frozen=True, slots=True)
class Unlisted:
    """A kind of parts that no plane could list completely on a node, and the reason."""

    node: str
    kind: str
    why: str


@dataclass(frozen=True, slots=True)
class Billed:
    """One difference from the bill of materials: missing, moved, swapped, extra, or unread (could not be read).

    A part is `moved` if it is at another position or on another node, `swapped` if it is another part with the same
    serial number; records of earlier releases call both `swapped`. `line` is the row of the bill's
    file, 0 for an extra part.
    """

    kind: str
    node: str
    item: str
    serial: str
    said: str
    line: int = 0


@dataclass(frozen=True, slots=True)
class BomComparison:
    """The bill of materials compared with the parts found."""

    file: str
    digest: str
    rows: int
    matched: int
    differences: tuple[Billed, ...]


@dataclass(frozen=True, slots=True)
class Versions:
    """One component of the firmware and software matrix: its versions, each with its nodes, the most common first.

    An empty text stands for an unknown version; `why` is the reason. `even` is true if every node has the same version.
    """

    fact: str
    plane: str
    groups: tuple[tuple[str, tuple[str, ...]], ...]
    why: str = ""

    @property
    def even(self) -> bool:
        """Whether the version is known on all nodes, and is the same on all of them."""
        return len(self.groups) == 1 and bool(self.groups[0][0])


@dataclass(frozen=True, slots=True)
class Area:
    """Compliance of one area (`bios`, `sysctl`, `gpu`) on one plane: the number of verdicts of each kind."""

    plane: str
    area: str
    rules: int
    counts: Mapping[Status, int]


@dataclass(frozen=True, slots=True)
class Exemption:
    """A waiver with its state: used, unused, lapsed, expired, waiting or elsewhere; `detail` explains the state."""

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
    """An entry of the punch list: A blocks the sign-off, B is to be fixed by `until` (may be empty), C is a note."""

    cls: str
    rule: str
    what: str
    nodes: tuple[str, ...]
    owner: str = ""
    until: str = ""


@dataclass(frozen=True, slots=True)
class Rework:
    """A change between two readings: either a rule's verdict (`fact` is empty) or a part (`rule` is empty) changed.

    Each of `steps` contains the name and time of a run, and the verdict or the part's value in this run.
    """

    rule: str
    fact: str
    nodes: tuple[str, ...]
    steps: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True, slots=True)
class Baseline:
    """Fingerprints of the identity, version and config facts: one SHA-256 over all nodes, and one for each node.

    `classes` maps each of identity, version and config to a digest; volatile facts are not included.
    """

    digest: str
    classes: Mapping[str, str]
    facts: int
    unknown: int
    nodes: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class RawReply:
    """One raw answer: `digest` is the SHA-256 of its content, `trouble` the error; each of the two may be empty."""

    run: str
    node: str
    plane: str
    time: str
    digest: str
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class Dossier:
    """The whole document; `level` is full, customer or public.

    `burned` is None if no burn-in was run; `simulated` is set if the nodes are simulated. `steps` are the steps that
    an acceptance has agreed on, `unlisted` the kinds of parts that could not be listed on a node, `removed` the runs
    that were removed from an acceptance.
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
    steps: tuple[Step, ...] = ()
    unlisted: tuple[Unlisted, ...] = ()
    removed: tuple[RemovedRun, ...] = ()

    @property
    def title(self) -> str:
        """The title for this kind of document: Acceptance report, Burn-in report or Audit report."""
        if self.subject.kind == "acceptance":
            return "Acceptance report"
        alone = bool(self.subject.readings) and all(reading.kind == "burn-in" for reading in self.subject.readings)
        return "Burn-in report" if alone else "Audit report"

    @property
    def whole(self) -> Whole:
        """The numbers of nodes and racks, as the totals in texts such as `62 of 72`."""
        return whole(len(self.nodes), (group.name for group in self.groups))

    @property
    def reasons(self) -> Reasons:
        """The reasons why nodes, racks and the fleet are INCOMPLETE, each with their names; the most frequent first."""
        everyone: tuple[NodeRow | GroupRow, ...] = (*self.nodes, *self.groups)
        return gathered((each.name, each.outcome, each.reason) for each in everyone)

    @property
    def reason(self) -> str:
        """The reason why the document's outcome is INCOMPLETE, in one line; empty for any other outcome."""
        if self.tally.outcome is not Outcome.INCOMPLETE:
            return ""
        return in_one_line(self.reasons, self.whole) or ("" if self.nodes else NO_NODE)

    @property
    def others(self) -> tuple[str, ...]:
        """The nodes whose type of machine the profile is not for; their verdicts do not affect the outcome."""
        return tuple(node.name for node in self.nodes if node.fit.match is Match.OTHER)

    def gate(self, rule: str) -> Gate:
        """Return the gate of a rule; raises KeyError if there is none."""
        found = next((gate for gate in self.gates if gate.id == rule), None)
        if found is None:
            raise KeyError(rule)
        return found
