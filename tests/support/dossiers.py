"""Documents of a given size, made up to test renderings: values of the model, not of any machine."""

import hashlib

from rackcheck.evaluate.verdict import Outcome, Status
from rackcheck.model.profile import Severity, Source
from rackcheck.report.report_model import (
    LETTERS,
    Area,
    Baseline,
    Billed,
    BomComparison,
    Brand,
    CountedRun,
    Dossier,
    Exemption,
    Exhibit,
    FindingEntry,
    Gate,
    Hardware,
    NodeRow,
    Party,
    Punch,
    RawReply,
    ReportSubject,
    Rework,
    RuleChange,
    Unchecked,
    VerdictTally,
    Versions,
)

HOSTILE = (
    "</script><script>alert(1)</script>",
    "=cmd()",
    '#read("/etc/passwd")',
    "S" * 200,
    "abc\u202edef",
    "bell\x07 esc\x1b[31m nul\x00 del\x7f c1\x9b",
    "東京データセンター",
    '"><img src=x onerror=alert(1)>',
    "$x^2$ *bold* _under_ @cite `raw` \\ ~ #set page(width: 1cm)",
    "| a | b |\n| --- | --- |",
    "-1+1",
    "]]>&amp;<![CDATA[",
    "\ud800 half \ufffe",
)
"""Texts that a node may return, each of which some renderer might interpret as its own syntax."""


