"""Redaction: no rendering of a copy contains what its reader must not see, and the findings stay the same."""

import random
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from typing import Any, get_args, get_origin

import pytest
from dossiers import HOSTILE, sample
from hypothesis import given, settings
from hypothesis import strategies as st
from rendering import DOSSIERS, rendered

from rackcheck.model.fact import visible
from rackcheck.model.fold import fold
from rackcheck.report import record
from rackcheck.report.known import Known, NodeSets, addressless, homeless, hostless, nameless
from rackcheck.report.record_schema import FORMS, optional, shapes
from rackcheck.report.redact import TABLE, How, redacted
from rackcheck.report.report_model import Brand, Dossier, Exhibit, Logo, Party, Versions

IDENTITY = {
    How.NODE, How.RACK, How.RUN, How.SUBJECT, How.SERIAL, How.OTHER, How.ADDRESS, How.LOGIN, How.SITE, How.SITES,
    How.PERSON, How.TICKET, How.REASON, How.PARAM,
}  # fmt: skip
REACH = {How.ADDRESS, How.LOGIN}
"""What is hidden from the customer as well."""

CORE = st.text(st.sampled_from("abcXYZ019-_.ßÄı東Ｑ"), max_size=12)


class Planting:
    """Puts a unique value into every field of an identity, and some of these values into every other text."""

    def __init__(self, core: str, seed: int) -> None:
        self._core, self._chance = core, random.Random(seed)
        self.values: dict[tuple[How, str], str] = {}
        self.stem = f"zn{core}n" if core else "znode"

    def own(self, how: How, value: str) -> str:
        """Return the planted value that replaces this one."""
        name = f"{self.stem}{len(self.values):03}" if how is How.NODE else f"zq{how[0]}{self._core}v{len(self.values)}k"
        name = f"https://{name}/redfish" if how is How.ADDRESS and "://" in value else name
        return self.values.setdefault((how, value), name)

    def gathered(self, value: Any, how: Any) -> Any:
        """Return a copy in which every identity is a planted one."""
        return self._walked(value, how, lambda how, text: self.own(how, text) if how in IDENTITY and text else text)

    def planted(self, value: Any, how: Any) -> Any:
        """Return a copy in which every other text contains some of them, in some spelling, and a node set."""
        return self._walked(value, how, lambda how, text: text if how in IDENTITY else self._sown(text))

    def _sown(self, text: str) -> str:
        chosen = self._chance.sample(sorted(set(self.values.values())), 3)
        spelt = [getattr(value, self._chance.choice(["strip", "upper", "lower", "casefold"]))() for value in chosen]
        names = sorted(v for (how, _), v in self.values.items() if how is How.NODE)
        glued = f"x{spelt[2]}y" if len(spelt[2]) >= 8 else spelt[2]
        return f"{text} {spelt[0]}: ({spelt[1]}) {glued}; {fold(names)}, {names[0]}"

    def _walked(self, value: Any, how: Any, turn: Any) -> Any:
        if isinstance(value, Enum | int | bytes) or value is None or how in {How.VECTOR, How.KEEP}:
            return value
        if isinstance(value, str):
            return turn(how, value)
        if isinstance(value, tuple):
            pairs = (
                how if isinstance(how, tuple) and not (value and isinstance(value[0], tuple)) else [how] * len(value)
            )
            return tuple(self._walked(item, inner, turn) for item, inner in zip(value, pairs, strict=True))
        if isinstance(value, Mapping):
            return {key: self._walked(item, how, turn) for key, item in value.items()}
        hows = {name: both[1] for name, both in TABLE[type(value)].items()}
        if isinstance(value, Exhibit):
            hows["observed"] = How.TEXT
        closed = {name for cls, name in FORMS if cls is type(value)}  # words that a record does not allow to change
        names = [f.name for f in fields(value) if f.name not in closed]
        return replace(value, **{name: self._walked(getattr(value, name), hows.get(name), turn) for name in names})


def sown(core: str, seed: int) -> tuple[Dossier, Planting]:
    planting = Planting(core, seed)
    dossier = sample(4, 8)
    named = replace(dossier, subject=replace(dossier.subject, given={"site": "hall"}))
    gathered = planting.gathered(named, None)
    return planting.planted(gathered, None), planting


