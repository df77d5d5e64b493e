"""The simulated rack under load: what a node writes, how it is stopped, and what an audit does not read from it."""

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from command import rackcheck
from mockup_server import WatchedRack as Rack
from trees import tree
from waiting import PATIENCE

from rackcheck import inventory
from rackcheck.base.user_error import UserError
from rackcheck.burnin import pack
from rackcheck.model.burn_record import Burn, Stage
from rackcheck.model.capture import NodeCapture
from rackcheck.model.fact import Reason, Unknown
from rackcheck.parse.burnin.plan import Tier, document, slots
from rackcheck.sim import burn, faults, load_faults, machine, scenario
from rackcheck.sim.behaviour import Station
from rackcheck.sim.burn_parts import LoadableParts, of_station
from rackcheck.sim.load import SimLoad
from rackcheck.transport import ssh, ssh_config
from rackcheck.transport.wire import CommandStream, ShellLimits

Row = Mapping[str, Any]


@cache
def station() -> Station:
    return Station("n1", 1, machine.load(machine.shipped()["dgx-h100"], "n1", 1))


@cache
def parts() -> LoadableParts:
    return of_station(station())


def records(kind: str = "", words: Mapping[str, str] | None = None, tier: Tier = Tier.SMOKE) -> list[Row]:
    laid = faults.lay(station(), kind, words or {}).ills if kind else ()
    return list(SimLoad(parts(), document(tier, seed=7), laid).records())


def samples(found: Sequence[Row], of: str) -> list[Row]:
    return [row for row in found if row["k"] == "sample" and row["of"] == of]


def stage(found: Sequence[Row], of: str, name: str, test: str) -> Stage:
    (one,) = Burn.of(found).of_stage(name, of, test)
    return one


# ---- what a node writes ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tier", [Tier.SMOKE, Tier.VALIDATE])
def test_every_record_is_read_they_come_in_time_and_none_is_long_awaited(tier: Tier) -> None:
    found = records(tier=tier)
    read = Burn.of(found)
    assert (read.unread, read.odd, read.ended, read.faults) == (0, "", "whole", ())
    times = [row["t"] for row in found]
    assert times == sorted(times)
    assert max(later - earlier for earlier, later in pairwise(times)) <= 1.0
    assert found[0]["k"] == "hello"
    assert found[0]["simulated"] is True
    assert times[-1] == pytest.approx(tier.seconds + 1.0, abs=2.0)


def test_the_same_node_is_the_same_and_the_next_one_is_another() -> None:
    plan = document(Tier.SMOKE, seed=7)
    one, again, other = (list(SimLoad(parts(), plan, number=number).records()) for number in (1, 1, 2))
    assert one == again
    rates = [stage(each, "gpu/0", "tensor", "mma").number("rate") for each in (one, other)]
    assert rates[0] != rates[1]


def test_without_gpus_and_ports_in_the_capture_there_are_none_under_load() -> None:
    bmc_alone = machine.SimMachine(NodeCapture(), machine.from_tree(tree("nvidia-dgx-h100")))
    bare = of_station(Station("n1", 1, bmc_alone))
    assert bare == LoadableParts()
    found = list(SimLoad(bare, document(Tier.SMOKE, seed=7)).records())
    read = Burn.of(found)
    assert (read.unread, read.gpus, read.things("nic")) == (0, {}, ())
    assert not any(one.done for one in read.stages)
    assert [one.stage for one in read.stages] == [slot.stage for slot in slots(Tier.SMOKE) if slot.of == "cpu"]


def test_hello_describes_each_gpu_as_in_the_capture() -> None:
    gpu = Burn.of(records()).gpus["0"]
    assert gpu["model"] == "NVIDIA H100 80GB HBM3"
    assert (gpu["limit"], gpu["clock_max"], gpu["link_width_max"], gpu["nvlinks"]) == (700.0, 1.98e9, 16, 18)
    # What a burn-in reads and an audit does not is a property of the model: it follows from its name.
    assert (gpu["sms"], gpu["cc"], gpu["memory_width"]) == (132, "9.0", 5120)


