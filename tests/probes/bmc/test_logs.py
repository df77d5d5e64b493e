"""Event logs of BMCs: which are read, their newest entries, and what is reported where those cannot be read."""

from collections.abc import Mapping
from typing import Any

import pytest
from mockup_server import Mockup
from one_probe import ask, of
from trees import DELL, DGX, GB200, HPE_INTEL, LENOVO, SUPERMICRO, X10, client

from rackcheck import Reason, Unknown
from rackcheck.model.fact import Reading
from rackcheck.model.resource import Body
from rackcheck.parse.bmc.log import NEWEST
from rackcheck.transport import redfish
from rackcheck_probes.bmc.logs import bmc_logs
from rackcheck_probes.bmc.logs_chassis import bmc_logs_chassis

ROOT = "/redfish/v1"
LOG = f"{ROOT}/Systems/1/LogServices/SEL"
ENTRIES = f"{LOG}/Entries"
ITEM = 'bmc.log/"Systems/1/SEL"'


def entry(number: int, severity: object = "OK", **more: object) -> dict[str, object]:
    created = f"2026-01-{1 + number // 1440:02}T{number // 60 % 24:02}:{number % 60:02}:00+00:00"
    return {"Id": str(number), "Created": created, "Severity": severity, "Message": f"event {number}", **more}


def machine(*logs: Mapping[str, Any], **names: object) -> dict[str, Body | Unknown]:
    """A BMC with one SEL whose collection is the first of these bodies; more are its further pages, by URI."""
    held: dict[str, Body | Unknown] = {
        ROOT: {"Systems": {"@odata.id": f"{ROOT}/Systems"}},
        f"{ROOT}/Systems": {"Members": [{"@odata.id": f"{ROOT}/Systems/1"}]},
        f"{ROOT}/Systems/1": {"Id": "1", "LogServices": {"@odata.id": f"{ROOT}/Systems/1/LogServices"}},
        f"{ROOT}/Systems/1/LogServices": {"Members": [{"@odata.id": LOG}]},
        LOG: {"Id": "SEL", "Entries": {"@odata.id": ENTRIES}, **names},
    }
    for log in logs:
        held[log.get("@odata.id", ENTRIES)] = log
    return held


def readings_of(*logs: Mapping[str, Any], **names: object) -> dict[str, Reading]:
    found = of(bmc_logs, machine(*logs, **names))
    return {path.removeprefix(f"{ITEM}."): reading for path, reading in found.items()}


def not_read_further(reading: Reading) -> bool:
    return isinstance(reading, Unknown) and reading.reason is Reason.NOT_READ_FURTHER


@pytest.mark.parametrize(
    ("name", "log", "entries", "read", "critical", "warning"),
    [
        (DELL, "Managers/iDRAC.Embedded.1/Lclog", 5, 5, 1, 0),
        (DGX, "Managers/BMC/SEL", 75, 50, 0, 0),
        (SUPERMICRO, "Systems/1/Log1", 82, 50, 1, 6),
        (SUPERMICRO, "Managers/1/Log1", 509, 50, 0, 3),
        (HPE_INTEL, "Systems/1/IML", 108, 50, 0, 4),
        (GB200, "Systems/HGX_Baseboard_0/EventLog", 10, 10, 4, 5),
    ],
)
def test_the_newest_entries_of_a_log_are_counted_by_severity(
    name: str, log: str, entries: int, read: int, critical: int, warning: int
) -> None:
    found = ask(bmc_logs, name)
    item = f'bmc.log/"{log}"'
    leaves = [found[f"{item}.{leaf}"] for leaf in ("entries", "read", "critical", "warning")]
    assert leaves == [entries, read, critical, warning]


def test_the_newest_bad_entry_comes_first_with_its_time() -> None:
    newest = ask(bmc_logs, DELL)['bmc.log/"Managers/iDRAC.Embedded.1/Lclog".alerts']
    output = "The requested SecureBoot Certificate Export operation cannot be completed."
    assert newest == (f"2024-08-08T18:47:42-05:00 Critical: {output}",)


@pytest.mark.parametrize("name", [DGX, GB200, HPE_INTEL, LENOVO])
def test_logs_of_logins_traces_and_codes_are_not_read(name: str) -> None:
    logs = ask(bmc_logs, name)["bmc.log"]
    assert isinstance(logs, tuple)
    assert logs
    assert not [log for log in logs if any(word in str(log) for word in ("Audit", "Journal", "Post", "Dump", "/SL"))]


def test_xids_of_parts_are_read_only_on_request() -> None:
    found = ask(bmc_logs_chassis, DGX)
    assert found['bmc.part_log/"Chassis/HGX_GPU_SXM_4/XID".entries'] == 3
    assert bmc_logs_chassis.ask.dear


