"""Links, pages and items of a BMC: what is followed, what is refused, and what is reported for the rest."""

import json
import time
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from trees import DGX, tree

from rackcheck.model.capture import BmcCapture
from rackcheck.model.catalogue import collection, setting
from rackcheck.model.documents import PAGES, Documents, Missing, wanted
from rackcheck.model.evidence import UNUSABLE
from rackcheck.model.fact import Absent, Facts, Plane, Reason, Unknown, Unreadable
from rackcheck.model.path import parse
from rackcheck.model.question import Redfish
from rackcheck.model.redfish_value import amount, health, measured, text_of, truth
from rackcheck.model.resource import MEMBERS, ROOT, Body, Resource, inside, same_place
from rackcheck.model.tree import Tree
from rackcheck.parse.bmc.chassis import in_chassis
from rackcheck.parse.bmc.item import fitted, gather, keyed, members, named
from rackcheck.probe.collect import PATH, collect
from rackcheck.probe.contract import probe

C = f"{ROOT}/Chassis"
GONE = Unknown(Reason.NOT_COLLECTED, "HTTP 404")


def link(uri: object) -> dict[str, object]:
    return {"@odata.id": uri}


def bmc() -> dict[str, Body | Unknown]:
    """A root with two chassis."""
    return {
        ROOT: {"Chassis": link(C)},
        C: {"Members": [link(f"{C}/1"), link(f"{C}/2")]},
        f"{C}/1": {"Id": "1"},
        f"{C}/2": {"Id": "2"},
    }


def ids(bodies: Mapping[str, Body | Unknown], asked: str) -> list[str]:
    return [r.id for r in Documents(bodies).at(asked)]


def test_links_are_followed_by_name_from_the_root() -> None:
    assert ids(bmc(), "Chassis/*") == ["1", "2"]
    assert ids(bmc(), "") == ["v1"]


def test_a_link_that_is_not_there_leads_nowhere() -> None:
    assert ids(bmc(), "Systems/*") == []
    assert ids(bmc(), "Chassis/*/Power") == []


def test_all_that_can_be_fetched_next_is_named_at_once() -> None:
    assert set(wanted(("Chassis/*", "Systems/*"), {})) == {ROOT}
    assert set(wanted(("Chassis/*",), {ROOT: {"Chassis": link(C)}})) == {C}
    half = {k: v for k, v in bmc().items() if k in {ROOT, C}}
    assert set(wanted(("Chassis/*", "Chassis/*/Power"), half)) == {f"{C}/1", f"{C}/2"}
    assert set(wanted(("Chassis/*",), bmc())) == set()


def test_members_of_all_pages_are_gathered_once() -> None:
    first = {"Members": [link(f"{C}/1")], "Members@odata.nextLink": f"{C}?$skip=1"}
    second = {"Members": [link(f"{C}/1"), link(f"{C}/2/")]}
    bodies = bmc() | {C: first}
    assert set(wanted(("Chassis/*",), bodies)) == {f"{C}?$skip=1"}
    assert ids(bodies | {f"{C}?$skip=1": second}, "Chassis/*") == ["1", "2"]


def test_a_page_that_names_itself_as_the_next_ends() -> None:
    page = {"Members": [link(f"{C}/1")], "Members@odata.nextLink": f"{C}?$skip=1"}
    assert ids(bmc() | {C: page, f"{C}?$skip=1": page}, "Chassis/*") == ["1"]


def test_pages_of_the_recorded_dgx_end_and_hold_no_sensor_twice() -> None:
    place = "/redfish/v1/Chassis/DGX/Sensors"
    bodies: dict[str, Body | Unknown] = {ROOT: {"Sensors": link(place)}}
    while more := wanted(("Sensors/*",), bodies):
        for uri in more:
            bodies[uri] = json.loads((tree(DGX) / uri.lstrip("/") / "index.json").read_text("utf-8"))
    assert sum("?" in uri for uri in bodies) >= 1
    found = [r.uri for r in Documents(bodies).at("Sensors/*")]
    assert len(found) == len(set(found)) == 264


