"""Whole collections in one answer: the same capture as without, where a BMC supports it; elsewhere it is not used."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mockup_server import SESSIONS, Mockup, ResourceFault, busy
from trees import ALL, ANY_CASE, DELL, DGX, GB200, HPE_INTEL, NVSWITCH, SUPERMICRO, client, facts, links, resource, tree

from rackcheck.model.capture import BmcCapture
from rackcheck.model.documents import HANDSHAKE
from rackcheck.model.fact import Reason, Unknown
from rackcheck.model.resource import ROOT, Body
from rackcheck.model.secret import DROPPED
from rackcheck.sim import expand_query as sim
from rackcheck.sim.expand_query import ANNOUNCED, WAYS
from rackcheck.transport import redfish
from rackcheck.transport.redfish.answer import values
from rackcheck.transport.redfish.expand import DENIED, allowed, brought, expanded_uri, proof, query, whole
from rackcheck.transport.redfish.session import bounded, patience
from rackcheck.transport.redfish.trace import Trace

HASTY = redfish.Limits(connect=1.0, read=1.5, answer=3.0, deadline=30, goodbye=2, pause=0.01)
PLAIN = redfish.Limits(connect=1.0, read=1.5, answer=3.0, deadline=30, goodbye=2, pause=0.01, expand=False)
CHASSIS = f"{ROOT}/Chassis"
SYSTEMS = f"{ROOT}/Systems"
ASK = "$expand=.($levels=1)"
LINKS = ("Chassis/*", "Systems/*")


def link(uri: str) -> dict[str, str]:
    return {"@odata.id": uri}


def part(uri: str, **more: object) -> dict[str, object]:
    """A resource as BMCs return it."""
    return {**link(uri), "Id": uri.rpartition("/")[2], "Name": "A part", "Status": {"Health": "OK"}, **more}


def collection(uri: str, *members: str, **more: object) -> dict[str, object]:
    return {**link(uri), "Members": [link(m) for m in members], "Members@odata.count": len(members), **more}


def few(number: int = 4, **member: object) -> dict[str, object]:
    """A BMC with some chassis, and with one system whose body is smaller."""
    parts = {f"{CHASSIS}/{n}": part(f"{CHASSIS}/{n}", Model=f"M{n}", **member) for n in range(1, number + 1)}
    return {
        ROOT: {
            "Id": "RootService",
            "Chassis": link(CHASSIS),
            "Systems": link(SYSTEMS),
            "Links": {"Sessions": link(SESSIONS)},
            "ProtocolFeaturesSupported": {"ExpandQuery": ANNOUNCED},
        },
        CHASSIS: collection(CHASSIS, *parts),
        SYSTEMS: collection(SYSTEMS, f"{SYSTEMS}/1"),
        **parts,
        f"{SYSTEMS}/1": part(f"{SYSTEMS}/1"),
    }


def read(server: Mockup, limits: redfish.Limits = HASTY, asked: tuple[str, ...] = LINKS) -> BmcCapture:
    capture, why = redfish.read(client(server), asked, limits)
    assert why is None
    return capture


def of(capture: BmcCapture) -> dict[str, Body | Unknown]:
    """The capture, without the TLS handshake, whose certificate differs by server."""
    return {uri: body for uri, body in capture.bodies.items() if uri != HANDSHAKE}


def paths(server: Mockup) -> list[str]:
    """The plain GETs: requests without $expand."""
    return [uri.rstrip("/") for uri in server.gets.elements() if "$expand" not in uri]


def tried(server: Mockup) -> list[str]:
    """The GETs of whole collections, without their query."""
    return [uri.replace(f"?{ASK}", "").replace(f"&{ASK}", "") for uri in server.gets.elements() if "$expand" in uri]


@pytest.mark.parametrize("name", sorted({*ALL} - {DGX, NVSWITCH}))
def test_a_capture_is_the_same_with_whole_collections_and_without(name: str) -> None:
    captures = []
    for limits in (redfish.Limits(), redfish.Limits(expand=False)):
        with Mockup(tree(name), ignore_case=name in ANY_CASE, expand=True) as server:
            captures.append(read(server, limits, links()))  # type: ignore[arg-type]  # walks, too
    whole, plain = captures
    assert of(whole) == of(plain)
    assert [json.dumps(of(whole)[uri]) for uri in of(plain) if isinstance(of(plain)[uri], dict)] == [
        json.dumps(body) for body in of(plain).values() if isinstance(body, dict)
    ]
    assert whole.times.keys() == plain.times.keys()
    assert repr(facts(BmcCapture(of(whole)))) == repr(facts(BmcCapture(of(plain))))


@pytest.mark.parametrize("name", [SUPERMICRO, DELL, HPE_INTEL])
def test_a_member_is_fetched_alone_once_in_each_collection_that_came_whole(name: str) -> None:
    with Mockup(tree(name), expand=True) as server:
        capture = read(server, redfish.Limits(), ("Chassis/*", "UpdateService/FirmwareInventory/*"))
    assert sorted(tried(server)) == [CHASSIS, f"{ROOT}/UpdateService/FirmwareInventory"]
    alone = [uri for uri in paths(server) if uri not in {ROOT, f"{ROOT}/UpdateService"}]
    assert len([uri for uri in alone if uri not in tried(server)]) == 2
    assert set(alone) <= capture.bodies.keys()
    assert len(capture.bodies) > 20


def test_the_member_fetched_alone_is_the_first_of_the_smallest_ones() -> None:
    bodies = few() | {f"{CHASSIS}/{n}": part(f"{CHASSIS}/{n}") for n in (2, 3)}
    with Mockup(bodies=bodies, expand=True) as server:
        read(server)
    assert sorted(set(paths(server)) - {ROOT}) == [f"{CHASSIS}/2", f"{SYSTEMS}/1"]


@pytest.mark.parametrize("way", sorted(set(WAYS) - {"honest"}))
@pytest.mark.parametrize("name", [SUPERMICRO, DELL, HPE_INTEL, GB200])
def test_what_a_bmc_gives_in_place_of_whole_members_is_not_believed(way: str, name: str) -> None:
    asked = ("Chassis/*", "UpdateService/FirmwareInventory/*", "Systems/*/Processors/*")
    with Mockup(tree(name), expand=False) as server:
        plain = read(server, redfish.Limits(expand=False), asked)
    with Mockup(tree(name), expand=way) as server:
        capture = read(server, redfish.Limits(), asked)
    assert of(capture) == of(plain)
    assert set(server.gets.values()) == {1}
    assert 1 <= len(tried(server)) <= redfish.Limits().width


@pytest.mark.parametrize(
    "fault",
    [
        *(ResourceFault(status=status) for status in (400, 401, 403, 404, 405, 500, 501, 503)),
        busy(retry_after="0"),
        *(
            ResourceFault(kind)
            for kind in ("hang", "drip", "flood", "cut", "reset", "html", "deep", "nulls", "wrong-types")
        ),
        *(ResourceFault(body=body) for body in (b"", b"[]", b"null", b"{", b'{"Members": null}', b'{"Members": [7]}')),
    ],
    ids=lambda fault: f"{fault.kind}-{fault.status}-{fault.body[:16]!r}",
)
def test_a_failing_expanded_answer_is_requested_once_and_the_plain_one_is_used(fault: ResourceFault) -> None:
    bodies = few() | {SYSTEMS: collection(SYSTEMS)}
    limits = redfish.Limits(connect=1.0, read=1.5, answer=3.0, deadline=30, goodbye=2, body=1 << 20, width=1)
    with Mockup(bodies=bodies, expand=True, faults={f"{CHASSIS}?{ASK}": fault}, loses=True) as server:
        capture = read(server, limits)
    assert capture.bodies[CHASSIS] == bodies[CHASSIS]
    assert not any(isinstance(body, Unknown) for body in capture.bodies.values())
    assert set(tried(server)) == {CHASSIS}
    assert len(tried(server)) == (2 if fault.status == 401 else 1)
    assert sorted(paths(server)) == sorted(capture.bodies.keys() - {HANDSHAKE})


def test_whole_answers_that_hang_are_not_taken_for_a_bmc_that_is_dumb() -> None:
    names = [f"C{n}" for n in range(4)]
    bodies: dict[str, object] = {
        **{f"{ROOT}/{n}": collection(f"{ROOT}/{n}", f"{ROOT}/{n}/1") for n in names},
        **{f"{ROOT}/{n}/1": part(f"{ROOT}/{n}/1") for n in names},
    }
    root: dict[str, object] = {n: link(f"{ROOT}/{n}") for n in names}
    bodies[ROOT] = root | {"ProtocolFeaturesSupported": {"ExpandQuery": ANNOUNCED}}
    hang = {f"{ROOT}/{n}?{ASK}": ResourceFault("hang") for n in names}
    limits = redfish.Limits(connect=1.0, read=1.5, answer=3.0, deadline=30, goodbye=2, width=4)
    with Mockup(bodies=bodies, expand=True, faults=hang) as server:
        capture = read(server, limits, tuple(f"{n}/*" for n in names))
    assert not any(isinstance(body, Unknown) for body in capture.bodies.values())


def test_nothing_is_expanded_after_one_that_proved_false() -> None:
    bodies = few() | {
        f"{CHASSIS}/1": part(f"{CHASSIS}/1", Power=link(f"{CHASSIS}/1/Power"), Sensors=link(f"{CHASSIS}/S"))
    }
    bodies |= {f"{CHASSIS}/S": collection(f"{CHASSIS}/S", f"{CHASSIS}/S/1"), f"{CHASSIS}/S/1": part(f"{CHASSIS}/S/1")}
    with Mockup(bodies=bodies, expand="cut") as server:
        capture = read(server, HASTY, (*LINKS, "Chassis/*/Sensors/*"))
    assert sorted(tried(server)) == [CHASSIS, SYSTEMS]
    assert f"{CHASSIS}/S/1" in capture.bodies


def test_what_came_whole_and_is_not_believed_takes_no_room() -> None:
    bodies = few(40, Text="x" * 1000)
    size = 40 * len(json.dumps(bodies[f"{CHASSIS}/1"])) + 5000
    limits = redfish.Limits(total=size + 2000, pause=0.01)
    with Mockup(bodies=bodies, expand="nameless") as server:
        capture = read(server, limits)
    assert not any(isinstance(body, Unknown) for body in capture.bodies.values())


@pytest.mark.parametrize("limits", [redfish.Limits(total=9000), redfish.Limits(values=150)])
def test_all_that_came_whole_is_bounded_as_single_bodies_are(limits: redfish.Limits) -> None:
    with Mockup(bodies=few(40, Text="x" * 1000), expand=True) as server:
        capture = read(server, limits)
    held = {uri: body for uri, body in of(capture).items() if uri != ROOT}  # which is let through before all
    came = [json.dumps(body).encode() for body in held.values() if not isinstance(body, Unknown)]
    assert 3 < len(came) < 40
    assert sum(map(len, came)) <= limits.total
    assert sum(map(values, came)) <= limits.values
    assert {b.reason for b in capture.bodies.values() if isinstance(b, Unknown)} == {Reason.TOO_LARGE}


def test_members_that_are_too_large_together_come_one_by_one() -> None:
    with Mockup(bodies=few(40, Text="x" * 1000), expand=True) as server:
        capture = read(server, redfish.Limits(body=9000))
    assert not any(isinstance(body, Unknown) for body in capture.bodies.values())
    assert len(capture.bodies) > 40


def test_secrets_in_members_that_came_whole_are_dropped() -> None:
    bodies = few(3, Oem={"Users.2.SHA256Password": "0123456789abcdef0123456789abcdef"})
    with Mockup(bodies=bodies, expand=True) as server:
        capture = read(server)
    for n in (1, 2, 3):
        body = capture.bodies[f"{CHASSIS}/{n}"]
        assert not isinstance(body, Unknown)
        assert body["Oem"] == {"Users.2.SHA256Password": DROPPED}
    assert "0123456789abcdef" not in json.dumps(capture.to_json())


def test_a_clock_is_requested_alone_and_dated_by_its_own_answer() -> None:
    bodies = few(3, DateTime="2026-01-01T00:00:00Z")
    with Mockup(bodies=bodies, expand=True) as server:
        capture = read(server)
    assert capture.times.keys() == {f"{CHASSIS}/{n}" for n in (1, 2, 3)}
    assert sorted(paths(server)) == sorted([ROOT, f"{SYSTEMS}/1", *capture.times])


def test_a_recording_holds_what_each_resource_answers_for_itself() -> None:
    trace = Trace()
    with Mockup(bodies=few(), expand=True) as server:
        capture, _ = redfish.read(client(server), LINKS, HASTY, trace=trace)
    assert not tried(server)
    assert trace.headers.keys() == of(capture).keys()


@pytest.mark.parametrize("last", ["Entries", "Sessions", "entries"])
def test_logs_and_sessions_are_never_expanded(last: str) -> None:
    place = f"{ROOT}/{last}"
    bodies = few() | {place: collection(place, f"{place}/1"), f"{place}/1": part(f"{place}/1")}
    bodies[ROOT] = {**_root(bodies), "Odd": link(place)}
    with Mockup(bodies=bodies, expand=True) as server:
        capture = read(server, HASTY, ("Odd/*", "Chassis/*"))
    assert tried(server) == [CHASSIS]
    assert f"{place}/1" in capture.bodies


def test_a_collection_of_which_not_every_member_is_needed_is_not_expanded() -> None:
    with Mockup(bodies=few(), expand=True) as server:
        read(server, HASTY, ("Chassis", "Systems/*"))
    assert tried(server) == [SYSTEMS]


def test_an_empty_collection_needs_no_proof() -> None:
    with Mockup(bodies=few() | {SYSTEMS: collection(SYSTEMS)}, expand=True) as server:
        capture = read(server)
    assert set(tried(server)) == {CHASSIS, SYSTEMS}
    assert sorted(paths(server)) == [ROOT, f"{CHASSIS}/1"]
    assert capture.bodies[SYSTEMS] == collection(SYSTEMS)


@pytest.mark.parametrize("name", [DGX, NVSWITCH])
def test_a_bmc_that_cuts_members_or_offers_no_expand_gets_no_expand_request(name: str) -> None:
    with Mockup(tree(name), expand=True) as server:
        read(server, redfish.Limits(), ("Chassis/*", "Managers/*"))
    assert not tried(server)


def test_a_limit_turns_it_off() -> None:
    with Mockup(bodies=few(), expand=True) as server:
        read(server, PLAIN)
    assert not tried(server)


def test_a_bmc_that_announces_nothing_gets_no_expand() -> None:
    bodies = few()
    bodies[ROOT] = {name: value for name, value in _root(bodies).items() if name != "ProtocolFeaturesSupported"}
    with Mockup(bodies=bodies) as server:
        read(server)
    assert not tried(server)


def test_pages_come_whole_too_and_are_kept_under_their_plain_names() -> None:
    uris = [f"{CHASSIS}/{n}" for n in range(1, 5)]
    second = f"{CHASSIS}?$skip=2"
    bodies = few() | {
        CHASSIS: {**collection(CHASSIS, *uris[:2]), "Members@odata.count": 4, "Members@odata.nextLink": second},
        second: {**collection(CHASSIS, *uris[2:]), "Members@odata.count": 4},
    }
    captures = []
    for limits in (HASTY, PLAIN):
        with Mockup(bodies=bodies, expand=True) as server:
            captures.append(of(read(server, limits)))
        if limits.expand:
            assert sorted(tried(server)) == [CHASSIS, second, SYSTEMS]
            assert set(paths(server)) == {ROOT, uris[0], uris[2], f"{SYSTEMS}/1"}
    assert captures[0] == captures[1]
    assert set(uris) <= captures[0].keys()


def test_members_that_two_collections_share_are_fetched_once() -> None:
    shared = [f"{ROOT}/Devices/{n}" for n in range(3)]
    bodies = few() | {uri: part(uri) for uri in shared}
    bodies |= {CHASSIS: collection(CHASSIS, *shared), SYSTEMS: collection(SYSTEMS, *reversed(shared))}
    with Mockup(bodies=bodies, expand=True) as server:
        capture = read(server)
    assert set(server.gets.values()) == {1}
    assert set(shared) <= capture.bodies.keys()


def test_a_member_fetched_alone_is_not_overwritten_by_its_copy_in_a_collection() -> None:
    bodies = few() | {f"{SYSTEMS}/1": part(f"{SYSTEMS}/1", Chassis=link(f"{ROOT}/Others"))}
    lie = {**part(f"{SYSTEMS}/1"), "Name": "another"}
    bodies[f"{ROOT}/Others"] = {**collection(f"{ROOT}/Others"), "Members": [lie], "Members@odata.count": 1}
    with Mockup(bodies=bodies, expand=True) as server:
        capture = read(server, HASTY, ("Systems/*", "Systems/*/Chassis/*"))
    body = capture.bodies[f"{SYSTEMS}/1"]
    assert not isinstance(body, Unknown)
    assert body["Name"] == "A part"


# The simulator's own answers


def opened(what: str) -> dict[str, object]:
    """What the simulator's BMC returns for a collection with other links too."""
    held = few(1)
    held[CHASSIS] = collection(CHASSIS, f"{CHASSIS}/1", Oem={"X": link(SYSTEMS)}, Links={"Y": link(SYSTEMS)})
    reply = sim.reply_to(
        lambda uri: json.dumps(held[uri]).encode() if uri in held else None, f"{CHASSIS}?{what}", "honest"
    )
    body = json.loads(reply.body)
    assert isinstance(body, dict)
    return body