def sample(nodes: int = 8, rules: int = 40, *, hostile: bool = False, level: str = "full") -> Dossier:
    """Return a document over `nodes` nodes and `rules` rules; `hostile` puts HOSTILE into every text from a node."""
    names = tuple(f"dgx{n:0{len(str(nodes))}}" for n in range(1, nodes + 1))
    severities = tuple(Severity)
    gate_ids = [f"{('gpu', 'bios', 'sysctl', 'nic', 'firmware')[i % 5]}.rule_{i:03}" for i in range(rules)]
    verdicts = {name: [_status(n, i) for i in range(rules)] for n, name in enumerate(names)}
    counts = {s: sum(v is s for vs in verdicts.values() for v in vs) for s in Status}
    gates = tuple(
        Gate(
            gate_id, f"Rule number {i} of the sample holds on every node", severities[i % 4], "config",
            ("bmc",) if i % 5 == 1 else ("os",), (f"{gate_id.split('.')[0]}.value must be {i}",),
            "Without it every collective waits for the slowest link.", f"set it: tool --set {i}", ("guide.section",),
            {s: sum(verdicts[name][i] is s for name in names) for s in Status},
            ("driver",) if i == 9 else (),
        )
        for i, gate_id in enumerate(gate_ids)
    )  # fmt: skip
    items: tuple[str, ...] = HOSTILE if hostile else ("200 Gb/s", "Disabled", "1.2.3", "absent")
    found = tuple(_findings(names, gate_ids, verdicts, items))
    rows = tuple(
        NodeRow(
            name, "compute", _outcome(verdicts[name], severities), "".join(LETTERS[v] for v in verdicts[name]),
            f"a{n // 8 + 1:02}", 1 + 4 * (n % 8), 4, "", f"{name}.mgmt", f"https://{name}-bmc", "NVIDIA", "DGXH100",
            items[n % len(items)] if hostile else f"16623241{n:05}", "20261121T100000Z-0001",
        )
        for n, name in enumerate(names)
    )  # fmt: skip
    outcomes = {o: tuple(r.name for r in rows if r.outcome is o) for o in Outcome}
    parts = tuple(
        Hardware(
            name, item, kind, "H100 SXM5 80GB", "692-2G520-0200-000",
            items[(n + g) % len(items)] if hostile else f"165{n:04}{g:03}", {"uuid": f"GPU-{n:08x}-{g:04x}"},
        )
        for n, name in enumerate(names)
        for g, (item, kind) in enumerate([("node", "system"), *((f"gpu/{g}", "gpu") for g in range(8))])
    )  # fmt: skip
    odd = names[-1:]
    readings = (
        CountedRun(
            "20261120T100000Z-0000", "2026-11-20T10:00:00Z", "2026-11-20T10:00:20Z", "audit", Outcome.FAIL, False, names,
            ("bmc", "os"), f"all {nodes} nodes of rack.yaml", "0.1.0", "jo",
        ),
        CountedRun(
            "20261121T100000Z-0001", "2026-11-21T10:00:00Z", "2026-11-21T10:00:20Z", "re-audit", Outcome.FAIL, False,
            names, ("bmc", "os"), f"all {nodes} nodes of rack.yaml", "0.1.0", "jo",
        ),
    )  # fmt: skip
    first = items[0]
    return Dossier(
        level=level,
        brand=Brand(
            "Acceptance of pod 7", "Rack & Sons GmbH", items[6] if hostile else "Customer Ltd", "Hamburg", "Hall 2",
            "PO-4711", "A", "confidential", None,
            (Party("integrator", "Jo Doe"), Party("customer", ""), Party("witness", "")),
        ),
        version="0.1.0",
        subject=ReportSubject(
            "acceptance", "pod7", "draft", readings, "h100-dgx", "2026.11", "DGX H100 node, ready for training",
            hashlib.sha256(b"profile").hexdigest(), ("linux-server@2026.11", "linux-gpu-node@2026.11", "h100-dgx@2026.11"),
            {"driver": None, "fan_min": "4000 rpm"}, {"fan_min": "4000 rpm"}, hashlib.sha256(b"inventory").hexdigest(),
        ),
        tally=VerdictTally(
            Outcome.FAIL if outcomes[Outcome.FAIL] else Outcome.INCOMPLETE, False, counts, sum(counts.values()), outcomes,
            {
                severity: {
                    s: sum(verdicts[name][i] is s for name in names for i in range(rules) if severities[i % 4] is severity)
                    for s in Status
                }
                for severity in severities
            },
        ),
        unchecked=(
            Unchecked("plane", "bmc", f"denied: HTTP 401; {first}", 22, odd),
            Unchecked("site value", "driver", "no site value set", nodes),
            Unchecked("phase", "burn-in", "41 burn-in rules not run", 41),
        ),
        gates=gates,
        changes=(
            RuleChange(gate_ids[0], "weaker", "severity: blocker -> major"),
            RuleChange("nic.mtu", "dropped", "no such network here"),
        ),
        sources=(Source("guide.section", "A guide", "4.2", "A vendor", "2025-06", "read in source"),),
        nodes=rows,
        groups=(),
        findings=found,
        notes=("3 rules without a site value: driver (--set NAME=VALUE)", f"dgx: {first}"),
        parts=parts,
        bill=BomComparison(
            "bill.csv", hashlib.sha256(b"bill").hexdigest(), 64, 61,
            (
                Billed("missing", names[0], "gpu/3", first, "in the bill but no node has it", 4),
                Billed("extra", names[-1], "gpu/7", "1650000999", "on the node but not in the bill", 0),
                Billed("swapped", names[0], "gpu/1", "1650000001", f"the bill has it on {names[-1]}", 7),
            ),
        ),
        firmware=(
            Versions("firmware.bmc", "bmc", (("24.09.17", names[:-1]), ("23.11.09", odd))),
            Versions("driver.version", "os", (("570.86.15", names),)),
            Versions("firmware.bios", "bmc", (("1.5.3", names[:-1]), ("", odd)), "denied"),
            Versions("nic/mlx5_0.firmware", "os", ((first, names),)),
        ),
        compliance=(
            Area("os", "sysctl", 8, dict(counts)),
            Area("bmc", "bios", 8, dict(counts)),
        ),
        performance="No burn-in was run: this document does not show how fast these machines are.",
        exemptions=(
            Exemption(
                gate_ids[3], odd, (("nic/mlx5_4.rate", "200 Gb/s"),), "2027-02-01", "Jo Doe", "OPS-12", first,
                "waivers.yaml:3:3", "used", "", odd,
            ),
            Exemption(
                gate_ids[4], odd, (("gpu/1.ecc.mode", "off"),), "2026-11-01", "Jo Doe", "OPS-13", "part ordered",
                "waivers.yaml:9:3", "expired", "its last day was 2026-11-01",
            ),
        ),
        punch=tuple(
            Punch(
                "A" if f.status in {Status.FAIL, Status.UNKNOWN} else "B" if f.status is Status.WAIVED else "C",
                f.rule, f.reason, f.nodes, "", "2027-02-01" if f.status is Status.WAIVED else "",
            )
            for f in found if f.status in {Status.FAIL, Status.UNKNOWN, Status.WAIVED, Status.WARN}
        ),
        rework=(
            Rework(
                gate_ids[2], "", names[:1],
                tuple((r.run, r.time, s) for r, s in zip(readings, ("fail", "pass"), strict=True)),
            ),
            Rework(
                "", "gpu/3.serial", names[:1],
                tuple((r.run, r.time, s) for r, s in zip(readings, (first, "1650000777"), strict=True)),
            ),
        ),
        baseline=Baseline(
            hashlib.sha256(b"all").hexdigest(),
            {c: hashlib.sha256(c.encode()).hexdigest() for c in ("identity", "version", "config")},
            412 * nodes, 3, {name: hashlib.sha256(name.encode()).hexdigest() for name in names},
        ),
        evidence=tuple(
            RawReply(
                readings[1].run, name, plane, readings[1].time,
                "" if name in odd and plane == "bmc" else hashlib.sha256(f"{name}{plane}".encode()).hexdigest(),
                "denied (HTTP 401)" if name in odd and plane == "bmc" else "",
            )
            for name in names for plane in ("bmc", "os")
        ),
    )  # fmt: skip