def test_pages_without_end_are_left_with_what_they_gave() -> None:
    bodies = bmc()
    for n in range(PAGES + 2):
        place = f"{C}?{n}" if n else C
        bodies[place] = {"Members": [link(f"{C}/1")], "Members@odata.nextLink": f"{C}?{n + 1}"}
    found, trouble = gather(Documents(bodies).at("Chassis/*"))
    assert [r.id for r in found] == ["1"]
    assert trouble is not None
    assert trouble.reason in UNUSABLE


def test_members_without_number_are_bounded() -> None:
    uris = [f"{C}/{number}" for number in range(MEMBERS + 1)]
    bodies = bmc() | {C: {"Members": [link(uri) for uri in uris]}} | {uri: {"Id": uri[-5:]} for uri in uris}
    found, trouble = gather(Documents(bodies).at("Chassis/*"))
    assert len(found) == MEMBERS
    assert trouble is not None
    assert trouble.reason in UNUSABLE


@pytest.mark.parametrize(
    "member",
    [
        None,
        7,
        "/redfish/v1/Chassis/1",
        {},
        link(None),
        link("https://evil/redfish/v1"),
        link("//evil/x"),
        link("redfish/v1"),
        link("/redfish\\evil"),
        link("/redfish/\n"),
        link("/" + "x" * 3000),
    ],
)
def test_a_member_that_is_no_link_leaves_the_others_and_a_doubt(member: object) -> None:
    bodies = bmc() | {C: {"Members": [link(f"{C}/1"), member, link(f"{C}/2")]}}
    found, trouble = gather(Documents(bodies).at("Chassis/*"))
    assert [r.id for r in found] == ["1", "2"]
    assert trouble is not None
    assert trouble.reason is Reason.UNPARSABLE


@pytest.mark.parametrize("body", [{}, {"Members": None}, {"Members": {}}, {"Members": "x"}])
def test_a_collection_without_members_is_not_an_empty_one(body: Body) -> None:
    with pytest.raises(Unreadable):
        ids(bmc() | {C: body}, "Chassis/*")


def test_a_second_page_that_fails_leaves_the_first() -> None:
    first = {"Members": [link(f"{C}/1")], "Members@odata.nextLink": f"{C}?2"}
    found, trouble = gather(Documents(bmc() | {C: first, f"{C}?2": GONE}).at("Chassis/*"))
    assert [r.id for r in found] == ["1"]
    assert trouble is not None


def test_a_member_that_could_not_be_fetched_is_an_item_of_which_nothing_is_known() -> None:
    found = list(Documents(bmc() | {f"{C}/1": GONE}).at("Chassis/*"))
    assert [r.id for r in found] == ["1", "2"]
    assert found[0].read("Model").reading == Unknown(Reason.NOT_COLLECTED, "Model HTTP 404")


def test_a_branch_that_failed_does_not_hide_the_others() -> None:
    bodies = bmc() | {
        f"{C}/1": GONE,
        f"{C}/2": {"Id": "2", "Power": link(f"{C}/2/Power")},
        f"{C}/2/Power": {"Id": "Power"},
    }
    found, trouble = gather(Documents(bodies).at("Chassis/*/Power"))
    assert [r.id for r in found] == ["Power"]
    assert trouble == Unknown(Reason.NOT_COLLECTED, f"{C}/1: HTTP 404")


def test_objects_and_lists_inside_a_body_are_followed_too() -> None:
    one = {"Id": "1", "Links": {"ManagedBy": [link(f"{C}/2")]}}
    assert ids(bmc() | {f"{C}/1": one}, "Chassis/*/Links/ManagedBy/*") == ["2"]


def test_a_resource_inside_a_body_is_followed_too() -> None:
    one = {"Id": "1", "Power": {"Name": "Power", "PowerControl": [{"MemberId": "0"}]}}
    assert ids(bmc() | {f"{C}/1": one}, "Chassis/*/Power") == ["Power"]


