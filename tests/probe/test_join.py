"""Facts derived from others: their values, their values when an input is unknown, and their plane."""

from collections.abc import Mapping

import pytest

from rackcheck.model.catalogue import Catalogue, Entry, collection, integer, text
from rackcheck.model.fact import Absent, Facts, Plane, Reading, Reason, Unknown, Unreadable
from rackcheck.model.inputs import Inputs
from rackcheck.model.path import parse
from rackcheck.model.profile import Scope
from rackcheck.model.question import Read, Redfish
from rackcheck.model.tree import Leaf, Tree
from rackcheck.probe.contract import AnyProbe, probe
from rackcheck.probe.group import gathering
from rackcheck.probe.join import Join, derive, join, settled
from rackcheck.probe.plan import plan

KINDS = {"gpu": collection("GPUs."), "gpu/*.pci": text("Where."), "bmc.gpu_count": integer("How many.")}
PLANES = {"gpu": Plane.OS, "gpu/*.pci": Plane.OS, "bmc.gpu_count": Plane.BMC}
CATALOGUE = Catalogue.of(Entry(p, kind, PLANES[p], "some") for p, kind in KINDS.items())
LOST = Unknown(Reason.TIMEOUT, "no answer within 10 s")


@join(
    needs=("gpu", "gpu/*.pci", "bmc.gpu_count"),
    gives={
        "gpu/*.bus": text("The bus of its address."),
        "gpu_missing": integer("GPUs that the BMC has and the OS not."),
    },
)
def buses(inputs: Inputs) -> Facts:
    """Return each GPU's bus."""
    names, more = inputs.items("gpu")
    for name in names:
        reading = inputs.reading(f"gpu/{name}.pci")
        yield f"gpu/{name}.bus", reading[5:7] if isinstance(reading, str) else reading
    count = inputs.reading("bmc.gpu_count")
    trouble = more or settled([count])
    yield "gpu_missing", trouble if trouble is not None else int(str(count)) - len(names)


BUSES = buses.bound(CATALOGUE)


def tree(facts: Mapping[str, Reading], silent: Mapping[Plane, Unknown] | None = None) -> Tree:
    leaves = {}
    for path, reading in facts.items():
        entry = CATALOGUE.find(parse(path))
        assert entry is not None
        leaves[path] = Leaf(reading, entry.kind, entry.plane, "s")
    return Tree(leaves, silent or {})


TWO: Mapping[str, Reading] = {
    "gpu": ("0", "1"),
    "gpu/0.pci": "0000:17:00.0",
    "gpu/1.pci": Absent("no"),
    "bmc.gpu_count": 3,
}


def given(facts: Mapping[str, Reading], made: Join = BUSES) -> dict[str, Reading]:
    return {path: leaf.reading for path, leaf in derive([made], tree(facts)).items()}


def test_a_join_gives_its_facts_on_the_derived_plane_with_its_inputs_as_source() -> None:
    leaves = derive([BUSES], tree(TWO))
    assert {path: leaf.reading for path, leaf in leaves.items()} == {
        "gpu/0.bus": "17", "gpu/1.bus": Absent("no"), "gpu_missing": 1
    }  # fmt: skip
    assert {leaf.plane for leaf in leaves.values()} == {Plane.DERIVED}
    assert leaves["gpu_missing"].source == "from gpu, gpu/*.pci, bmc.gpu_count"


def test_what_follows_from_something_unknown_is_unknown_for_the_same_reason() -> None:
    found = given({**TWO, "gpu/0.pci": LOST, "bmc.gpu_count": LOST})
    assert (found["gpu/0.bus"], found["gpu_missing"]) == (LOST, LOST)
    assert given({**TWO, "gpu": LOST})["gpu_missing"] == LOST


def test_a_silent_plane_gives_the_reason_for_its_unknown_part() -> None:
    silent = tree({k: v for k, v in TWO.items() if k != "bmc.gpu_count"}, {Plane.BMC: LOST})
    assert derive([BUSES], silent)["gpu_missing"].reading == LOST


@pytest.mark.parametrize(
    ("raised", "reason"),
    [(Unreadable("odd", Reason.NOT_READY), Reason.NOT_READY), (KeyError("gpu"), Reason.UNPARSABLE)],
)
def test_a_join_that_fails_costs_its_own_facts_only_and_they_are_unknown(raised: Exception, reason: Reason) -> None:
    @join(needs=("gpu",), gives={"gpu/*.odd": text("Odd.")})
    def odd(inputs: Inputs) -> Facts:
        """Fail."""
        yield "gpu/0.odd", "known before it failed"
        raise raised

    found = derive([odd.bound(CATALOGUE), BUSES], tree(TWO))
    assert found["gpu/0.odd"].reading == "known before it failed"
    failed = found["gpu/1.odd"].reading
    assert isinstance(failed, Unknown)
    assert failed.reason is reason
    assert found["gpu/0.bus"].reading == "17"


def test_a_join_reads_only_what_it_declared() -> None:
    @join(needs=("gpu",), gives={"gpu/*.odd": text("Odd.")})
    def nosy(inputs: Inputs) -> Facts:
        """Read what it did not declare."""
        yield "gpu/0.odd", inputs.reading("gpu/0.pci")

    (found,) = {given(TWO, nosy.bound(CATALOGUE))[f"gpu/{n}.odd"] for n in (0, 1)}
    assert isinstance(found, Unknown)
    assert "join nosy failed" in found.detail