def leaks(dossier: Dossier, values: Iterator[str] | list[str]) -> list[tuple[str, str]]:
    texts = {name: text.casefold() for name, text in rendered(dossier).items()}
    return [(name, v) for v in values for name, text in texts.items() if visible(v).casefold() in text]


@settings(max_examples=15)
@given(CORE, st.integers(0, 1 << 30))
def test_no_rendering_for_the_public_holds_an_identity_or_a_folded_form_of_one(core: str, seed: int) -> None:
    dossier, planting = sown(core, seed)
    values = [*planting.values.values(), planting.stem + "["]
    assert len(leaks(dossier, values)) > len(values)
    copy = redacted(dossier, "public")
    assert leaks(copy, values) == []
    assert leaks(copy, [planting.stem]) == []


@settings(max_examples=15)
@given(CORE, st.integers(0, 1 << 30))
def test_no_rendering_for_the_customer_holds_an_address_or_a_login_and_all_hold_their_serials(
    core: str, seed: int
) -> None:
    dossier, planting = sown(core, seed)
    copy = redacted(dossier, "customer")
    assert leaks(copy, [v for (how, _), v in planting.values.items() if how in REACH]) == []
    assert [(n.name, n.serial, n.rack) for n in copy.nodes] == [(n.name, n.serial, n.rack) for n in dossier.nodes]
    assert [(p.node, p.serial) for p in copy.parts] == [(p.node, p.serial) for p in dossier.parts]
    assert (copy.brand.customer, copy.brand.parties[0].name) == (dossier.brand.customer, dossier.brand.parties[0].name)


def found(dossier: Dossier) -> list[object]:
    """What was found, without a name in it."""
    return [
        dossier.tally.outcome, dossier.tally.counts, dossier.tally.total, dossier.tally.severe,
        {outcome: len(nodes) for outcome, nodes in dossier.tally.nodes.items()},
        [(n.outcome, n.vector, n.u) for n in dossier.nodes], [(g.counts, g.severity) for g in dossier.gates],
        [(f.status, f.truth, len(f.nodes), len(set(f.nodes)), len(f.evidence), f.more) for f in dossier.findings],
        [(p.cls, len(p.nodes)) for p in dossier.punch], [len(set(v.groups)) for v in dossier.firmware],
        dossier.bill and (dossier.bill.rows, dossier.bill.matched, len(dossier.bill.differences)),
        len({p.serial for p in dossier.parts}), len({g.id for g in dossier.gates}), len(dossier.evidence),
    ]  # fmt: skip


@settings(max_examples=15)
@given(CORE, st.integers(0, 1 << 30))
def test_verdicts_counts_and_outcomes_are_unchanged_and_redacting_again_changes_nothing(core: str, seed: int) -> None:
    dossier, _ = sown(core, seed)
    for level in ("customer", "public"):
        copy = redacted(dossier, level)
        assert copy.level == level
        assert found(copy) == found(dossier)
        assert redacted(replace(copy, level="full"), level) == copy
        assert record.read(record.text(copy)) == copy


@settings(max_examples=15)
@given(st.integers(0, 1 << 30))
def test_a_public_copy_of_the_customers_copy_is_the_public_copy(seed: int) -> None:
    dossier, _ = sown("", seed)
    for one in (dossier, sample(hostile=True), sample()):
        assert redacted(redacted(one, "customer"), "public") == redacted(one, "public")


@settings(max_examples=60)
@given(DOSSIERS)
def test_any_dossier_can_be_redacted_and_rendered_and_stays_in_its_schema(dossier: Dossier) -> None:
    for level in ("customer", "public"):
        copy = redacted(dossier, level)
        rendered(copy)
        assert record.read(record.text(copy)) == copy
        assert copy.tally.counts == dossier.tally.counts


def texts_of(shape: Any) -> bool:
    """Whether a type of the model holds a text that is not inside another dataclass."""
    shape = optional(shape) or shape
    if get_args(shape):
        return any(texts_of(arg) for arg in get_args(shape) if arg is not ...)
    return shape in {str, bytes}


def models(cls: type) -> Iterator[type]:
    yield cls
    for shape in shapes(cls).values():
        inner = optional(shape) or shape
        inner = get_args(inner)[0] if get_origin(inner) is tuple else inner
        if is_dataclass(inner):
            assert isinstance(inner, type)
            yield from models(inner)