@pytest.mark.parametrize("first", [f"{C}/a1", f"{C}/A1"])
@pytest.mark.parametrize(
    ("other", "count"), [({"Id": "A1", "Model": "m"}, 1), (GONE, 1), ({"Id": "A1", "Model": "n"}, 2)]
)
def test_a_member_in_two_spellings_is_one_unless_both_have_their_own_body(
    first: str, other: Body | Unknown, count: int
) -> None:
    listed = [link(first), link(first.swapcase().replace(C.swapcase(), C))]
    bodies: dict[str, Body | Unknown] = {ROOT: {"Chassis": link(C)}, C: {"Members": listed}}
    bodies |= {f"{C}/A1": {"Id": "A1", "Model": "m"}, f"{C}/a1": other}
    found = list(Documents(bodies).at("Chassis/*"))
    assert len(found) == count
    assert all(each.trouble is None for each in found)


def test_an_odd_object_is_a_resource_of_its_chassis_that_was_not_read() -> None:
    odd = {"Id": "1", "Power": {"xyzzy": link(f"{C}/2")}}
    sound = {"Id": "2", "Power": {"Name": "Power", "PowerControl": []}}
    found, trouble = gather(Documents(bmc() | {f"{C}/1": odd, f"{C}/2": sound}).at("Chassis/*/Power"))
    assert trouble is None
    assert [each.unread is None for each in found] == [False, True]
    assert "xyzzy" in str(found[0].unread)
    assert found[0].owner is not None
    assert found[0].owner.id == "1"


def test_a_property_that_is_no_link_is_unreadable() -> None:
    with pytest.raises(Unreadable):
        ids(bmc() | {f"{C}/1": {"Power": "yes"}}, "Chassis/*/Power")


def test_what_was_not_fetched_is_missing_not_absent() -> None:
    with pytest.raises(Missing):
        ids({ROOT: {"Chassis": link(C)}}, "Chassis/*")


def test_the_id_is_the_own_one_else_the_place() -> None:
    assert Resource("/a/b", {"Id": " x "}).id == "x"
    assert Resource("/a/b", {"Id": None, "MemberId": "m"}).id == "m"
    assert Resource("/a/b/", {"Id": ""}).id == "b"
    assert Resource("/a/b#/Fans/3", {}).id == "3"


def test_a_reading_names_its_place() -> None:
    whole = Resource("/a", {"Status": {"Health": "OK"}, "Fans": [{"Reading": 7}]})
    assert whole.read("Status.Health").source == "/a#/Status/Health"
    (fan,) = whole.parts("Fans")
    assert fan.read("Reading", measured).source == "/a#/Fans/0/Reading"
    assert inside("/a#/b", "c") == "/a#/b/c"


def test_a_text_that_could_not_be_decoded_is_no_value_and_no_name() -> None:
    with pytest.raises(Unreadable) as error:
        text_of("O\ufffdK")
    assert error.value.reason is Reason.UNPARSABLE
    assert Resource("/a/b", {"Id": "x\ufffd"}).id == "b"


def test_a_health_is_one_of_three_words_and_nothing_turns_less_than_not_at_all() -> None:
    assert health("OK") == "OK"
    for word in ("xyzzy", "ok", "Good"):
        with pytest.raises(Unreadable):
            health(word)
    assert amount(0) == 0
    with pytest.raises(Unreadable):
        amount(-7)


@pytest.mark.parametrize("text", ["", " ", "null", "N/A", "Not Present", "-*", "To be filled by O.E.M.", "Unknown"])
def test_a_placeholder_text_is_no_value(text: str) -> None:
    with pytest.raises(Unreadable) as error:
        text_of(text)
    assert error.value.reason is Reason.NOT_COLLECTED


@pytest.mark.parametrize("value", [None, True, "x", [], {}, 10**400, -(10**400), float("nan"), float("inf"), "1e5"])
def test_what_is_no_number_is_not_measured(value: object) -> None:
    with pytest.raises(Unreadable):
        measured(value)