@pytest.mark.parametrize(
    ("what", "grown"),
    [(".", {"Members", "Oem"}), ("*", {"Members", "Oem", "Links"}), ("~", {"Links"})],
)
def test_a_simulated_bmc_expands_the_requested_links_one_level_deep(what: str, grown: set[str]) -> None:
    for asks in (f"$expand={what}", f"$expand={what}($levels=1)"):
        body: Any = opened(asks)
        found = {"Members": body["Members"][0], "Oem": body["Oem"]["X"], "Links": body["Links"]["Y"]}
        assert {name for name, value in found.items() if len(value) > 1} == grown
        inner: Any = found["Oem"].get("Members", [])
        assert all(member == link(f"{SYSTEMS}/1") for member in inner)


def test_a_simulated_bmc_announces_its_features_where_its_tree_does_not() -> None:
    root = sim.reply_to(lambda uri: b'{"Id": "RootService"}', f"{ROOT}/", "honest")
    assert json.loads(root.body)["ProtocolFeaturesSupported"]["ExpandQuery"] == ANNOUNCED
    reply = sim.reply_to(lambda uri: b'{"ProtocolFeaturesSupported": {"ExpandQuery": {}}}', ROOT, "honest")
    assert json.loads(reply.body)["ProtocolFeaturesSupported"]["ExpandQuery"] == {}