def test_a_join_of_a_fact_no_probe_gives_is_refused_before_any_request() -> None:
    @join(needs=("gpu/*.nowhere",), gives={"gpu/*.odd": text("Odd.")})
    def lost(inputs: Inputs) -> Facts:
        """Need a fact that no probe provides."""
        yield from ()

    with pytest.raises(LookupError, match=r"it needs gpu/\*\.nowhere, which no probe provides"):
        lost.bound(CATALOGUE)


def test_a_request_for_a_derived_fact_reads_its_inputs() -> None:
    @probe(Read("/x"), gives={p: KINDS[p] for p in ("gpu", "gpu/*.pci")})
    def bus(files: object) -> Facts:
        """Return the GPUs."""
        yield from ()

    @probe(Redfish("Systems"), gives={"bmc.gpu_count": KINDS["bmc.gpu_count"]})
    def counted(documents: object) -> Facts:
        """Count the GPUs."""
        yield from ()

    @probe(Read("/y"), gives={"node.name": text("The name.")})
    def other(files: object) -> Facts:
        """Return nothing."""
        yield from ()

    probes = [bus, counted, other]
    catalogue = Catalogue.of(entry for one in probes for entry in one.entries())  # type: ignore[attr-defined]
    made = buses.bound(catalogue)
    whole = Catalogue.of((*catalogue.entries.values(), *made.entries()))
    chosen = plan([parse("gpu/*.bus")], probes, whole, [made])  # type: ignore[arg-type]
    assert [one.name for one in chosen.probes] == ["bus", "counted"]
    assert chosen.joins == (made,)
    assert whole.entries["gpu_missing"].inputs == {Plane.OS, Plane.BMC}
    assert plan([parse("node.name")], probes, whole, [made]).joins == ()  # type: ignore[arg-type]


# ---- facts that are read where the run collected them anyway ---------------------------------------------------------


@join(
    needs=("gpu",),
    also=("gpu/*.pci", "bmc.gpu_count"),
    gives={"gpu_seen": integer("Which of the facts beside were collected, as bits.")},
)
def seen(inputs: Inputs) -> Facts:
    """Return what was collected."""
    yield (
        "gpu_seen",
        sum(bit for bit, fact in ((1, "gpu/*.pci"), (2, "bmc.gpu_count"), (4, "gpu")) if inputs.collected(fact)),
    )


SEEN = seen.bound(CATALOGUE)


@pytest.mark.parametrize(
    ("facts", "silent", "bits"),
    [
        (TWO, {}, 7),
        ({"gpu": ("0",), "gpu/0.pci": LOST}, {}, 5),
        ({"gpu": ("0",)}, {}, 4),
        ({"gpu": ()}, {}, 5),
        ({"gpu": LOST}, {}, 5),
        ({}, {}, 0),
        ({}, {Plane.BMC: LOST}, 2),
        ({}, {Plane.OS: LOST}, 5),
    ],
)
def test_a_fact_never_requested_is_distinguished_from_an_unknown_one(
    facts: Mapping[str, Reading], silent: Mapping[Plane, Unknown], bits: int
) -> None:
    found = derive([SEEN], tree(facts, silent))
    assert found["gpu_seen"].reading == bits


def test_an_optional_input_is_never_requested_and_adds_no_plane() -> None:
    (entry,) = SEEN.entries()
    assert entry.inputs == {Plane.OS}
    assert SEEN.reads == ("gpu", "gpu/*.pci", "bmc.gpu_count")

    @probe(Read("/gpu"), gives={"gpu": KINDS["gpu"]})
    def gpus(_: object) -> Facts:
        yield from ()

    @probe(Redfish("Systems"), gives={"bmc.gpu_count": KINDS["bmc.gpu_count"]})
    def counted(_: object) -> Facts:
        yield from ()

    known = Catalogue.of([*gpus.entries(), *counted.entries(), *SEEN.entries()])
    chosen = plan([parse("gpu_seen")], [gpus, counted], known, [SEEN])
    assert [each.name for each in chosen.probes] == ["gpus"]


def test_an_optional_input_that_no_probe_gives_is_an_error() -> None:
    with pytest.raises(LookupError, match="fan"):
        join(needs=("gpu",), also=("fan",), gives={"x": integer("x")})(lambda _: iter(())).bound(CATALOGUE)


@pytest.mark.parametrize(("wanted", "asked"), [(("gpu",), ["gpus"]), (("gpu", "bmc.gpu_count"), ["gpus", "counted"])])
def test_optional_inputs_are_planned_for_on_planes_that_are_read_anyway(
    wanted: tuple[str, ...], asked: list[str]
) -> None:
    @probe(Read("/gpu"), gives={"gpu": KINDS["gpu"]})
    def gpus(_: object) -> Facts:
        yield from ()

    @probe(Redfish("Systems"), gives={"bmc.gpu_count": KINDS["bmc.gpu_count"]})
    def counted(_: object) -> Facts:
        yield from ()

    @probe(Redfish("Chassis"), gives={"bmc.serial": text("Its serial number.")})
    def serials(_: object) -> Facts:
        yield from ()

    probes: list[AnyProbe] = [gpus, counted, serials]
    catalogue = Catalogue.of([entry for each in (gpus, counted, serials) for entry in each.entries()])
    twice = gathering(Scope.FLEET, beside=("bmc.serial",), gives={"fleet.twice": integer("How many.")})
    made = twice(lambda _: iter(())).bound(catalogue)
    (entry,) = made.entries()
    assert entry.inputs == frozenset()
    known = Catalogue.of([*catalogue.entries.values(), entry])
    chosen = plan([parse(path) for path in ("fleet.twice", *wanted)], probes, known, gatherings=[made])
    assert [each.name for each in chosen.probes] == [*asked, *(["serials"] if len(asked) > 1 else [])]