def test_numbers_are_measured_also_from_texts() -> None:
    assert (measured(7), measured(7.5), measured(" -25.687000 ")) == (7.0, 7.5, -25.687)


def test_only_true_and_false_are_true_and_false() -> None:
    assert truth(value=True) is True
    for value in (None, 1, "true"):
        with pytest.raises(Unreadable):
            truth(value)


@given(st.text())
def test_a_place_is_spelt_one_way(uri: str) -> None:
    assert same_place(same_place(uri)) == same_place(uri)


# What a resource does not contain


@pytest.mark.parametrize("target", [None, [], "", 7, link(None), {}, {"xyzzy": link(f"{C}/2")}])
def test_a_link_that_is_null_or_none_leads_to_something_unknown(target: object) -> None:
    bodies = bmc() | {f"{C}/1": {"Id": "1", "Power": target}}
    found, trouble = gather(Documents(bodies).at("Chassis/*/Power/PowerSupplies"))
    assert not found
    assert trouble is not None


def test_an_empty_resource_does_not_prove_that_its_parts_are_missing() -> None:
    for empty in ({}, {"@odata.id": f"{C}/1"}):
        found, trouble = gather(Documents(bmc() | {f"{C}/1": empty}).at("Chassis/*/Power"))
        assert not found
        assert trouble == Unknown(Reason.NOT_COLLECTED, f"{C}/1 is an empty resource")


def test_the_root_has_no_lists() -> None:
    for name in ("Systems", "Managers", "Chassis"):
        bodies: dict[str, Body | Unknown] = {ROOT: {"Id": "RootService", name: []}}
        assert gather(Documents(bodies).at(f"{name}/*"))[1] is not None
        assert members(Documents(bodies), name)[1] is not None


def test_a_collection_that_lists_fewer_than_it_counts_is_not_whole() -> None:
    short = {"Members": [link(f"{C}/1")], "Members@odata.count": 2}
    found, trouble = gather(Documents(bmc() | {C: short}).at("Chassis/*"))
    assert [r.id for r in found] == ["1"]
    assert trouble is not None


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"Id": "T", "Fans": None},
        {"Id": "T", "Fans": {}},
        {"Id": "T", "Fans": [{"Name": "A"}, None]},
        {"Id": "T", "Fans": [{"Name": "A"}], "Fans@odata.count": 2},
        {"Id": "T", "Fans": [{"Name": str(n)} for n in range(MEMBERS + 1)]},
    ],
)
def test_a_list_that_is_not_whole_is_a_doubt(body: Body) -> None:
    bodies = bmc() | {f"{C}/1": {"Id": "1", "Thermal": link(f"{C}/1/T")}, f"{C}/1/T": body}
    assert in_chassis(Documents(bodies), ("Thermal", "Fans"))[1] is not None


def test_an_older_form_without_the_list_is_a_doubt_where_no_other_has_it() -> None:
    bodies = bmc() | {
        f"{C}/1": {"Id": "1", "Power": link(f"{C}/1/P")},
        f"{C}/1/P": {"Id": "Power"},
        f"{C}/2": {"Id": "2", "Power": link(f"{C}/2/P")},
        f"{C}/2/P": {"PowerSupplies": [{"MemberId": "0"}]},
    }
    found, trouble = in_chassis(Documents(bodies), ("Power", "PowerSupplies"))
    assert [r.id for r in found] == ["0"]
    assert trouble == Unknown(Reason.NOT_COLLECTED, f"{C}/1/P has no PowerSupplies")


# What many share


def shared(chassis: int, fans: int) -> dict[str, Body | Unknown]:
    """Many chassis that all link to one collection of fans, and to one list of them."""
    bodies: dict[str, Body | Unknown] = {
        ROOT: {"Chassis": link(C)},
        C: {"Members": [link(f"{C}/{n}") for n in range(chassis)]},
        "/TS": {"Id": "TS", "Fans": link("/F")},
        "/T": {"Fans": [{"MemberId": str(n)} for n in range(fans)]},
        "/F": {"Members": [link(f"/F/{n}") for n in range(fans)]},
    }
    bodies |= {
        f"{C}/{n}": {"Id": str(n), "ThermalSubsystem": link("/TS"), "Thermal": link("/T")} for n in range(chassis)
    }
    return bodies | {f"/F/{n}": {"Id": str(n)} for n in range(fans)}