def test_an_unknown_way_is_refused() -> None:
    with pytest.raises(ValueError, match="sideways"):
        Mockup(bodies=few(), expand="sideways")


# The rules themselves


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ({"NoLinks": True, "ExpandAll": True, "Levels": True}, "$expand=.($levels=1)"),
        ({"NoLinks": True}, "$expand=."),
        ({"ExpandAll": True, "Levels": True}, "$expand=*($levels=1)"),
        ({"ExpandAll": True}, "$expand=*"),
        ({"Links": True, "Levels": True}, None),
        ({"NoLinks": "true"}, None),
        ({}, None),
        (None, None),
        ([], None),
    ],
)
def test_expand_is_requested_in_the_way_that_a_bmc_announces(text: object, asks: str | None) -> None:
    assert query({"ProtocolFeaturesSupported": {"ExpandQuery": text}}) == asks


@pytest.mark.parametrize("denied", DENIED, ids=lambda denied: denied.why)
def test_a_denied_bmc_is_known_by_its_root_and_each_has_a_reason_and_a_source(denied: Any) -> None:
    root: dict[str, Any] = {"ProtocolFeaturesSupported": {"ExpandQuery": ANNOUNCED}}
    assert query(root) is not None
    for name, word in denied.root.items():
        here = root
        for step in name.split(".")[:-1]:
            here = here.setdefault(step, {})
        here[name.rpartition(".")[2]] = word
    assert query(root) is None
    assert denied.why
    assert denied.source.startswith("github.com/")