def _status(node: int, rule: int) -> Status:
    """Six in ten nodes share one failure, three in ten have one of their own; a few rules warn or are unknown."""
    if rule == 9:
        return Status.NA
    if (rule == 17 and node % 10 < 6) or (node % 10 >= 7 and (node * 7) % 31 == rule % 31 and rule < 31):
        return Status.FAIL
    if rule == 3 and node % 40 == 7:
        return Status.WAIVED
    if rule == 20 and node % 50 == 5:
        return Status.UNKNOWN
    return Status.WARN if rule == 7 and node % 4 == 1 else Status.PASS


def _outcome(verdicts: list[Status], severities: tuple[Severity, ...]) -> Outcome:
    deciding = {v for i, v in enumerate(verdicts) if severities[i % 4].decides}
    if Status.FAIL in deciding:
        return Outcome.FAIL
    return Outcome.INCOMPLETE if Status.UNKNOWN in deciding else Outcome.PASS


def _findings(
    names: tuple[str, ...], gates: list[str], verdicts: dict[str, list[Status]], rows: tuple[str, ...]
) -> list[FindingEntry]:
    gathered: dict[tuple[int, Status, str], list[str]] = {}
    for n, name in enumerate(names):
        for i, status in enumerate(verdicts[name]):
            text = "" if status is Status.PASS else rows[0 if i == 17 else n % len(rows)]
            gathered.setdefault((i, status, text), []).append(name)
    order = (Status.FAIL, Status.UNKNOWN, Status.WARN, Status.WAIVED, Status.NA, Status.PASS)
    found = []
    for (i, status, text), where in sorted(gathered.items(), key=lambda g: (order.index(g[0][1]), -len(g[1]), g[0][0])):
        item = f"{gates[i].split('.')[0]}.value"
        expected = f"must be {i}"
        exhibit = Exhibit(status, item, text, expected, f"cat /sys/{text}")
        reason = f"{item} is {text}, {expected}" if text else ""
        truth = Status.FAIL if status is Status.WAIVED else None
        found.append(FindingEntry(gates[i], status, reason, tuple(where), (exhibit,) if text else (), 0, truth))
    return found