def test_what_many_chassis_share_is_there_once() -> None:
    docs = Documents(shared(5, 3))
    assert len(list(docs.at("Chassis/*/ThermalSubsystem/Fans/*"))) == 3
    for form in (("ThermalSubsystem/Fans", "*"), ("Thermal", "Fans")):
        found, trouble = in_chassis(docs, form)
        assert (len(found), trouble) == (3, None)


def test_what_many_chassis_share_costs_no_more_than_was_fetched() -> None:
    began = time.process_time()
    docs = Documents(shared(1500, 9999))
    for _ in range(10):
        assert set(docs.wanted(("Chassis/*/ThermalSubsystem/Fans/*", "Chassis/*/Thermal"))) == set()
    assert len(in_chassis(docs, ("ThermalSubsystem/Fans", "*"))[0]) == 9999
    assert len(in_chassis(docs, ("Thermal", "Fans"))[0]) == 9999
    assert time.process_time() - began < 5


def test_members_that_could_not_be_fetched_are_left_out_in_one_pass() -> None:
    lost = Unknown(Reason.TOO_LARGE, "more than 2000 GETs")
    bodies = shared(1, 9999) | {f"/F/{n}": lost for n in range(2000, 9999)}
    began = time.process_time()
    found, trouble = in_chassis(Documents(bodies), ("ThermalSubsystem/Fans", "*"))
    assert (len(found), trouble) == (2000, lost)
    assert time.process_time() - began < 2


def test_branches_together_lead_to_a_bounded_number_of_resources() -> None:
    bodies = bmc()
    for chassis in ("1", "2"):
        bodies[f"{C}/{chassis}"] = {"Id": chassis, "Sensors": link(f"{C}/{chassis}/S")}
        uris = [f"{C}/{chassis}/S/{n}" for n in range(MEMBERS - 1)]
        bodies |= {f"{C}/{chassis}/S": {"Members": [link(uri) for uri in uris]}} | {uri: {"Id": "S"} for uri in uris}
    found, trouble = gather(Documents(bodies).at("Chassis/*/Sensors/*"))
    assert len(found) == MEMBERS
    assert trouble is not None
    assert trouble.reason in UNUSABLE


# Items


def test_items_come_from_the_first_form_with_any_chassis_by_chassis() -> None:
    bodies = bmc() | {
        f"{C}/1": {"Id": "1", "New": link(f"{C}/1/New"), "Old": link(f"{C}/1/Old")},
        f"{C}/1/New": {"Members": [link(f"{C}/1/New/A")]},
        f"{C}/1/New/A": {"Id": "A"},
        f"{C}/1/Old": {"Parts": [{"MemberId": "0"}]},
        f"{C}/2": {"Id": "2", "Old": link(f"{C}/2/Old")},
        f"{C}/2/Old": {"Parts": [{"MemberId": "0"}]},
    }
    found, trouble = in_chassis(Documents(bodies), ("New", "*"), ("Old", "Parts"))
    assert [(r.id, r.owner.id if r.owner else None) for r in found] == [("A", "1"), ("0", "2")]
    assert trouble is None


def test_a_rack_whose_chassis_list_no_fans_is_not_one_without_fans() -> None:
    found, trouble = in_chassis(Documents(bmc()), ("Thermal", "Fans"))
    assert not found
    assert trouble == Unknown(Reason.NOT_COLLECTED, "no chassis of this BMC has Thermal")


def test_an_empty_list_of_fans_is_known() -> None:
    bodies = bmc() | {f"{C}/1": {"Thermal": link(f"{C}/1/T")}, f"{C}/1/T": {"Fans": []}}
    assert in_chassis(Documents(bodies), ("Thermal", "Fans")) == ([], None)


