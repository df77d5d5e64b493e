"""cuBLASLt as a tool of a node: a stand-in on the fake driver, from finding the library to the facts."""

import ast
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from burn_nodes import WORDS, libraries
from burn_nvml import uuid
from places import TESTS

from rackcheck.burnin.node import cublas_forms as forms
from rackcheck.burnin.node import cublas_library
from rackcheck.model.capture import BurnCapture
from rackcheck.model.fact import Absent, Reading, Reason, Sourced, Unknown
from rackcheck.parse.burnin.tools import cublas, every
from rackcheck.probe.collect import collect
from rackcheck.probe.registry import registry

HERE = TESTS
NODE = HERE.parent / "rackcheck" / "burnin" / "node"
FILES = ("cuda", "gpu_parts", "cublas_library", "cublas_forms", "cublas", "child", "cublas_tool")

CHILD = """
import json, sys, threading, time
exec(compile(sys.stdin.read(), "payload", "exec"))
began = time.monotonic()
def clock():
    return time.monotonic() - began
def tell(kind, **fields):
    sys.stdout.write(json.dumps(dict(fields, k=kind)) + "\\n")
    sys.stdout.flush()
given = json.loads(sys.argv[1])
stop = threading.Event()
if given["stop"]:
    threading.Timer(given["stop"], stop.set).start()
parts = given["parts"] if not given["parts"] else {int(index): part for index, part in given["parts"].items()}
run_cublas(tell, clock, stop, given["until"], parts, given["folders"], given["seconds"], 48, given["library"])
sys.stdout.write(json.dumps({"left": os.listdir("/proc/self/task"), "ended": clock()}) + "\\n")
"""

Record = Mapping[str, Any]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return libraries(tmp_path_factory.mktemp("nvidia"))


def stand_in(folder: Path, name: str = "libcublasLt.so.12") -> Path:
    """Build the stand-in under a name; a compiler exists, because the driver's libraries were built."""
    folder.mkdir(parents=True, exist_ok=True)
    compiler = shutil.which("gcc") or shutil.which("cc")
    assert compiler is not None
    subprocess.run([compiler, *WORDS, "-o", str(folder / name), str(HERE / "fake_cuda" / "cublas.c")], check=True)
    return folder