def test_every_text_of_the_model_has_a_decision() -> None:
    for cls in set(models(Dossier)):
        undecided = {name for name, shape in shapes(cls).items() if texts_of(shape)} - TABLE.get(cls, {}).keys()
        assert undecided == set(), cls
        assert TABLE.get(cls, {}).keys() <= shapes(cls).keys()
        kept = {name for name, (_, public) in TABLE.get(cls, {}).items() if public is How.KEEP}
        for name in kept:  # only what is no free text
            assert (cls, name) in FORMS or not texts_of(shapes(cls)[name]) or name in {"data", "counts", "severe"}, name


# Single values


def test_a_node_called_pass_and_a_serial_of_one_digit_spoil_no_other_text() -> None:
    dossier = sample(3, 8)
    names = dict(zip(("dgx1", "dgx2", "dgx3"), ("a", "pass", "fail"), strict=True))
    planting = Planting("", 0)
    renamed = planting._walked(dossier, None, lambda how, text: names.get(text, text) if how is How.NODE else text)
    small = replace(renamed, parts=tuple(replace(p, serial="1") for p in renamed.parts))
    copy = redacted(small, "public")
    assert [n.name for n in copy.nodes] == ["node-001", "node-003", "node-002"]
    assert [p.serial[:7] for p in copy.parts] == ["serial-"] * len(copy.parts)
    assert [g.why for g in copy.gates] == [g.why for g in dossier.gates]
    assert copy.rework[0].steps[0][2] == "fail"
    assert found(copy) == found(small)


def test_a_host_that_is_called_as_its_node_leaves_the_customer_the_nodes_name() -> None:
    dossier = sample(2, 5)
    same = replace(
        dossier, nodes=tuple(replace(n, host=n.name) for n in dossier.nodes), notes=("dgx1: 10.0.0.7 says no", "dgx1.mgmt"),
    )  # fmt: skip
    copy = redacted(same, "customer")
    assert copy.notes == ("dgx1: [address] says no", "dgx1.mgmt")
    assert {n.host + n.bmc for n in copy.nodes} == {""}


def test_the_customer_keeps_waivers_commands_and_brand_and_loses_folders() -> None:
    dossier = sample(8, 40)
    waiver = replace(dossier.exemptions[0], place="/home/jo/pod7/waivers.yaml:3:3", used=("dgx8",))
    local = replace(
        dossier, exemptions=(waiver,), notes=("read /home/jo/pod7/site.yaml; cat /sys/class/net/eth0/mtu; ~jo/x C:\\Users\\jo",),
    )  # fmt: skip
    copy = redacted(local, "customer")
    assert copy.exemptions == (replace(waiver, place="waivers.yaml:3:3"),)
    assert copy.notes == ("read [path]; cat /sys/class/net/eth0/mtu; [path] [path]",)
    assert copy.findings == dossier.findings
    assert {r.operator for r in copy.subject.readings} == {""}


def test_the_public_sees_no_brand_no_person_and_no_folders_of_a_site() -> None:
    brand = Brand("Pod 7", "Rackers", "Acme Ltd", "Hamburg", "Hall 2", "PO-4711", "B", "secret footer", Logo("png", b"x"),
                  (Party("customer", "Ann Other"),))  # fmt: skip
    notes = ("Acme's rack in hamburg", "ann other said so", "cat /srv/acme/x and /etc/fstab", "mail a.b@c.example")
    copy = redacted(replace(sample(), brand=brand, notes=notes), "public")
    assert copy.brand == Brand(revision="B", parties=(Party("customer"),))
    assert copy.notes == ("[site]'s rack in [site]", "[person] said so", "cat [path] and /etc/fstab", "mail [person]")
    assert copy.baseline.digest == ""
    assert not copy.baseline.nodes


def test_a_serial_that_was_replaced_is_known_from_the_rework_and_from_evidence_too() -> None:
    dossier = sample(8, 40)
    exhibit = Exhibit(dossier.findings[0].status, "gpu/3.serial", "165SPARE9", "in the bill", "")
    first = replace(dossier.findings[0], evidence=(exhibit,))
    copy = redacted(replace(dossier, findings=(first,), notes=("165SPARE9 and 1650000777", "absent")), "public")
    assert copy.findings[0].evidence[0].observed.startswith("serial-")
    assert copy.notes[0].split(" and ") == [copy.findings[0].evidence[0].observed, copy.rework[1].steps[1][2]]
    assert copy.notes[1] == "absent"


