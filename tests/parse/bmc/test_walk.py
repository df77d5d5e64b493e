"""Paths through a BMC that a parser chooses: what is requested, when, and what is not."""

from collections.abc import Mapping

from rackcheck.model.documents import Documents, LinkPattern, Walk
from rackcheck.model.fact import Reason, Unknown
from rackcheck.model.resource import ROOT, Body, Resource
from rackcheck.parse.bmc.item import gather


def slots(docs: Documents) -> list[Resource]:
    """A parser's path: every device of the chassis where no system lists one."""
    systems, unread = gather(docs.at("Systems/*/Devices/*"))
    return systems if systems or unread else gather(docs.at("Chassis/*/Devices/*"))[0]


def named_by_links() -> dict[str, Body | Unknown]:
    def link(*uris: str) -> list[dict[str, str]]:
        return [{"@odata.id": f"{ROOT}{uri}"} for uri in uris]

    return {
        ROOT: {"Systems": link("/Systems")[0], "Chassis": link("/Chassis")[0]},
        f"{ROOT}/Systems": {"Members": link("/Systems/1", "/Systems/2")},
        f"{ROOT}/Systems/1": {"Devices": link("/Systems/1/Devices")[0]},
        f"{ROOT}/Systems/2": {"Devices": link("/Systems/2/Devices")[0]},
        f"{ROOT}/Systems/1/Devices": {"Members": []},
        f"{ROOT}/Systems/2/Devices": {"Members": []},
        f"{ROOT}/Chassis": {"Members": link("/Chassis/1")},
        f"{ROOT}/Chassis/1": {"Devices": link("/Chassis/1/Devices")[0]},
        f"{ROOT}/Chassis/1/Devices": {"Members": link("/Chassis/1/Devices/1")},
        f"{ROOT}/Chassis/1/Devices/1": {"Id": "1"},
    }


def rounds(served: Mapping[str, Body | Unknown], *links: LinkPattern) -> list[set[str]]:
    """What is requested in each round of a visit, without the root."""
    bodies: dict[str, Body | Unknown] = {ROOT: served[ROOT]}
    asked = []
    while todo := Documents(bodies).wanted(links):
        asked.append({uri.removeprefix(ROOT) for uri in todo})
        bodies |= {uri: served[uri] for uri in todo}
    return asked


WAY = Walk("devices of systems, else of chassis", slots)


def test_a_walk_requests_more_only_where_earlier_replies_require_it() -> None:
    served = named_by_links()
    asked = rounds(served, WAY)
    assert {"/Chassis/1/Devices/1"} in asked
    served[f"{ROOT}/Systems/2/Devices"] = {"Members": [{"@odata.id": f"{ROOT}/Systems/2/Devices/7"}]}
    served[f"{ROOT}/Systems/2/Devices/7"] = {"Id": "7"}
    assert not [uri for uris in rounds(served, WAY) for uri in uris if uri.startswith("/Chassis")]


def test_a_walk_requests_all_known_links_at_once() -> None:
    assert rounds(named_by_links(), WAY)[:3] == [
        {"/Systems"},
        {"/Systems/1", "/Systems/2"},
        {"/Systems/1/Devices", "/Systems/2/Devices"},
    ]


def test_what_has_not_come_yet_is_not_taken_for_what_is_not_there() -> None:
    asked = rounds(named_by_links(), WAY)
    first = next(number for number, uris in enumerate(asked) if "/Chassis" in uris)
    assert {uri for uris in asked[:first] for uri in uris} >= {"/Systems/1/Devices", "/Systems/2/Devices"}


def test_what_a_walk_could_not_read_ends_it_without_a_word() -> None:
    served = named_by_links()
    served[f"{ROOT}/Systems/1"] = Unknown(Reason.TIMEOUT, "no answer")
    assert not [uri for uris in rounds(served, WAY) for uri in uris if uri.startswith("/Chassis")]


def test_links_and_walks_name_the_same_resources_once() -> None:
    asked = rounds(named_by_links(), "Systems/*/Devices/*", WAY, "Chassis/*")
    every = [uri for uris in asked for uri in uris]
    assert len(every) == len(set(every))


def test_a_collection_is_wanted_whole_where_every_member_follows() -> None:
    bodies = named_by_links()
    root = {ROOT: bodies[ROOT]}
    assert Documents(root).wanted(("Systems/*", "Chassis")) == {f"{ROOT}/Systems": True, f"{ROOT}/Chassis": False}
    assert Documents(root).wanted(("Chassis", "Chassis/*")) == {f"{ROOT}/Chassis": True}


def test_a_link_that_needs_nothing_more_is_not_followed_again() -> None:
    """Bodies are only added: what a complete link has needed is there in each later round."""
    calls = list[int]()

    def go(docs: Documents) -> None:
        calls.append(len(docs.bodies))
        list(docs.at("Systems"))

    bodies: dict[str, Body | Unknown] = {ROOT: {"Systems": {"@odata.id": f"{ROOT}/Systems"}}}
    docs = Documents(bodies)
    links = (Walk("the systems", go), Walk("the systems", lambda docs: list(docs.at("Systems/*"))))
    assert docs.wanted(links) == {f"{ROOT}/Systems": False}
    bodies[f"{ROOT}/Systems"] = {"Members": [{"@odata.id": f"{ROOT}/Systems/1"}]}
    assert docs.wanted(links) == {f"{ROOT}/Systems/1": False}
    assert docs.wanted(links) == {f"{ROOT}/Systems/1": False}
    assert calls == [1, 2]
    bodies[f"{ROOT}/Systems/1"] = Unknown(Reason.NOT_COLLECTED, "HTTP 404")
    assert docs.wanted(links) == {}