@pytest.fixture(scope="module")
def toolkit(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return stand_in(tmp_path_factory.mktemp("toolkit"))


class Machine:
    """A machine of fake GPUs; `tool` runs cuBLASLt there as the burn-in does."""

    def __init__(self, built: Path, folder: Path) -> None:
        self.library, self.folder = built / "libcuda.so.1", folder
        self.ended = self.wall = 0.0

    def tool(self, *folders: Path, state: str = "gpus=2", stop: float = 0.0, until: float = 60.0, seconds: float = 0.2,
             parts: Mapping[str, Mapping[str, str]] | None = None, python: str = sys.executable, **env: str) -> list[Record]:  # fmt: skip
        (self.folder / "state").write_text(state.replace(" ", "\n") + "\n")
        given = {"stop": stop, "until": until, "parts": parts, "folders": [str(each) for each in folders],
                 "seconds": seconds, "library": str(self.library)}  # fmt: skip
        begun = time.monotonic()
        done = subprocess.run(
            [python, "-I", "-S", "-c", CHILD, json.dumps(given)],
            input="\n".join((NODE / f"{name}.py").read_text() for name in FILES),
            env={"FAKE_CUDA_STATE": str(self.folder / "state"), **env},
            capture_output=True, text=True, check=False, timeout=60,
        )  # fmt: skip
        self.wall = time.monotonic() - begun
        *records, last = (json.loads(line) for line in done.stdout.splitlines())
        self.ended = last["ended"]
        return records


@pytest.fixture
def machine(built: Path, tmp_path: Path) -> Iterator[Machine]:
    yield Machine(built, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) in ([], ["state"])


def readings_of(records: list[Record]) -> dict[str, Reading]:
    return dict(every.facts(records))


def as_8192(records: list[Record]) -> list[Record]:
    """What the same node reports for matrices as large as a GPU's."""
    return [{**each, "out": each["out"].replace('"side": 48', '"side": 8192')} for each in records]


def why(reading: Reading) -> str:
    assert isinstance(reading, Unknown), reading
    return f"{reading.reason.value}: {reading.detail}"


def test_each_gpu_has_a_record_with_the_copy_its_version_and_a_rate(machine: Machine, toolkit: Path) -> None:
    records = machine.tool(toolkit)
    assert [(each["of"], each["status"], each["version"]) for each in records] == [
        ("gpu/0", 0, "12.2.5"), ("gpu/1", 0, "12.2.5"),
    ]  # fmt: skip
    assert {tuple(each["argv"]) for each in records} == {(str(toolkit / "libcublasLt.so.12"),)}
    facts = readings_of(as_8192(records))
    assert facts["burnin.cublas.version"] == "12.2.5"
    assert facts["burnin.cublas.gpu"] == ("0", "1")
    for record, gpu in zip(records, "01", strict=True):
        out = json.loads(record["out"])
        assert facts[f"burnin.cublas.gpu/{gpu}.rate"] == out["rate"] > 0
        for each in out["more"]:
            name = "bf16_integer" if each["type"] == "bf16" else each["type"]
            assert facts[f"burnin.cublas.gpu/{gpu}.rate_{name}"] == each["rate"] > 0
            assert (each["data"], each["mismatches"]) == ("integer", 0)
        assert [each["type"] for each in out["more"]] == ["bf16", "fp8", "int8"]
        assert facts[f"burnin.cublas.gpu/{gpu}.mismatches"] == 0
    assert facts["burnin.tool"] == ("cublas:0", "cublas:1")


def test_the_rate_is_the_work_of_a_product_over_the_time_that_it_took(machine: Machine, toolkit: Path) -> None:
    (record,) = machine.tool(toolkit, state="gpus=1", FAKE_CUBLAS="slow=10")
    assert json.loads(record["out"])["rate"] == pytest.approx(2 * 48**3 / 0.0104, rel=0.2)


def test_a_rate_of_another_product_is_none(machine: Machine, toolkit: Path) -> None:
    assert "not the expected matrix product" in why(readings_of(machine.tool(toolkit))["burnin.cublas.gpu/0.rate"])


def test_a_node_without_a_copy_is_reported_as_a_missing_tool(machine: Machine, tmp_path: Path) -> None:
    facts = readings_of(machine.tool(tmp_path))
    for path in ("burnin.tool/cublas.status", "burnin.cublas.gpu", "burnin.cublas.version"):
        reading = facts[path]
        assert isinstance(reading, Unknown)
        assert reading.reason is Reason.TOOL_MISSING


@pytest.mark.parametrize("fault", ["int8_off", "fp8_off", "bf16_off", "int8_late"])
def test_a_wrong_product_of_integers_is_counted(machine: Machine, toolkit: Path, fault: str) -> None:
    facts = readings_of(as_8192(machine.tool(toolkit, state="gpus=1", FAKE_CUBLAS=fault)))
    wrong = facts["burnin.cublas.gpu/0.mismatches"]
    assert isinstance(wrong, int)
    assert wrong == 1 if fault == "int8_late" else wrong >= 8


def test_a_wrong_product_of_bf16_leaves_the_others(machine: Machine, toolkit: Path) -> None:
    facts = readings_of(as_8192(machine.tool(toolkit, state="gpus=1", FAKE_CUBLAS="wrong")))
    assert "returns a wrong product" in why(facts["burnin.cublas.gpu/0.rate"])
    assert isinstance(facts["burnin.cublas.gpu/0.rate_int8"], float)
    assert facts["burnin.cublas.gpu/0.mismatches"] == 0


@pytest.mark.parametrize("fault", ["int8_fails", "int8_fails fp8_off"])
def test_products_that_fail_are_no_proof_and_hide_no_mismatch(machine: Machine, toolkit: Path, fault: str) -> None:
    facts = readings_of(as_8192(machine.tool(toolkit, state="gpus=1", FAKE_CUBLAS=fault)))
    wrong = facts["burnin.cublas.gpu/0.mismatches"]
    assert "cublasLtMatmul returns status 13" in why(facts["burnin.cublas.gpu/0.rate_int8"])
    assert wrong == 8 if "fp8_off" in fault else isinstance(wrong, Unknown)


def test_a_gpu_without_fp8_is_measured_with_int8_alone(machine: Machine, toolkit: Path) -> None:
    facts = readings_of(as_8192(machine.tool(toolkit, state="gpus=1", FAKE_CUBLAS="old")))
    assert "cublasLtMatmulAlgoGetHeuristic returns status 15" in why(facts["burnin.cublas.gpu/0.rate_fp8"])
    assert isinstance(facts["burnin.cublas.gpu/0.rate_int8"], float)
    assert facts["burnin.cublas.gpu/0.mismatches"] == 0


def test_a_record_without_products_of_integers_has_no_number_of_mismatches(machine: Machine, toolkit: Path) -> None:
    (record,) = as_8192(machine.tool(toolkit, state="gpus=1"))
    out = json.loads(record["out"])
    for more in ([], [{"type": "fp8", "why": "unsupported: x"}, {"type": "int8", "why": "unsupported: y"}], "x", [1]):
        facts = readings_of([{**record, "out": json.dumps({**out, "more": more})}])
        assert isinstance(facts["burnin.cublas.gpu/0.mismatches"], Unknown), more
        assert facts["burnin.cublas.gpu/0.rate"] == out["rate"]
    half = [out["more"][0], {"type": "int8", "mismatches": -1}]
    facts = readings_of([{**record, "out": json.dumps({**out, "more": half})}])
    assert isinstance(facts["burnin.cublas.gpu/0.mismatches"], Unknown)


UNTESTED = {
    "FAKE_CUBLAS=status=15": "cublasLtMatmul returns status 15",
    "FAKE_CUBLAS=none": "has no algorithm for bf16 products",
    "FAKE_CUBLAS=crash": "its process ended with wait status 6",
    "init=802": "fabric manager down",
    "gpus=1 context=0:46": "foreign process",
    "driver=11080": "does not work with a driver of CUDA 11",
    "memory=8192": "no memory",
}


@pytest.mark.parametrize("fault", UNTESTED)
def test_an_unmeasurable_value_is_not_tested_and_has_a_reason(machine: Machine, toolkit: Path, fault: str) -> None:
    name, _, value = fault.partition("=")
    env: dict[str, Any] = {name: value} if name.isupper() else {}
    records = machine.tool(toolkit, state="gpus=1" if env else fault if "gpus" in fault else f"gpus=1 {fault}", **env)
    assert len(records) == 1
    assert records[0]["status"] is None
    assert UNTESTED[fault] in records[0]["why"]
    reading = readings_of(records)[f"burnin.tool/{'cublas:0' if records[0]['of'] != 'node' else 'cublas'}.status"]
    assert isinstance(reading, Unknown)
    assert reading.reason is Reason.NOT_TESTED


def test_a_gpu_that_others_use_is_left_alone_and_the_other_is_measured(machine: Machine, toolkit: Path) -> None:
    first, second = machine.tool(toolkit, parts=listed(0, 1, refused="foreign process: python3"))
    assert (first["status"], first["why"]) == (None, "foreign process: python3")
    assert second["status"] == 0


def listed(*numbers: int, refused: str = "") -> dict[str, dict[str, str]]:
    """What NVML reports about these GPUs, in its order; the first is refused, if a reason is given."""
    found = {str(n): {"uuid": uuid(gpu), "pci": f"0000:{0x17 + 16 * gpu:02x}:00.0"} for n, gpu in enumerate(numbers)}
    found["0"]["refused"] = refused
    return found


def test_a_rate_is_that_of_the_gpu_with_the_uuid_and_not_of_the_one_with_the_index(
    machine: Machine, toolkit: Path
) -> None:
    state = "gpus=4 order=3,0,2 context=2:46"
    records = machine.tool(toolkit, state=state, parts=listed(0, 2, 3, 1))
    assert [(each["of"], each["status"]) for each in records] == [
        ("gpu/0", 0), ("gpu/1", None), ("gpu/2", 0), ("gpu/3", None),
    ]  # fmt: skip
    assert records[1]["why"].startswith("foreign process: ")
    assert records[3]["why"] == f"not listed: CUDA lists no GPU with the UUID {uuid(1)}"


def test_without_a_gpu_that_nvml_lists_none_is_measured(machine: Machine, toolkit: Path) -> None:
    (record,) = machine.tool(toolkit, parts={})
    assert (record["of"], record["status"], record["why"]) == ("node", None, "no driver: NVML lists no GPU")


def test_a_gpu_that_fails_does_not_lose_the_other(machine: Machine, toolkit: Path) -> None:
    first, second = machine.tool(toolkit, state="gpus=2 context=0:46")
    assert "foreign process" in first["why"]
    assert second["status"] == 0


def test_a_stop_ends_it_within_a_second(machine: Machine, toolkit: Path) -> None:
    (record,) = machine.tool(toolkit, stop=0.6, seconds=30.0)
    assert record["why"] == "stopped"
    assert machine.ended < 1.6
    assert machine.wall < 3.0


def test_a_product_that_takes_for_ever_is_ended_too(machine: Machine, toolkit: Path) -> None:
    (record,) = machine.tool(toolkit, stop=0.5, seconds=30.0, FAKE_CUBLAS="slow=60000")
    assert record["why"] == "stopped"
    assert machine.ended < 1.5


def test_too_little_time_is_reported_and_nothing_started(machine: Machine, toolkit: Path) -> None:
    (record,) = machine.tool(toolkit, until=2.0)
    assert record["why"] == "stopped: only 2 s were left"


def test_of_several_copies_the_newest_that_the_driver_serves_is_taken(machine: Machine, tmp_path: Path) -> None:
    for place, name in (("a", "libcublasLt.so.11"), ("b", "libcublasLt.so.13"), ("c", "libcublasLt.so.12.4.5.8")):
        stand_in(tmp_path / place, name)
    folders = [tmp_path / place for place in "abc"]
    (old,) = machine.tool(*folders, state="gpus=1")  # a driver of CUDA 12
    assert old["argv"] == [str(tmp_path / "c" / "libcublasLt.so.12.4.5.8")]
    (new,) = machine.tool(*folders, state="gpus=1 driver=13000")
    assert new["argv"] == [str(tmp_path / "b" / "libcublasLt.so.13")]


def test_a_copy_that_cannot_be_opened_gives_way_to_the_next(machine: Machine, toolkit: Path, tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "libcublasLt.so.12").write_text("no library")
    (record,) = machine.tool(tmp_path / "x", toolkit, state="gpus=1")
    assert (record["status"], record["argv"]) == (0, [str(toolkit / "libcublasLt.so.12")])


def test_a_copy_that_everybody_may_change_is_not_opened(tmp_path: Path) -> None:
    file = tmp_path / "libcublasLt.so.12"
    file.write_text("")
    assert cublas_library.find_cublas([str(tmp_path)]) == [(12, str(file))]
    file.chmod(0o666)
    assert cublas_library.find_cublas([str(tmp_path)]) == []


def test_what_is_no_copy_is_not_taken_for_one(tmp_path: Path) -> None:
    for name in ("libcublasLt.so", "libcublasLt.so.12.old", "libcublasLt_static.a", "libcublas.so.12"):
        (tmp_path / name).write_text("")
    (tmp_path / "libcublasLt.so.13").mkdir()
    assert cublas_library.find_cublas([str(tmp_path)]) == []


def test_a_version_in_another_format_is_not_reported(machine: Machine, toolkit: Path) -> None:
    records = machine.tool(toolkit, state="gpus=1", FAKE_CUBLAS_VERSION="11605")
    assert records[0]["version"] is None
    assert "not collected" in why(readings_of(as_8192(records))["burnin.cublas.version"])


def test_random_values_are_of_mean_0_and_variance_1_and_integers_exact() -> None:
    bf16 = forms.CUBLAS_BF16
    normal = [bf16.number(bits) for bits in bf16.values("normal", 1, 50000)]
    assert abs(sum(normal) / 50000) < 0.02
    assert sum(x * x for x in normal) / 50000 == pytest.approx(1, abs=0.03)
    assert {float(n) for n in range(-127, 128)} == set(map(bf16.number, bf16.values("integer", 1, 50000)))
    assert bf16.values("normal", 1, 99) == bf16.values("normal", 1, 99)
    assert bf16.values("normal", 1, 99) != bf16.values("normal", 2, 99)


@pytest.mark.parametrize(("form", "most", "exact"), [("bf16", 45, 2**24), ("fp8", 2, 2**24), ("int8", 127, 2**31)])
def test_every_sum_of_a_product_of_integers_is_exact_in_its_accumulator(form: str, most: int, exact: int) -> None:
    (found,) = [each for each in forms.CUBLAS_EXACT if each.name == form]
    assert {found.number(bits) for bits in found.values("integer", 1, 50000)} == set(range(-most, most + 1))
    assert forms.CUBLAS_SIDE * most**2 <= exact
    if form == "bf16":  # the largest such integer, and one that bf16 represents
        assert forms.CUBLAS_SIDE * (most + 1) ** 2 > exact
        assert [forms.cublas_number(forms.cublas_bits(n)) for n in range(257)] == list(range(257))
        assert forms.cublas_number(forms.cublas_bits(257)) != 257


@pytest.mark.parametrize(
    ("model", "rate", "published", "share"),
    [
        ("NVIDIA H100 80GB HBM3", 1290.1e12, 1290.1e12, 100.0),
        ("NVIDIA H200", 650.3e12, 1300.6e12, 50.0),
        ("NVIDIA H200", Unknown(Reason.NOT_TESTED, "x"), 1300.6e12, Unknown(Reason.NOT_TESTED, "x")),
        *((model, 1e15, Absent, Absent) for model in ("NVIDIA H200 NVL", "NVIDIA H100 PCIe", "NVIDIA B200",
                                                      "NVIDIA A100-SXM4-80GB", "nvidia h200")),
        ("", 1e15, Unknown, Unknown),
    ],
)  # fmt: skip
def test_a_rate_is_compared_only_with_one_that_is_published_for_the_same_type_size_and_model(
    model: str, rate: Reading, published: Any, share: Any
) -> None:
    found = dict(cublas.against_published(model, rate))
    for name, wanted in (("published_fp8", published), ("of_published_fp8", share)):
        value = found[name]
        value = value.reading if isinstance(value, Sourced) else value
        assert isinstance(value, wanted) if isinstance(wanted, type) else value == wanted, name
    assert set(cublas.PUBLISHED) == {"fp8"}
    assert all(rate < 1979e12 for rate in cublas.PUBLISHED["fp8"].values())  # the published peak of H100 and H200


@pytest.mark.parametrize("model", ["NVIDIA H200", "NVIDIA B200", None])
def test_the_share_of_the_published_rate_is_a_fact_of_the_node(
    machine: Machine, toolkit: Path, model: str | None
) -> None:
    about = {"k": "about", "t": 0.1, "gpus": {"0": {"model": model} if model else {}}}
    hello, end = {"k": "hello", "t": 0.0, "wire": 1, "time": 0.0}, {"k": "verdict", "t": 9.0, "status": "whole"}
    tools = [{"t": 1.0, **each} for each in as_8192(machine.tool(toolkit, state="gpus=1"))]
    probe = next(probe for probe in registry().probes if probe.name == "burnin_tools")
    leaves = collect([probe], BurnCapture((hello, about, *tools, end)))
    facts = {path: leaf.reading for path, leaf in leaves.items()}
    rate, value = facts["burnin.cublas.gpu/0.rate_fp8"], facts["burnin.cublas.gpu/0.of_published_fp8"]
    if model == "NVIDIA H200":
        assert isinstance(rate, float)
        assert value == pytest.approx(rate / 1300.6e12 * 100)
    else:
        assert isinstance(value, Absent if model else Unknown)


NONSENSE: list[dict[str, Any]] = [
    {"of": "gpu/../x"}, {"of": "node"}, {"of": "gpu/0", "out": ""}, {"of": "gpu/0", "out": "[]"},
    {"of": "gpu/0", "out": '{"side":8192,"data":"normal","type":"bf16","rate":"fast"}'},
    {"of": "gpu/0", "out": '{"side":8192,"data":"normal","type":"bf16","rate":-1}'},
    {"of": "gpu/0", "out": '{"side":8192,"data":"normal","type":"bf16","rate":0}'},
    {"of": "gpu/0", "out": '{"side":8192,"data":"zeros","type":"bf16","rate":1e15}'},
]  # fmt: skip


@pytest.mark.parametrize("given", NONSENSE)
def test_a_record_that_is_nonsense_gives_no_rate(given: dict[str, Any]) -> None:
    record = {
        "k": "tool",
        "name": "cublas",
        "argv": [],
        "version": "12.4.5",
        "status": 0,
        "out": "",
        "err": "",
        **given,
    }
    rates = [reading for path, reading in readings_of([record]).items() if path.endswith(".rate")]
    assert all(isinstance(reading, Unknown) for reading in rates), rates


OLD = Path("~/.pyenv/versions/3.6.15/bin/python3.6").expanduser()


@pytest.mark.skipif(not OLD.exists(), reason="no Python 3.6 on this machine")
def test_the_oldest_python_runs_it_too(machine: Machine, toolkit: Path) -> None:
    (record,) = machine.tool(toolkit, state="gpus=1", python=str(OLD))
    assert record["status"] == 0, record


@pytest.mark.parametrize("name", [name for name in FILES if name.startswith("cublas")])
def test_no_file_imports_another_at_run_time(name: str) -> None:
    tree = ast.parse((NODE / f"{name}.py").read_text())
    found = [
        node for node in tree.body if isinstance(node, ast.ImportFrom) and str(node.module).startswith("rackcheck")
    ]
    assert found == []