def test_the_recorded_dgx_is_denied_and_other_vendors_are_not() -> None:
    assert query(resource(DGX, ROOT)) is None
    for name in (SUPERMICRO, DELL, HPE_INTEL, GB200):
        assert query(resource(name, ROOT)) == ASK


@pytest.mark.parametrize(
    ("uri", "may"),
    [(CHASSIS, True), (f"{SYSTEMS}/1/LogServices/Log/Entries/", False), (f"{SESSIONS}?$skip=1", False)],
)
def test_a_uri_shows_whether_it_may_be_expanded(uri: str, may: bool) -> None:
    assert allowed(uri) is may


def test_a_page_is_expanded_beside_its_own_query() -> None:
    assert expanded_uri(CHASSIS, ASK) == f"{CHASSIS}?{ASK}"
    assert expanded_uri(f"{CHASSIS}?$skip=2", ASK) == f"{CHASSIS}?$skip=2&{ASK}"


def grown(**changes: object) -> dict[str, object]:
    """An expanded answer, changed."""
    members = [part(f"{CHASSIS}/{n}") for n in (1, 2)]
    return {**link(CHASSIS), "Members": members, "Members@odata.count": 2, **changes}


@pytest.mark.parametrize(
    "answer",
    [
        grown(Members=None),
        grown(Members=[link(f"{CHASSIS}/1"), link(f"{CHASSIS}/2")]),
        grown(Members=[part(f"{CHASSIS}/1"), link(f"{CHASSIS}/2")]),
        grown(Members=[part(f"{CHASSIS}/1"), None]),
        grown(Members=[part(f"{CHASSIS}/1"), {"Id": "2", "Name": "2"}]),
        grown(Members=[part(f"{CHASSIS}/1"), part(f"{CHASSIS}/1")]),
        grown(Members=[part(f"{CHASSIS}/1"), part("https://elsewhere/redfish/v1/Chassis/2")]),
        grown(Members=[part(f"{CHASSIS}/1"), part("//elsewhere/2")]),
        grown(Members=[part(f"{CHASSIS}/1"), part(ROOT)]),
        grown(Members=[part(f"{CHASSIS}/1"), part(CHASSIS)]),
        grown(Members=[part(f"{CHASSIS}/1"), {**part(f"{CHASSIS}/2"), "Name": None}]),
        grown(**{"Members@odata.count": 3}),
        grown(**{"Members@odata.count": 1}),
        grown(**{"Members@odata.count": "2"}),
        grown(**{"Members@odata.count": True}),
        {"Members": [part(f"{CHASSIS}/1")]},
    ],
)
def test_an_answer_that_is_not_whole_is_none(answer: Body) -> None:
    assert brought(CHASSIS, answer) is None


