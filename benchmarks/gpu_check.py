"""Compare our GPU probes' readings of a real NVIDIA GPU with nvidia-smi on the same machine, and store both.

Runs on a machine with a GPU and no network: it needs Python 3.11, this checkout, and pynvml's one file, which `make
gpu-check-bundle` ships with it; nothing is installed, and nothing on the machine is changed. The program runs as on
every node, through the whole script. Prints the differences and writes one JSON: a recording in the form of
tests/recorded, with nvidia-smi's XML and the comparison. Serial numbers, ids and processes in it are replaced by
made-up ones. Then gpu_burn.py checks the burn-in of one GPU against its goals, and the result is stored as `_burn` in
the same file; an older Python does only that part. The exit status is 1 where a stable fact differs or a goal is not
met, 3 where there was nothing to compare.

It is not in the package: it imports the probes, which rackcheck itself discovers and never imports, and only
developers of rackcheck need it.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import secrets
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
BROUGHT = ROOT / "dist" / "gpu-check"
"""Location of a shipped pynvml.py."""
sys.path[:0] = [str(ROOT), str(ROOT / "probes"), str(ROOT / "benchmarks"), str(BROUGHT)]

os.environ["RACKCHECK_PROBE_INDEX"] = "0"
# Nothing of rackcheck is kept on the machine that is checked, which may have the standard library alone.

import gpu_burn  # noqa: E402  the path to it is made above

if sys.version_info < (3, 11):  # noqa: UP036  the machine's own python3
    print("python3 >= 3.11 is needed to compare the probes with nvidia-smi; the burn-in is compared with its goals")
    sys.exit(gpu_burn.main(sys.argv[1:]))

from rackcheck.model.capture import NodeCapture, Output, named  # noqa: E402  the path to it is made above
from rackcheck.model.fact import VOLATILE, Absent, Reading, Reason, Unknown  # noqa: E402
from rackcheck.model.tree import Leaf  # noqa: E402
from rackcheck.probe.answers import split  # noqa: E402
from rackcheck.probe.collect import collect  # noqa: E402
from rackcheck.probe.contract import AnyProbe, Probe  # noqa: E402
from rackcheck.probe.registry import modules  # noqa: E402
from rackcheck.probe.script import compose  # noqa: E402
from rackcheck.transport.wire import stamped  # noqa: E402

SMI = ("nvidia-smi", "-q", "-x")
TIME = "2026-01-01T00:00:00Z"
IDS = re.compile(r"\b(?:GPU|MIG)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")
TAGS = "serial|chassis_serial_number|gpu_fabric_guid|pdi|clusterUuid|uuid"
KEYS = "serial|fabric_cluster"


def probes() -> list[AnyProbe]:
    """Find the probes that share the driver program."""
    package = import_module("rackcheck_probes")
    question = import_module("rackcheck_probes.gpu.nvml").QUESTION
    loaded = map(import_module, modules(package.__name__, package.__path__))
    found = (value for module in loaded for value in vars(module).values() if isinstance(value, Probe))
    return list({probe.name: probe for probe in found if probe.ask == question}.values())


def collected(probe: AnyProbe) -> tuple[NodeCapture, float]:
    """Run the driver program as on every node; return the answer and its seconds."""
    mark = secrets.token_hex(16)
    question = probe.ask
    assert not hasattr(question, "links")  # only a question to a BMC has links
    began = time.monotonic()
    script = stamped(compose([question], mark)).encode()
    done = subprocess.run(["sh", "-s"], input=script, capture_output=True, check=False)  # noqa: S607
    took = time.monotonic() - began
    why = Unknown(Reason.UNREACHABLE, "the script ended early")
    return split(done.stdout, [question], mark, why).capture, took


def printed() -> tuple[str, float]:
    """Run nvidia-smi as on a node without Python."""
    began = time.monotonic()
    try:
        done = subprocess.run(SMI, capture_output=True, text=True, check=False, timeout=120, errors="replace")  # noqa: S603
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{error}\nended 127\n", time.monotonic() - began
    out = done.stdout if done.stdout.endswith("\n") else f"{done.stdout}\n"
    return f"{out}ended {done.returncode}\n", time.monotonic() - began


def nameless(*texts: str) -> list[str]:
    """Replace serials, ids and processes by made-up ones: equal values stay equal in every text."""
    pids = iter(range(1, 1 << 30))
    unnamed = [re.sub(r"<process_name>.*?</process_name>", "<process_name>x</process_name>", text) for text in texts]
    given = [re.sub(r"<pid>\d+</pid>", lambda _: f"<pid>{next(pids)}</pid>", text) for text in unnamed]
    found: dict[str, None] = {}
    for text in given:
        found |= dict.fromkeys(IDS.findall(text))
        found |= dict.fromkeys(re.findall(rf"<(?:{TAGS})>([^<]{{8,80}})</", text))
        found |= dict.fromkeys(re.findall(rf'"(?:{KEYS})": {{"value": "([^"]{{8,80}})"}}', text))
    true = [old for old in found if re.search("[1-9a-f]", old.removeprefix("0x")) and " " not in old]
    made = {old: _made_up(old, number) for number, old in enumerate(true, 1)}
    for old in sorted(made, key=len, reverse=True):
        given = [text.replace(old, made[old]) for text in given]
    return given


def _made_up(old: str, number: int) -> str:
    """Return an anonymous text of the same shape: zeros, and a number at the end."""
    prefix = next(begin for begin in ("GPU-", "MIG-", "0x", "") if old.startswith(begin))
    body = re.sub("[0-9A-Za-z]", "0", old.removeprefix(prefix))
    return f"{prefix}{body[:-4]}{number:04}"


def shown(reading: Reading) -> Any:
    """Return a reading in the format of our recordings."""
    if isinstance(reading, Absent):
        return {"absent": reading.detail}
    if isinstance(reading, Unknown):
        return {"unknown": reading.reason.value, "detail": reading.detail}
    return list(reading) if isinstance(reading, tuple) else reading


def compared(nvml: Mapping[str, Leaf], smi: Mapping[str, Leaf]) -> dict[str, Any]:
    """Compare the two ways, fact by fact."""
    same: list[str] = []
    kinds: dict[str, dict[str, Any]] = {
        "differ": {},
        "moved": {},
        "only NVML": {},
        "only nvidia-smi": {},
        "neither": {},
    }
    for path in sorted({*nvml, *smi}):
        ours, theirs = (leaves[path].reading if path in leaves else None for leaves in (nvml, smi))
        leaf = nvml.get(path) or smi[path]
        both = {"nvml": shown(ours) if ours is not None else None, "smi": shown(theirs) if theirs is not None else None}
        dumb = [one is None or isinstance(one, Unknown) for one in (ours, theirs)]
        if all(dumb):
            kinds["neither"][path] = both
        elif dumb[1]:
            kinds["only NVML"][path] = both["nvml"]
        elif dumb[0]:
            kinds["only nvidia-smi"][path] = both
        elif ours == theirs or (isinstance(ours, Absent) and isinstance(theirs, Absent)):
            same.append(path)
        else:
            kinds["moved" if leaf.kind.cls in VOLATILE else "differ"][path] = both
    return {"same": same, **kinds}


def report(found: Mapping[str, Any], took: Mapping[str, float]) -> None:
    """Print the most important results."""
    for kind in ("differ", "only nvidia-smi", "neither", "moved"):
        for path, both in found[kind].items():
            print(f"{kind:>15}  {path}  {json.dumps(both)}")
    print(", ".join(f"{len(found[kind])} {kind}" for kind in found))
    print(", ".join(f"{way} {seconds:.2f} s" for way, seconds in took.items()))


def held() -> tuple[dict[str, Any], int]:
    """Collect both ways and compare; returns what is stored, and the exit status."""
    sharing = probes()
    capture, by_nvml = collected(sharing[0])
    ((command, answer),) = capture.commands.items()
    if not isinstance(answer, Output):
        print(f"no answer: {answer}")
        return {"_compared": {"why": str(answer)}}, 3
    loaded = "driver loaded" in answer.out.splitlines()  # a driver that is not loaded would be loaded by the command
    xml, by_smi = printed() if loaded else ("driver not loaded\nended 9\n", 0.0)
    value, xml = nameless(answer.out, xml)
    bus = "".join(f"{row}\n" for row in value.splitlines() if row.startswith(("bus ", "driver loaded")))
    nvml = collect(sharing, NodeCapture({command: Output(answer.status, value, answer.err)}))
    smi = collect(sharing, NodeCapture({command: Output(0, f"{bus}{' '.join(SMI)}\n{xml}")}))
    found = compared(nvml, smi)
    took = {"nvml": round(by_nvml, 2), "nvidia-smi": round(by_smi, 2)}
    kept = {
        "_source": "benchmarks/gpu_check.py on a machine with an NVIDIA GPU; serials, ids and processes are made up",
        "_compared": found,
        "_facts": {path: shown(leaf.reading) for path, leaf in sorted(nvml.items())},
        "_nvidia_smi": xml,
        "_seconds": took,
        **NodeCapture({named(command): Output(answer.status, value, answer.err)}).to_json(),
    }
    report(found, took)
    if not nvml.get("gpu") or not nvml["gpu"].reading or isinstance(nvml["gpu"].reading, (Unknown, Absent)):
        print("no GPU was read, so nothing was compared")
        return kept, 3
    return kept, 1 if found["differ"] else 0


def main(words: Iterable[str]) -> int:
    """Compare, store, burn in, store; an error in one part does not lose the other."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("-o", "--out", type=Path, default=Path("gpu-check.json"), help="the recording to write")
    parser.add_argument("--probes-only", action="store_true", help="skip the burn-in")
    gpu_burn.options_into(parser)
    options = parser.parse_args(list(words))
    try:
        kept, status = held()
    except Exception as error:  # noqa: BLE001  the burn-in still has to run
        print(f"the probes could not be compared with nvidia-smi: {type(error).__name__}: {error}")
        kept, status = {"_compared": {"why": f"{type(error).__name__}: {error}"}}, 3
    gpu_burn.written(options.out, kept)
    if not options.probes_only:
        burnt = gpu_burn.burn(lambda found: gpu_burn.written(options.out, {**kept, "_burn": found}), options)
        gpu_burn.shown(burnt)
        status = 1 if gpu_burn.status(burnt) == 1 else status
    print(f"written: {options.out}")
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