def test_an_unreadable_form_is_a_doubt_only_if_no_other_has_items() -> None:
    both = {"Id": "1", "New": link(f"{C}/1/New"), "Old": link(f"{C}/1/Old")}
    bodies = bmc() | {f"{C}/1": both, f"{C}/1/New": GONE, f"{C}/1/Old": {"Parts": [{"MemberId": "0"}]}}
    assert in_chassis(Documents(bodies), ("New", "*"), ("Old", "Parts"))[1] is None
    bodies[f"{C}/1/Old"] = {"Parts": []}
    assert in_chassis(Documents(bodies), ("New", "*"), ("Old", "Parts"))[1] is not None


def test_a_bmc_without_a_collection_is_not_one_with_an_empty_collection() -> None:
    assert members(Documents({ROOT: {"Id": "RootService"}}), "Systems")[1] == Unknown(
        Reason.NOT_COLLECTED, "this BMC has no Systems"
    )
    empty = Documents({ROOT: {"Systems": link(f"{ROOT}/S")}, f"{ROOT}/S": {"Members": []}})
    assert members(empty, "Systems") == ([], None)


def test_equal_names_are_distinguished_by_their_chassis_then_by_their_place() -> None:
    top = Resource(C, {"Members": []})
    one, two = Resource(f"{C}/1", {"Id": "1"}, above=top), Resource(f"{C}/2", {"Id": "2"}, above=top)
    parts = [
        Resource(f"{C}/1/T#/F/0", {"Name": "Fan"}, above=one),
        Resource(f"{C}/2/T#/F/0", {"Name": "Fan"}, above=two),
        Resource(f"{C}/2/T#/F/1", {"Name": "Pump"}, above=two),
        Resource(f"{C}/2/T#/F/2", {"Name": "Pump"}, above=two),
        Resource(f"{C}/2/T#/F/3", {"Name": "Alone"}, above=two),
    ]
    assert [key for key, _ in keyed(parts, named)] == ["1:Fan", "2:Fan", "2:Pump:1", "2:Pump:2", "Alone"]


def test_names_made_up_to_clash_are_refused() -> None:
    one, two = Resource("/x/1", {"Id": "a"}), Resource("/y/1", {"Id": "a"})
    posing = Resource("/z/1", {"Id": "a:1:/x/1"})
    with pytest.raises(Unreadable):
        list(keyed([one, two, posing]))


@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("xy")), max_size=8))
def test_no_item_is_lost_under_the_key_of_another(places: list[tuple[str, str]]) -> None:
    resources = [Resource(f"/{n}/{uri}", {"Id": own}) for n, (own, uri) in enumerate(places)]
    assert len({key for key, _ in keyed(resources)}) == len(resources)


def test_what_an_empty_slot_shows_is_absent() -> None:
    slot = Resource("/a", {"Status": {"State": "Absent"}, "Reading": 0})
    assert fitted(slot, "Reading", measured).reading == Absent("the slot is empty")
    assert fitted(Resource("/a", {"Reading": 0}), "Reading", measured).reading == 0


@pytest.mark.parametrize("word", ["Not Present", "Empty", "NA", "N/A", "NO DIMM", "Not Installed", "00000000", ""])
def test_a_placeholder_does_not_show_that_a_slot_is_occupied(word: str) -> None:
    slot = {"Status": {"State": None}, "SerialNumber": word, "PartNumber": word, "Model": word, "CapacityMiB": 0}
    state = fitted(Resource("/a", {**slot, "BaseModuleType": "RDIMM"}), "BaseModuleType").reading
    assert isinstance(state, Unknown)
    assert "whether the slot is empty" in state.detail
    for size in ("CapacityMiB", "CapacityBytes", "PowerCapacityWatts", "TotalCores"):
        assert fitted(Resource("/a", {**slot, size: 1, "Name": "x"}), "Name").reading == "x"