def test_a_log_that_its_bmc_does_not_show_is_unknown() -> None:
    found = ask(bmc_logs, LENOVO)
    assert isinstance(found['bmc.log/"Systems/1/SEL".critical'], Unknown)


@pytest.mark.parametrize("order", [1, -1])
def test_of_a_log_in_one_page_the_newest_count_in_either_order(order: int) -> None:
    members = [entry(n, "Critical" if n < 20 else "OK") for n in range(200)][::order]
    found = readings_of({"Members": members})
    assert (found["entries"], found["read"], found["critical"]) == (200, NEWEST, 0)
    members = [entry(n, "Critical" if n >= 180 else "OK") for n in range(200)][::order]
    assert readings_of({"Members": members})["critical"] == 20


def pages(count: int, size: int, order: int, bad: range) -> dict[str, object]:
    """A BMC that returns a log in pages, as `$skip` requests."""
    every = [entry(n, "Critical" if n in bad else "OK") for n in range(count)][::order]
    bodies: dict[str, object] = {uri: body for uri, body in machine().items() if not isinstance(body, Unknown)}
    for skip in range(count):
        body: dict[str, object] = {"Members": every[skip : skip + size], "Members@odata.count": count}
        if skip + size < count:
            body["Members@odata.nextLink"] = f"{ENTRIES}?$skip={skip + size}"
        bodies[f"{ENTRIES}?$skip={skip}" if skip else ENTRIES] = body
    return bodies


@pytest.mark.parametrize("order", [1, -1])
def test_of_a_log_in_pages_two_are_fetched_at_most(order: int) -> None:
    with Mockup(bodies=pages(3000, 75, order, range(2990, 3000))) as server:
        capture, _ = redfish.read(client(server), bmc_logs.ask.links)
    asked = [uri for uri in server.gets if uri.startswith(ENTRIES)]
    assert len(asked) <= 2
    found = of(bmc_logs, capture.bodies)
    assert [found[f"{ITEM}.{leaf}"] for leaf in ("entries", "read", "critical")] == [3000, NEWEST, 10]


def test_a_log_whose_further_pages_have_names_of_their_own_is_not_read_further() -> None:
    page = {"Members": [entry(n) for n in range(10)], "Members@odata.count": 900}
    for link in (f"{ENTRIES}?page=2", f"{ENTRIES}/2", "https://elsewhere/?$skip=10", f"{ROOT}/Systems?$skip=10", 7):
        found = readings_of(page | {"Members@odata.nextLink": link})
        assert found["entries"] == 900
        assert not_read_further(found["critical"])
        assert not_read_further(found["alerts"])


def test_a_log_that_gives_links_alone_is_not_read_further() -> None:
    found = readings_of({"Members": [{"@odata.id": f"{ENTRIES}/{n}"} for n in range(3)], "Members@odata.count": 3})
    assert found["entries"] == 3
    assert not_read_further(found["critical"])


def test_many_entries_without_times_do_not_show_which_are_the_newest() -> None:
    members = [entry(n) | {"Created": None} for n in range(60)]
    assert not_read_further(readings_of({"Members": members})["critical"])
    assert readings_of({"Members": members[:40]})["critical"] == 0


def test_a_bmc_that_names_no_severity_at_all_leaves_the_counts_unknown() -> None:
    found = ask(bmc_logs, X10)
    assert (found['bmc.log/"Systems/1/Log1".entries'], found['bmc.log/"Systems/1/Log1".read']) == (65, NEWEST)
    assert isinstance(found['bmc.log/"Systems/1/Log1".critical'], Unknown)


@pytest.mark.parametrize("severity", [None, "", "Fatal", 3])
def test_an_entry_of_no_known_severity_leaves_the_counts_unknown(severity: object) -> None:
    found = readings_of({"Members": [entry(1), entry(2, severity)]})
    assert isinstance(found["critical"], Unknown)
    assert isinstance(found["warning"], Unknown)


def test_an_entry_that_was_resolved_is_not_open() -> None:
    found = readings_of({"Members": [entry(1, "Critical", Resolved=True), entry(2, "Critical", Resolved=False)]})
    assert found["critical"] == 1
    assert found["alerts"] == ("2026-01-01T00:02:00+00:00 Critical: event 2",)


@pytest.mark.parametrize("members", [None, {}, "none", [3], [None], [[]]])
def test_an_odd_list_of_entries_is_unknown(members: object) -> None:
    assert isinstance(readings_of({"Members": members})["critical"], Unknown)