def test_gpus_are_sampled_ten_times_a_second_and_their_counters_once() -> None:
    rows = [row for row in samples(records(), "gpu/0") if 3.0 <= row["t"] < 6.95]
    assert len(rows) == pytest.approx(40, abs=1)
    assert sum("replays" in row for row in rows) == pytest.approx(4, abs=1)


def test_at_the_power_cap_the_cap_holds_the_clock_and_rate_is_work_per_clock_times_clock() -> None:
    found = records()
    for index in range(8):
        work = stage(found, f"gpu/{index}", "tensor", "mma")
        begin = work.number("from")
        assert begin is not None
        rows = [row for row in samples(found, f"gpu/{index}") if begin + 1.0 < row["t"] < work.t]
        assert {row["reasons"] for row in rows} == {0x4}
        assert all(680 < row["power"] < 710 for row in rows)
        clock = sum(row["clock"] for row in rows) / len(rows)
        rate = work.number("rate")
        assert rate is not None
        assert rate / clock == pytest.approx(3.35e5, rel=0.02)
        assert rows[-1]["temp"] > rows[0]["temp"] + 3


def test_a_tool_that_is_wanted_is_missing_on_a_simulated_node() -> None:
    found = Burn.of(SimLoad(parts(), document(Tier.SMOKE, seed=7, tools=("fio",))).records())
    assert (found.unread, found.ended) == (0, "whole")
    assert [(tool["name"], tool["why"]) for tool in found.tools] == [("fio", "tool missing")]


def test_temperature_follows_power_and_falls_when_the_load_is_over() -> None:
    rows = samples(records(tier=Tier.VALIDATE), "gpu/0")
    hottest = max(row["temp"] for row in rows)
    assert 60 < hottest < 80
    assert rows[0]["temp"] == 33
    assert rows[-1]["energy"] > rows[0]["energy"]


def test_gpus_of_a_node_begin_and_end_one_after_the_other() -> None:
    begins = [stage(records(), f"gpu/{index}", "memory", "march").number("from") or 0.0 for index in range(8)]
    assert [round(later - earlier, 3) for earlier, later in pairwise(begins)] == [0.15] * 7


# ---- faults ----------------------------------------------------------------------------------------------------------

WORDS: Mapping[str, dict[str, str]] = {
    "sm-wrong": {"gpu": "1", "sm": "5"}, "sm-slow": {"gpu": "1", "sm": "5"}, "fan-stopped": {},
    "fabric-manager-down": {}, "nic-down-under-load": {"nic": "mlx5_4"}, "cpu-wrong": {"cpu": "3"}, "ram-bitflip": {},
}  # fmt: skip


@pytest.mark.parametrize("kind", load_faults.KINDS)
def test_a_fault_of_a_load_leaves_the_machine_that_an_audit_sees_as_it_was(kind: str) -> None:
    laid = faults.lay(station(), kind, WORDS.get(kind, {"gpu": "1"}))
    assert laid.machine is station().machine
    assert (laid.node, laid.bmc) == (station().node, station().bmc)
    assert [ill.kind for ill in laid.ills] == [kind]


@pytest.mark.parametrize("kind", load_faults.KINDS)
def test_a_fault_of_a_load_changes_what_a_node_writes_and_every_record_of_it_is_read(kind: str) -> None:
    found = records(kind, WORDS.get(kind, {"gpu": "1"}))
    assert found != records()
    read = Burn.of(found)
    assert (read.unread, read.odd, read.ended) == (0, "", "whole")
    assert [row["t"] for row in found] == sorted(row["t"] for row in found)


