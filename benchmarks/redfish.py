"""Cost of reading a BMC: GETs, and seconds with a BMC that takes 50 ms for each GET and serves four GETs at once.

The BMCs are recorded ones; they are read with whole collections ($expand) and without, in the default width and in the
greatest width. For comparison, the DMTF's redfish-interop-validator runs on the same server, with a task of the same
kind. A member of a whole collection costs a BMC 30% of a GET: a model, not a measurement of hardware.

    python benchmarks/redfish.py [--recordings FOLDER] [--validator VENV] [--profile FILE] [--without-validator]

Without VENV the validator is installed into a temporary environment. It needs no schemas and no network
beyond the BMC. Without FILE it gets our profile that requires BIOS attributes and firmware versions.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

sys.path.pop(0)  # this folder: one of its files has the name of the DMTF's library
sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from mockup_server import Mockup
from trees import DGX, SUPERMICRO, client, links, tree

from rackcheck.model.documents import LinkPattern
from rackcheck.probe.plan import plan
from rackcheck.probe.registry import registry
from rackcheck.profile import library
from rackcheck.transport import redfish

ROUNDS = 3
LATENCY = 0.05
WORKERS = 4
MEMBER = 0.3 * LATENCY
LONGEST = 1800
"""Time limit of the validator in seconds."""

INTEROP = {
    "SchemaDefinition": "RedfishInteroperabilityProfile.v1_7_0",
    "ProfileName": "BiosAndFirmware",
    "ProfileVersion": "1.0.0",
    "OwningEntity": "benchmark",
    "Protocol": {"MinVersion": "1.0"},
    "Resources": {
        "ComputerSystem": {"PropertyRequirements": {"Bios": {"ReadRequirement": "Recommended"}}},
        "Bios": {"PropertyRequirements": {"Attributes": {"ReadRequirement": "Mandatory"}}},
        "SoftwareInventory": {"PropertyRequirements": {"Version": {"ReadRequirement": "Mandatory"}}},
    },
}


def questions() -> dict[str, tuple[LinkPattern, ...]]:
    """Return what to read: BIOS and firmware, and the plan of each of our profiles."""
    known = registry()
    asked = {"BIOS + firmware": links("bmc_bios", "bmc_firmware")}
    for name in ("h100-dgx", "xeon-performance"):
        wanted = library.load(name, known.catalogue).facts()
        asked[name] = plan(wanted, known.probes, known.catalogue, known.joins).links
    return asked


def ours(name: str, asked: tuple[LinkPattern, ...], limits: redfish.Limits) -> tuple[int, list[float]]:
    """Read a BMC several times; returns its GETs, and the seconds of each time."""
    gets, took = 0, []
    for _ in range(ROUNDS):
        with Mockup(tree(name), latency=LATENCY, workers=WORKERS, expand=True, member=MEMBER) as server:
            began = time.monotonic()
            _, why = redfish.read(client(server), asked, limits)
            took.append(time.monotonic() - began)
        if why is not None:
            sys.exit(f"{name}: {why.detail}")
        gets = sum(server.gets.values())
    return gets, took


def theirs(name: str, program: Path, profile: Path, folder: Path) -> str:
    """Run the validator once; returns its GETs, its seconds and its reported count, or its error."""
    with Mockup(tree(name), latency=LATENCY, workers=WORKERS, expand=True, member=MEMBER, loses=True) as server:
        words = (
            *(str(program), "-u", "root", "-p", "calvin", "-r", server.url, "--authtype", "Session"),
            *("--logdir", str(folder / "logs"), str(profile)),
        )
        began = time.monotonic()
        try:
            done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=folder, timeout=LONGEST)  # noqa: S603
        except subprocess.TimeoutExpired:
            return f"{sum(server.gets.values())} GETs, stopped after {LONGEST} s"
        took = time.monotonic() - began
    rows = [line for line in done.stdout.splitlines() if line.startswith("|") and any(map(str.isdigit, line))]
    if not rows:
        return f"error: {(done.stderr or done.stdout).strip()[-400:]} (status {done.returncode})"
    passed, warned, failed, skipped = (word.strip() for word in rows[-1].strip("|").split("|"))
    found = f"pass {passed}, warn {warned}, fail {failed}, not tested {skipped}"
    return f"{sum(server.gets.values()):5} GETs {took:7.1f} s   its result: {found}"


def installed(folder: Path) -> Path:
    """Install the validator in its own environment; returns its folder."""
    venv.create(folder / "validator", with_pip=True)
    pip = [str(folder / "validator/bin/python"), "-m", "pip", "install", "-q", "redfish-interop-validator"]
    subprocess.run(pip, check=True)  # noqa: S603  a package of the DMTF's
    return folder / "validator"


def main() -> None:
    """Measure, print GETs and seconds."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--recordings", help="the folder with redfish-mockups")
    parser.add_argument("--validator", type=Path, help="a virtual environment with redfish-interop-validator")
    parser.add_argument("--profile", type=Path, help="the interoperability profile for it")
    parser.add_argument("--without-validator", action="store_true", help="measure only this tool")
    given = parser.parse_args()
    if given.recordings:
        os.environ["RACKCHECK_RECORDINGS"] = given.recordings
    forms = {
        f"{'whole collections' if expand else 'members one by one'}, {width} at once": redfish.Limits(
            width=width, expand=expand, deadline=600
        )
        for expand in (False, True)
        for width in (redfish.Limits().width, redfish.WIDEST)
    }
    print(
        f"{LATENCY * 1000:g} ms for a GET, {WORKERS} at once, {MEMBER * 1000:g} ms for a member of a whole collection"
    )
    for name in (SUPERMICRO, DGX):
        print(name)
        for question, asked in questions().items():
            for form, limits in forms.items():
                gets, took = ours(name, asked, limits)
                rounds = ", ".join(f"{t:.2f}" for t in took)
                seconds = f"{statistics.median(took):6.2f} s  ({rounds})"
                print(f"  {question:<16} {form:<30} {gets:5} GETs {seconds}", flush=True)
        if name == DGX:
            print("  (its root is that of a BMC whose whole collections lack names: they are never requested)")
    if given.without_validator:
        return
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        program = (given.validator or installed(folder)).absolute() / "bin/rf_interop_validator"
        profile = given.profile and given.profile.absolute()
        if profile is None:
            profile = folder / "profile.json"
            profile.write_text(json.dumps(INTEROP))
        asks = f"with {profile.name}" if given.profile else "for BIOS attributes and firmware versions"
        print(f"redfish-interop-validator, {asks}, one round")
        for name in (SUPERMICRO, DGX):
            print(f"  {name:<30} {theirs(name, program, profile, folder)}", flush=True)


if __name__ == "__main__":
    main()