def test_an_answer_is_taken_apart_into_plain_links_and_members() -> None:
    found = brought(CHASSIS, grown(Oem={"X": part(f"{ROOT}/Other")}, Name="All", Links={"Y": link(CHASSIS)}))
    assert found is not None
    assert found.collection == {
        **collection(CHASSIS, f"{CHASSIS}/1", f"{CHASSIS}/2", Oem={"X": link(f"{ROOT}/Other")}),
        "Name": "All",
        "Links": {"Y": link(CHASSIS)},
    }
    assert found.members == {f"{CHASSIS}/{n}": part(f"{CHASSIS}/{n}") for n in (1, 2)}


@pytest.mark.parametrize(
    ("following", "plain", "page"),
    [
        (f"{CHASSIS}?$skip=2&{ASK}", f"{CHASSIS}?$skip=2", f"{CHASSIS}?$skip=2"),
        (f"{CHASSIS}?%24expand=.&$skip=2", f"{CHASSIS}?$skip=2", f"{CHASSIS}?$skip=2"),
        (f"{CHASSIS}?$skip=2", f"{CHASSIS}?$skip=2", None),
    ],
)
def test_the_next_page_is_named_as_without(following: str, plain: str, page: str | None) -> None:
    found = brought(CHASSIS, grown(**{"Members@odata.nextLink": following, "Members@odata.count": 4}))
    assert found is not None
    assert found.collection["Members@odata.nextLink"] == plain
    assert found.following == page