def test_a_log_that_counts_more_than_it_gives_is_not_read_further() -> None:
    assert not_read_further(readings_of({"Members": [entry(1)], "Members@odata.count": 2})["critical"])


def test_a_log_that_did_not_come_leaves_the_others() -> None:
    held = machine({"Members": [entry(1)]})
    other = f"{ROOT}/Systems/1/LogServices/EventLog"
    held[f"{ROOT}/Systems/1/LogServices"] = {"Members": [{"@odata.id": LOG}, {"@odata.id": other}]}
    held[other] = Unknown(Reason.TIMEOUT, "no answer")
    found = of(bmc_logs, held)
    assert found[f"{ITEM}.critical"] == 0
    assert isinstance(found["bmc.log"], Unknown)


def test_a_bmc_that_shows_no_log_of_events_is_not_one_where_nothing_happened() -> None:
    assert isinstance(readings_of({"Members": []}, Id="AuditLog")["bmc.log"], Unknown)
    held = machine({"Members": []})
    held[f"{ROOT}/Systems/1"] = {"Id": "1"}
    assert isinstance(of(bmc_logs, held)["bmc.log"], Unknown)


def test_a_page_that_is_not_the_last_does_not_give_the_newest() -> None:
    first: dict[str, Any] = {"Members": [entry(n) for n in range(60)], "Members@odata.count": 200}
    first["Members@odata.nextLink"] = f"{ENTRIES}?$skip=60"
    place = f"{ENTRIES}?$skip=150"
    pages: list[dict[str, Any]] = [
        {"Members": [entry(n) for n in range(150, 170)], "Members@odata.nextLink": f"{ENTRIES}?$skip=170"},
        {"Members": [entry(n) for n in range(150, 190)]},
        {"Members": [entry(n) for n in range(50)]},
        {"Members": [entry(n) for n in range(40, 90)]},
        {"Members": []},
    ]
    for page in pages:
        assert not_read_further(readings_of(first, {"@odata.id": place, **page})["critical"]), page
    whole = {"Members": [entry(n, "Critical") for n in range(150, 200)]}
    assert readings_of(first, {"@odata.id": place, **whole})["critical"] == NEWEST


@pytest.mark.parametrize("count", [50, 0, None])
def test_a_page_that_goes_on_is_not_the_whole_log_whatever_it_counts(count: object) -> None:
    page: dict[str, Any] = {"Members": [entry(n) for n in range(50)], "Members@odata.count": count}
    for name in ("Members@odata.nextLink", "@odata.nextLink"):
        assert not_read_further(readings_of({**page, name: f"{ENTRIES}?$skip=50"})["critical"])


def test_a_clock_that_was_set_once_does_not_turn_a_log_round() -> None:
    members = [entry(n, "Critical" if n >= 140 else "OK") for n in range(150)]
    members.append(entry(150) | {"Created": "1970-01-01T00:00:00+00:00"})
    assert readings_of({"Members": members})["critical"] == 10


@pytest.mark.parametrize("kind", [[], ["SEL"], {}, None, 7])
def test_an_odd_kind_of_log_breaks_nothing(kind: object) -> None:
    assert isinstance(readings_of({"Members": []}, Id="Odd", LogEntryType=kind)["bmc.log"], Unknown)


@pytest.mark.parametrize("counted", [3, 4])
def test_an_entry_that_a_page_contains_twice_counts_once(counted: int) -> None:
    rows = [entry(n, "Critical" if n == 1 else "OK") | {"@odata.id": f"{ENTRIES}/{n}"} for n in range(3)]
    found = readings_of({"Members": [*rows, rows[1]], "Members@odata.count": counted})
    assert (found["entries"], found["read"], found["critical"]) == (3, 3, 1)
    other = rows[1] | {"@odata.id": f"{ENTRIES}/9"}
    assert readings_of({"Members": [*rows, other], "Members@odata.count": 4})["critical"] == 2


@pytest.mark.parametrize(("name", "lost"), [("FaultLog", True), ("Log2", True), ("AuditLog", False)])
def test_a_listed_log_that_does_not_exist_leaves_the_list_unknown_unless_it_is_another_kind(
    name: str, *, lost: bool
) -> None:
    held = machine({"Members": [entry(1)], "Members@odata.count": 1})
    uri = f"{ROOT}/Systems/1/LogServices/{name}"
    held[f"{ROOT}/Systems/1/LogServices"] = {"Members": [{"@odata.id": LOG}, {"@odata.id": uri}]}
    found = of(bmc_logs, held | {uri: Unknown(Reason.NOT_COLLECTED, "HTTP 404")})
    assert isinstance(found["bmc.log"], Unknown) is lost
    assert found[f"{ITEM}.entries"] == 1