@pytest.mark.parametrize(
    ("kind", "words", "text"),
    [
        ("gpu-slow", {"gpu": "8"}, "no GPU 8: the machine has 0 to 7"),
        ("gpu-slow", {"gpu": "1", "percent": "100"}, "`percent` must be a whole number from 1 to 99, not '100'"),
        ("gpu-bitflip", {"gpu": "1", "address": "12"}, "`address` must be hexadecimal, such as 0x3f2a41c00, not '12'"),
        ("gpu-bitflip", {"gpu": "1", "how": "often"}, "`how` must be stuck or transient, not 'often'"),
        ("gpu-wrong", {"gpu": "1", "unit": "fp46"}, "not 'fp46'; did you mean fp64?"),
        ("nic-down-under-load", {"nic": "mlx5_44"}, "n1 has no RDMA port mlx5_44; did you mean mlx5_4?"),
        ("nic-down-under-load", {"nic": "3"}, "n1 has no RDMA port 3; it has mlx5_[0-9],mlx5_[10-11]"),
        ("cpu-wrong", {"cpu": "224"}, "n1 has no processor 224: it has 0 to 223"),
        ("ram-bitflip", {"numa": "2"}, "n1 has no NUMA node 2: it has 0, 1"),
        ("gpu-hang", {"gpu": "1", "second": "-1"}, "`second` must be a whole number from 0 to 600, not '-1'"),
        ("link-narrow-under-load", {"gpu": "1", "lanes": "32"}, "`lanes` must be one of 1, 2, 4, 8, 16, not '32'"),
    ],
)
def test_an_impossible_fault_is_reported(kind: str, words: dict[str, str], text: str) -> None:
    with pytest.raises(UserError) as error:
        faults.lay(station(), kind, words)
    assert text in str(error.value)


def test_the_same_fault_is_not_laid_twice_on_one_thing() -> None:
    once = faults.lay(station(), "gpu-slow", {"gpu": "1"})
    assert len(faults.lay(once, "gpu-slow", {"gpu": "2"}).ills) == 2
    with pytest.raises(UserError, match="n1 gpu/1 already has fault gpu-slow"):
        faults.lay(once, "gpu-slow", {"gpu": "1"})


def test_a_gpu_of_a_slot_that_is_very_hot_is_stopped_before_the_hardware_slows_it_down() -> None:
    read = Burn.of(records("gpu-hot", {"gpu": "5", "percent": "200"}))
    names = [fault.name for fault in read.of_thing("gpu/5")]
    assert names == ["throttle", "hot"]
    assert max(row.number("temp") or 0 for row in read.samples["gpu/5"]) <= 90
    assert [one.why for one in read.of_stage("links", "gpu/5")] == ["stopped"]
    assert all(one.done for one in read.of_stage("links", "gpu/4"))


# ---- the payload -----------------------------------------------------------------------------------------------------


def test_the_plan_is_read_out_of_the_payload_that_the_controller_sends() -> None:
    plan = document(Tier.SMOKE, seed=99)
    text = pack.payload(plan)
    assert {**burn.plan_of(text.encode())} | plan == dict(burn.plan_of(text.encode()))
    assert burn.payload_size(pack.command(len(text))) == len(text)


@pytest.mark.parametrize("command", ["sh -s", "hostname", "python3 -c 1", pack.command(burn.LARGEST + 1), "sh -c 'x'"])
def test_no_other_command_begins_a_burn_in(command: str) -> None:
    assert burn.payload_size(command) is None


def _plan(**words: object) -> bytes:
    return f"PLAN = json.loads({json.dumps({**document(Tier.SMOKE, seed=1), **words})!r})\n".encode()


@pytest.mark.parametrize(
    "payload",
    [
        b"", b"print(1)", b"PLAN = json.loads(__import__('os').getcwd())\n", b"PLAN = json.loads('[1]')\n",
        b"PLAN = json.loads('" + b"[" * 60_000 + b"')\n", b"PLAN = json.loads('\\ud800')\n", b"\xff\xfe\x00",
        _plan(wire=2), _plan(seed="x"), _plan(stages={}), _plan(stages=[1]), _plan(start=-1), _plan(step="x"),
        _plan(stages=[{"of": "cpu", "stage": "fma", "from": 0, "until": 1e9}]), _plan(tier=None), _plan(pulse=True),
        _plan(tools=[1]), _plan(tools=1),
        _plan(stages=[{"of": "cpu", "stage": "fma", "from": 0.0, "until": 1.0}] * 1001),
    ],
)  # fmt: skip
def test_a_payload_without_a_plan_that_can_be_done_is_refused(payload: bytes) -> None:
    with pytest.raises(ValueError, match="plan"):
        burn.plan_of(payload)


# ---- over the wire ---------------------------------------------------------------------------------------------------


@contextmanager
def rack(folder: Path, *, pace: int = 1, laid: str = "[]", nodes: str = "n1") -> Iterator[Rack]:
    file = folder / "rack.yaml"
    file.write_text(
        f"rackcheck: 1\nscenario: one\nload: {{ pace: {pace}, seed: 5 }}\n"
        f"nodes: {{ '{nodes}': {{ machine: dgx-h100 }} }}\nfaults: {laid}\n"
    )
    with Rack(scenario.load(file), folder) as up:
        yield up