@pytest.mark.parametrize("word", ["Not Present", "Empty", "NA"])
def test_a_part_with_a_model_is_there_whatever_its_serial_number_is(word: str) -> None:
    part = {"Status": {"State": None}, "SerialNumber": word, "Model": "MZ1L21T9HCLS", "Protocol": "NVMe"}
    assert fitted(Resource("/a", part), "Protocol").reading == "NVMe"
    named = {**part, "Model": word, "PartNumber": "M321R8GA0BB0"}
    assert fitted(Resource("/a", named), "Protocol").reading == "NVMe"


# From a BMC's items to facts


def attributes(*names: str, reading: Any = "x") -> dict[str, Any]:
    """The collected facts of a probe with these paths."""

    @probe(Redfish(""), gives={"bios.attribute": collection("all"), "bios.attribute/*": setting("one")})
    def raw(_: Documents) -> Facts:
        for name in names:
            yield name, reading

    return {path: leaf.reading for path, leaf in collect([raw], BmcCapture({ROOT: {}})).items()}


def test_an_item_may_be_a_fact_itself() -> None:
    values = attributes('bios.attribute/"Core Performance Boost"', "bios.attribute/SmtMode")
    assert values == {
        "bios.attribute": ("Core Performance Boost", "SmtMode"),
        'bios.attribute/"Core Performance Boost"': "x",
        "bios.attribute/SmtMode": "x",
    }


def test_an_item_that_is_a_fact_is_selected_and_its_lack_is_absent() -> None:
    @probe(Redfish(""), gives={"bios.attribute": collection("all"), "bios.attribute/*": setting("one")})
    def raw(_: Documents) -> Facts:
        yield "bios.attribute/A", "x"

    whole = Tree(collect([raw], BmcCapture({ROOT: {}})))
    assert [str(p) for p in whole.select(parse("bios.attribute"), Plane.BMC).items] == ["bios.attribute/A"]
    assert isinstance(whole.reading(parse("bios.attribute/B"), Plane.BMC), Absent)


@pytest.mark.parametrize("path", ["bios.attribute/*", f"bios.attribute/{'x' * PATH}"])
def test_a_name_no_item_may_have_makes_the_collection_unknown(path: str) -> None:
    values = attributes("bios.attribute/A", path)
    assert values["bios.attribute/A"] == "x"
    assert isinstance(values["bios.attribute"], Unknown)
    assert path not in values


@pytest.mark.parametrize(
    "members",
    [
        {"Members": [link(f"{C}/1")], "Members@odata.count": "2"},
        {"Members": [link(f"{C}/1")], "Members@odata.count": 2.0},
        {"Members": [link(f"{C}/1")], "Members@odata.count": [1]},
        {"Members": [link(f"{C}/1")], "Members@odata.count": True},
        {"Members": [link(f"{C}/1")], "Members@odata.count": -1},
        {"Members": [link(f"{C}/1")], "Members@odata.count": 2, "Members@odata.nextLink": f"{C}?$skip=1"},
    ],
)
def test_a_collection_that_does_not_list_all_its_members_is_not_whole(members: Body) -> None:
    bodies = bmc() | {C: members, f"{C}?$skip=1": {"Members": [link(f"{C}/1")], "Members@odata.count": 2}}
    found, trouble = gather(Documents(bodies).at("Chassis/*"))
    assert [r.id for r in found] == ["1"]
    assert trouble is not None


def test_a_collection_that_lists_a_member_twice_is_whole() -> None:
    bodies = bmc() | {C: {"Members": [link(f"{C}/1"), link(f"{C}/1")], "Members@odata.count": 2}}
    found, trouble = gather(Documents(bodies).at("Chassis/*"))
    assert ([r.id for r in found], trouble) == (["1"], None)


def test_a_next_page_is_followed_as_odata_spells_it_too() -> None:
    bodies = bmc() | {
        C: {"Members": [link(f"{C}/1")], "@odata.nextLink": f"{C}?$skip=1"},
        f"{C}?$skip=1": {"Members": [link(f"{C}/2")]},
    }
    assert ids(bodies, "Chassis/*") == ["1", "2"]