def test_what_is_held_already_proves_nothing_and_needs_no_proof() -> None:
    members: Mapping[str, Body] = {"/a": {"x": 1, "y": 2}, "/b": {"x": 1}, "/c": {"x": 1}}
    assert proof(members, ()) == "/b"
    assert proof(members, {"/b"}) == "/c"
    assert proof(members, members) is None


@pytest.mark.parametrize(
    ("expanded", "same"),
    [
        ({}, True),
        ({"Extra": 1}, True),
        ({"Model": None}, False),
        ({"Status": {"Health": "OK"}}, False),
        ({"Status": None}, False),
        ({"Fans": [{"Name": "a"}]}, False),
        ({"Fans": [{"Name": "a"}, {"Name": "b"}]}, False),
        ({"Model": "another"}, False),
        ({"Note": "another"}, True),
    ],
)
def test_a_member_must_hold_all_that_it_has_alone(expanded: Mapping[str, object], same: bool) -> None:
    alone = {
        "@odata.etag": "7",
        "Model": "M",
        "Note": None,
        "Status": {"Health": "OK", "State": None},
        "Fans": [{"Name": "a", "Reading": 1}, {"Name": "b", "Reading": 2}],
    }
    given_ = {name: value for name, value in {**alone, **expanded}.items() if name != "@odata.etag"}
    assert whole(given_, alone) is same