def test_a_copy_for_the_public_never_becomes_one_for_the_customer() -> None:
    assert redacted(redacted(sample(), "public"), "customer").level == "public"
    with pytest.raises(ValueError, match="full"):
        redacted(sample(), "full")


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("10.1.2.3:443", "[address]:443"), ("24.09.17.01 and 1.2.3", "24.09.17.01 and 1.2.3"),
        ("fe80::1ff:fe23:4567:890a%eth0", "[address]%eth0"), ("[2001:db8::1]:22", "[[address]]:22"),
        ("at 10:00:00 on 0000:17:00.0", "at 10:00:00 on 0000:17:00.0"), ("a::b std::x", "[address] std::x"),
        ("https://bmc7:8443/redfish/v1/Systems/1", "[address]/redfish/v1/Systems/1"),
        ("ssh://jo@host", "[address]"), ("999.1.1.1", "999.1.1.1"),
    ],
    ids=range(9),
)  # fmt: skip
def test_addresses_are_distinguished_from_times_versions_and_pci_addresses(text: str, left: str) -> None:
    assert addressless(text) == left


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("b8:ce:f6:03:00:fd is B8-CE-F6-03-00-FD", "[id] is [id]"), ("b8ce:f603:00fd:1234", "[id]"),
        ("0xb8cef60300fd1234 b8cef60300fd", "[id] [id]"), ("GPU-5fcd0e2a-0001-0002-0003-000000000004", "[id]"),
        ("166232410001 and 4000 rpm", "166232410001 and 4000 rpm"), ("deadbeef " + "a1" * 32, "deadbeef " + "a1" * 32),
        ("/data/x:3 /etc/fstab /redfish/v1 1/2 and/or </script>", "[path]:3 /etc/fstab /redfish/v1 1/2 and/or </script>"),
        ("linux-server@2026.11", "linux-server@2026.11"),
    ],
    ids=range(8),
)  # fmt: skip
def test_ids_and_folders_are_distinguished_from_numbers_digests_and_system_paths(text: str, left: str) -> None:
    assert nameless(text) == left


NO_VERSIONS = [
    "host=secrethost.example.lan fe80::dead:beef:1", "fw 2001:db8::7", "https://secrethost:8443/redfish/v1 1.2",
    "b8:ce:f6:03:00:fd", "1.0 (4C4C4544-0051-4410-8052-b7c04f4e5931)", "built by jo.doe@secrethost.example",
    "/home/jo/secrethost/build 7", "1.2-secrethost.example.lan", "hostname=secrethost", "secrethost.local",
]  # fmt: skip


@pytest.mark.parametrize("level", ["customer", "public"])
@pytest.mark.parametrize("text", NO_VERSIONS, ids=range(len(NO_VERSIONS)))
def test_a_field_of_versions_hides_no_address_and_no_identity(text: str, level: str) -> None:
    dossier = sample(2, 5)
    nodes = (replace(dossier.nodes[0], vendor=text, product=text), dossier.nodes[1])
    parts = (replace(dossier.parts[0], model=text, part_number=text), *dossier.parts[1:])
    group = Versions("driver.version", "os", ((text, ("dgx1",)), ("570.86.15", ("dgx2",))))
    copy = redacted(replace(dossier, nodes=nodes, parts=parts, firmware=(group,)), level)
    hidden = ("secrethost", "dead:beef", "2001:db8", "b8:ce", "4C4C4544", "jo.doe", "/home")
    assert leaks(copy, [word for word in hidden if word in text]) == []
    assert copy.firmware[0].groups[1][0] == "570.86.15"
    assert redacted(replace(copy, level="full"), level) == copy