def spoken(up: Rack, speak: Callable[[CommandStream], None], text: bytes = b"", command: str = "") -> None:
    """Begin a burn-in on the rack's first node as the controller does, and pass the connection to `speak`."""
    payload = text or pack.payload(document(Tier.SMOKE, seed=3)).encode()

    def begun(line: CommandStream) -> Unknown:
        line.send(payload, 10.0)
        speak(line)
        line.close()
        return Unknown(Reason.NOT_COLLECTED, "")

    node = inventory.load(up.inventory).nodes["n1"]
    ssh.talk(ssh_config.resolve(node, {}), command or pack.command(len(payload)), ShellLimits(), begun)


def heard(line: CommandStream, enough: Callable[[list[Row]], bool]) -> list[Row]:
    """Read records until there are enough, or the stream ends."""
    data, end = b"", time.monotonic() + PATIENCE
    while time.monotonic() < end:
        more = line.receive(0.2)
        data += more or b""
        rows = [json.loads(row) for row in data.rpartition(b"\n")[0].splitlines()]
        if more == b"" or enough(rows):
            return rows
    raise AssertionError("no end")


def test_records_come_in_their_own_time_and_at_the_pace_of_the_scenario(tmp_path: Path) -> None:
    took: list[float] = []

    def speak(line: CommandStream) -> None:
        begun = time.monotonic()
        rows = heard(line, lambda _: False)
        took.append(time.monotonic() - begun)
        assert rows[-1] == {"k": "verdict", "t": rows[-1]["t"], "status": "whole", "why": ""}
        assert Burn.of(rows).unread == 0
        assert line.ended()[0] == 0

    with rack(tmp_path, pace=10) as up:
        spoken(up, speak)
    assert 1.4 < took[0] < PATIENCE


def test_the_load_ends_long_before_its_plan_once_the_line_ends(tmp_path: Path) -> None:
    def speak(line: CommandStream) -> None:
        heard(line, lambda rows: any(row["k"] == "sample" for row in rows))
        line.finish()
        begun = time.monotonic()
        rows = heard(line, lambda _: False)
        assert time.monotonic() - begun < 10  # of 15
        assert (rows[-1]["k"], rows[-1]["status"], rows[-1]["why"]) == (
            "verdict",
            "stopped",
            "the connection was closed",
        )
        assert line.ended()[0] == 1

    with rack(tmp_path) as up:
        spoken(up, speak)


def test_the_load_ends_without_signs_of_life(tmp_path: Path) -> None:
    def speak(line: CommandStream) -> None:
        rows = heard(line, lambda _: False)
        assert (rows[-1]["status"], rows[-1]["why"]) == ("stopped", "the connection is silent")
        assert rows[-1]["t"] == pytest.approx(1.0, abs=0.9)

    plan = document(Tier.SMOKE, seed=3) | {"pulse": 0.8}
    with rack(tmp_path) as up:
        spoken(up, speak, pack.payload(plan).encode())


def test_a_node_has_one_verdict_even_if_the_line_is_silent_at_its_end(tmp_path: Path) -> None:
    def speak(line: CommandStream) -> None:
        rows = heard(line, lambda _: False)
        assert sum(row["k"] == "verdict" for row in rows) == 1
        assert rows[-1]["k"] == "verdict"

    plan = document(Tier.SMOKE, seed=3) | {"pulse": 0.03, "step": 0.0, "stages": []}
    with rack(tmp_path, pace=100) as up:
        spoken(up, speak, pack.payload(plan).encode())


def test_a_wrong_payload_is_refused_with_words_and_never_run(tmp_path: Path) -> None:
    def speak(line: CommandStream) -> None:
        assert heard(line, lambda _: False) == []
        status, output = line.ended()
        assert status == 2
        assert "found no valid plan in the payload" in output

    text = f"open({str(tmp_path / 'ran')!r}, 'w')\n".encode()
    with rack(tmp_path) as up:
        spoken(up, speak, text)
    assert not (tmp_path / "ran").exists()