def test_each_property_counts() -> None:
    alone = part(f"{CHASSIS}/1", Model="M")
    for name in alone:
        assert not whole({n: v for n, v in alone.items() if n != name}, alone)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.just(f"{CHASSIS}/1"),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(("@odata.id", "Id", "Name", "Members", "X")), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(_JSON, _JSON, _JSON)
def test_any_answer_is_taken_apart_or_is_none(members: object, count: object, following: object) -> None:
    answer = {"Members": members, "Members@odata.count": count, "Members@odata.nextLink": following}
    found = brought(CHASSIS, answer)
    assert found is None or len(found.members) == len(found.collection["Members"])
    whole({"x": members}, {"x": count})


# Patience


def test_what_is_known_to_take_long_is_waited_for_longer_and_nothing_else_is() -> None:
    assert patience(f"{ROOT}/UpdateService/FirmwareInventory") == patience(f"{SYSTEMS}/1/LogServices/SEL/Entries/") == 6
    assert patience(f"{ROOT}/X/Entries?$skip=50") == 6
    assert patience(CHASSIS) == patience(f"{ROOT}/UpdateService/FirmwareInventory/BMC") == patience(ROOT) == 1


@pytest.mark.parametrize(
    ("times", "left", "seconds"), [(1, 100, 3), (6, 100, 18), (6, 20, 10), (6, 4, 3), (1, 2, 2), (6, 2, 2)]
)
def test_patience_takes_no_more_than_half_of_what_is_left(times: int, left: float, seconds: float) -> None:
    assert bounded(3, times, left) == seconds