@pytest.mark.parametrize(
    "text",
    [
        "96.00.5E.00.01", "24.09.17.1", "5.15.0-1058-nvidia", "4.18.0-553.el8_10.x86_64", "NVIDIA H100 80GB HBM3",
        "2024.0912.0001", "G520.0200.00.05", "22.04.3 LTS (Jammy)", "SAMSUNG MZWLO3T8HCLS-00A07", "PSUF2_5.0.rc",
    ],
)  # fmt: skip
def test_a_version_or_a_model_stays_as_it_is(text: str) -> None:
    group = Versions("firmware.bmc", "bmc", ((text, ("dgx1",)),))
    for level in ("customer", "public"):
        assert redacted(replace(sample(2, 5), firmware=(group,)), level).firmware[0].groups[0][0] == text


def test_a_firmware_that_bears_its_nodes_serial_is_named_by_the_serials_pseudonym() -> None:
    dossier = sample(2, 5)
    serial = dossier.nodes[0].serial
    group = Versions(f"firmware/FW_{serial}.version", "bmc", ((f"1.5-{serial}", ("dgx1",)),))
    copy = redacted(replace(dossier, firmware=(group,)), "public")
    pseudonym = copy.nodes[0].serial
    assert pseudonym.startswith("serial-")
    assert copy.firmware[0].fact == f"firmware/FW_{pseudonym}.version"
    assert copy.firmware[0].groups[0][0] == f"1.5-{pseudonym}"


@pytest.mark.parametrize("level", ["customer", "public"])
def test_the_name_that_a_node_has_for_itself_is_known_with_and_without_its_domain(level: str) -> None:
    dossier = sample(2, 5)
    own = replace(dossier.parts[0], item="node", other={"hostname": "secrethost.example.lan"})
    notes = ("SECRETHOST says no", "ask secrethost.example.lan")
    copy = redacted(replace(dossier, parts=(own, *dossier.parts[1:]), notes=notes), level)
    assert leaks(copy, ["secrethost", "example.lan"]) == []
    assert copy.notes == ("[address] says no", "ask [address]")


def test_a_node_that_calls_itself_as_it_is_called_leaves_the_customer_its_name() -> None:
    dossier = sample(2, 5)
    own = replace(dossier.parts[0], item="node", other={"hostname": "dgx1.example.lan"})
    copy = redacted(replace(dossier, parts=(own, *dossier.parts[1:]), notes=("dgx1 at dgx1.example.lan",)), "customer")
    assert copy.notes == ("dgx1 at [address]",)
    assert copy.nodes[0].name == "dgx1"


def test_hosts_are_distinguished_from_versions() -> None:
    assert hostless("n1.pod7.example, n1.lan. x1.lan/y") == "[address], [address]. [address]/y"
    for text in ("1.2.3", "v1.2.rc", "5.10.0-a.lan5", "el8.x86_64", "Dell.Inc", "hostname", "a.b", "x" * 99 + ".a.b"):
        assert hostless(text) == text


def test_node_sets_become_sets_of_pseudonyms() -> None:
    sets = NodeSets({f"dgx{n:02}": f"node-{n:03}" for n in range(1, 13)} | {"7": "node-099"})
    assert sets.replaced("on dgx[01-03,12]: DGX[9-40], dgx[90-99]") == "on node-[001-003,012]: node-[009-012], [nodes]"
    assert sets.replaced("gpu/[0-7] and adgx[01-02]") == "gpu/[0-7] and adgx[01-02]"


def test_known_values_are_found_in_every_spelling_the_longest_first_and_short_ones_only_apart() -> None:
    known = Known({"dgx1": "n1", "dgx1.mgmt": "[address]", "16623241": "s1", "Straße 12": "[site]", "abc": "x"})
    assert known.replaced("DGX1 dgx10 dgx1.mgmt xdgx1 dgx1_a") == "n1 dgx10 [address] xdgx1 n1_a"
    assert known.replaced("x16623241y STRASSE 12 \uff24\uff27\uff38\uff11 abc") == "xs1y [site] n1 abc"
    assert known.replaced("") == ""


def test_hostile_texts_are_redacted_within_bounds() -> None:
    for text in (*HOSTILE, "a" * 200_000, "[" * 100_000, "1." * 100_000, ":" * 100_000, "/a" * 100_000, "@a." * 60_000,
                 "a." * 100_000, "a-" * 100_000, "host=" * 40_000):  # fmt: skip
        nameless(hostless(homeless(addressless(text))))
        NodeSets({"dgx1": "node-001"}).replaced(text)
        Known({"dgx1": "node-001"}).replaced(text)