def test_a_node_without_python_has_none_for_a_burn_in_either(tmp_path: Path) -> None:
    with rack(tmp_path, pace=50, laid="[{ nodes: n1, fault: tool-missing, tool: python3 }]") as up:
        done = rackcheck("burnin", "-i", up.inventory, "-q", "--json", "-o", tmp_path / "run")
    assert done.status == 3
    assert "no python3 on this node" in done.out


def test_many_nodes_burn_at_once(tmp_path: Path) -> None:
    with rack(tmp_path, pace=5, nodes="n[1-4]") as up:
        begun = time.monotonic()
        done = rackcheck("burnin", "-i", up.inventory, "-q", "--json", "-o", tmp_path / "run")
        assert time.monotonic() - begun < PATIENCE
    assert (done.status, json.loads(done.out)["outcome"]) == (0, "PASS")
    assert threading.active_count() < 50


# ---- from end to end -------------------------------------------------------------------------------------------------


def test_a_burn_in_of_the_shipped_rack_finds_the_four_by_name_and_place_and_is_stored(tmp_path: Path) -> None:
    text = (scenario.FOLDER / "dgx-h100.yaml").read_text()
    file = tmp_path / "rack.yaml"
    file.write_text(text.replace("nodes:\n", "load: { pace: 20 }\nnodes:\n", 1))
    run = tmp_path / "run"
    done = rackcheck("burnin", "--rack", f"sim:{file}", "--tier", "smoke", "--seed", "7", "-q", "--json", "-o", run)
    assert done.status == 1, done.err
    findings = [one for one in json.loads(done.out)["findings"] if one["status"] != "n/a"]
    warned = [(one["rule"], one["nodes"]) for one in findings if one["status"] == "warn"]
    assert warned == [("burnin.gpu_heat_alike", ["dgx06"])]
    found = {one["rule"]: (one["nodes"], one["reason"]) for one in findings if one["status"] != "warn"}
    by_rule = {"burnin.gpu_host_rate": "beside.link", "burnin.gpu_host_limit": "light.link"}
    for rule, fact in (by_rule | {"burnin.gpu_host_best": "among.link"}).items():
        nodes, reason = found.pop(rule)
        assert nodes == ["dgx05"]
        assert reason.startswith(f"burnin.gpu/2.{fact}.h2d"), "half of the lanes, half of the rate"
    assert found == {
        "burnin.gpu_work": (["dgx01"], "burnin.gpu/3.among.work is slow, must be fine"),
        "burnin.gpu_correct": (["dgx04"], "burnin.gpu/6.mismatches is 2, must be 0"),
        # A fault of this rack that an audit finds as well: its link always has half of its lanes.
        "burnin.link_full": (["dgx05"], "burnin.gpu/2.link.width is 8, must equal link.max_width"),
        "burnin.gpu_heat": (["dgx06"], "burnin.gpu/5.among.heat is hot, must be fine"),
        "burnin.nic_stayed_up": (["dgx07"], "burnin.nic/mlx5_9.stayed is false, must be true"),
    }
    again = rackcheck("audit", "--from", run, "-p", "burn-in", "-q", "--json")
    assert again.status == 1
    verdicts = [json.loads(one.out)["nodes"] for one in (done, again)]
    assert verdicts[0] == verdicts[1]
    facts = [rackcheck("facts", "dgx04", "--from", run, "burnin", "--json") for _ in range(2)]
    assert facts[0].status == 0
    assert facts[0].out == facts[1].out
    value = json.loads(facts[0].out)["facts"]
    assert value["burnin.gpu/6.faults"]["value"] == ["mismatch"]
    assert value["burnin.simulated"]["value"] is True


def test_the_faults_of_the_shipped_rack_are_listed_those_of_a_load_among_them() -> None:
    shown = json.loads(rackcheck("sim", "show", "dgx-h100", "--json").out)
    of_load = {row["fault"]: row["nodes"] for row in shown["faults"] if row["fault"] in load_faults.KINDS}
    assert set(of_load) == {"gpu-slow", "gpu-bitflip", "gpu-hot", "nic-down-under-load"}
    assert len({tuple(nodes) if isinstance(nodes, list) else nodes for nodes in of_load.values()}) == 4