@pytest.mark.parametrize(("last", "comes"), [("FirmwareInventory", True), ("Entries", True), ("Others", False)])
def test_a_firmware_inventory_that_takes_long_comes(last: str, comes: bool) -> None:
    place = f"{ROOT}/{last}"
    bodies: dict[str, object] = {
        ROOT: {last: link(place), "Chassis": link(CHASSIS)},
        place: collection(place),
        CHASSIS: collection(CHASSIS),
    }
    limits = redfish.Limits(connect=1, read=0.8, answer=1.6, deadline=20, goodbye=2, retries=0)

    class Slow(Mockup):
        def body(self, uri: str) -> bytes | None:
            if uri == place:
                self.over.wait(2.4)
            return super().body(uri)

    with Slow(bodies=bodies) as server:
        capture = read(server, limits, (last, "Chassis"))
    assert isinstance(capture.bodies[place], dict) is comes


@pytest.mark.parametrize("width", [0, 5, -1])
def test_a_bmc_gets_one_to_four_requests_at_once(width: int) -> None:
    with pytest.raises(ValueError, match="1 to 4"):
        redfish.Limits(width=width)


@pytest.mark.parametrize("width", [1, 4])
def test_as_many_requests_are_in_flight_as_the_limit_allows(width: int) -> None:
    with Mockup(bodies=few(8), latency=0.2) as server:
        read(server, redfish.Limits(width=width, expand=False))
    assert server.most_in_flight == width


def _root(bodies: Mapping[str, object]) -> dict[str, object]:
    root = bodies[ROOT]
    assert isinstance(root, dict)
    return root


def longer(count: int) -> dict[str, object]:
    """A BMC with this many chassis."""
    return few(count)


@pytest.mark.parametrize("cut", [1, 4])
def test_an_expanded_answer_that_leaves_members_out_is_not_believed(cut: int) -> None:
    whole_ = longer(12)
    uris = [f"{CHASSIS}/{n}" for n in range(1, 13)]
    less = {**collection(CHASSIS, *uris), "Members": [whole_[uri] for uri in uris[:-cut]]}
    less["Members@odata.count"] = 12 - cut
    answer = ResourceFault(body=json.dumps(less).encode(), times=1)
    with Mockup(bodies=whole_, expand=True, faults={f"{CHASSIS}?$expand=.($levels=1)": answer}) as server:
        capture = read(server)
    assert set(uris) <= capture.bodies.keys()


def test_a_large_collection_is_requested_plainly_once() -> None:
    with Mockup(bodies=longer(12), expand=True) as server:
        read(server)
    assert server.gets[CHASSIS] == 1


@pytest.mark.parametrize(
    "place", [f"{SYSTEMS}/1", f"{ROOT}", SYSTEMS, f"{CHASSIS}/1/Sensors", f"{CHASSIS}X/1", f"{CHASSIS}/"]
)
def test_a_member_that_is_not_of_this_collection_is_none(place: str) -> None:
    body = grown()
    members = body["Members"]
    assert isinstance(members, list)
    assert brought(CHASSIS, {**body, "Members": [members[0], {**members[1], "@odata.id": place}]}) is None


def test_two_members_of_one_id_are_none() -> None:
    body = grown()
    members = body["Members"]
    assert isinstance(members, list)
    assert brought(CHASSIS, {**body, "Members": [members[0], {**members[1], "Id": members[0]["Id"]}]}) is None
