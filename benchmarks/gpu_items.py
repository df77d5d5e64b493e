"""Measurements of one GPU for `make gpu-check`, each item in a separate process that gpu_burn.py starts.

`python3 gpu_items.py ITEM JSON` writes its results while it runs, one JSON object per line: {"name": value}; a name
that ends with + appends to a list. A driver fault ends only this process.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from gpu_goals import undone
from gpu_meter import Meter, NoMeter, Watch, averages, listed, strongest
from gpu_payload import quick, sampler, trace
from gpu_work import PIECE, SEED, Work, say

if TYPE_CHECKING:
    from collections.abc import Callable


def about(work: Work) -> None:
    """Return the GPU's properties, and other users of it."""
    driver = work.driver()
    device = driver.whole("cuDeviceGet", work.gpu)
    described = work.node.cuda_described(driver, device)
    described.pop("uuid")
    say(device=described, cuda=driver.whole("cuDriverGetVersion"), gpus=driver.whole("cuDeviceGetCount"))
    try:
        meter = Meter(described["pci"], work.gpu)
    except NoMeter as error:
        say(nvml=str(error))
        return
    say(driver=meter.driver, limit=meter.limit(), persistence=meter.persistence(), others=meter.others())


def binding(work: Work) -> None:
    """Find the CUDA device of every GPU that NVML lists, as a burn-in does: by UUID, then by PCI address."""
    driver = work.driver()
    parts = {index: {"uuid": uuid, "pci": pci} for index, (uuid, pci) in enumerate(listed())}
    devices = work.node.GpuDevices(driver, driver.whole("cuDeviceGetCount"), parts)
    say(listed=len(parts), bound=len(devices.peers), others=len(devices.extra))


def numa(work: Work) -> None:
    """Copy between the GPU and memory of each NUMA node, alternating; the node is chosen by the processors used."""
    root, allowed = Path(work.given["root"] or "/"), os.sched_getaffinity(0)
    text = (root / "sys/bus/pci/devices" / work.given["pci"].lower() / "numa_node").read_text("ascii")
    nodes = {int(path.parent.name[4:]): cpus(path.read_text("ascii")) & allowed
             for path in root.glob("sys/devices/system/node/node[0-9]*/cpulist")}  # fmt: skip
    nodes = {number: each for number, each in nodes.items() if each}
    near = int(text)
    say(near=near, nodes=sorted(nodes))
    if near not in nodes or len(nodes) < 2:
        say(why="tool missing: this process may not use processors of the GPU's NUMA node and of another one")
        return
    taken: dict[int, list[float]] = {number: [] for number in nodes}
    turns = 2 * max(1, round(2 * min(1.0, work.scale)))
    for turn in range(turns):
        for number in sorted(nodes, reverse=bool(turn % 2)):
            os.sched_setaffinity(0, nodes[number])
            records = work.burn(("links", 2.0 * min(1.0, work.scale * 5)))
            rates = [each["rate"] for each in records if each.get("test") in ("h2d", "d2h") and "rate" in each]
            if len(rates) < 2:
                say(why=next((each["why"] for each in records if "why" in each), "no copy was measured"))
                return
            taken[number].append(min(rates))
    os.sched_setaffinity(0, allowed)
    rates_of = {number: statistics.median(each) for number, each in taken.items()}
    say(rates=rates_of, turns=turns, ratio=rates_of[near] / max(each for n, each in rates_of.items() if n != near))


def cpus(text: str) -> set[int]:
    """Return the processors of a list such as `0-3,8`."""
    ends = [part.partition("-") for part in text.strip().split(",") if part]
    return {cpu for first, _, last in ends for cpu in range(int(first), int(last or first) + 1)}


CLEAN = 3.0
"""Seconds of each stage of a full clean run."""


def clean(work: Work) -> None:
    """Run each stage once, and compare the memory checksum with this CPU's.

    The short stages of a trial may end before each of their tests had a turn, if the machine is busy: then these stages
    are run again for longer, at most for the time of a full run. A run with a finding is not repeated.
    """
    seconds = CLEAN * min(1.0, work.scale)
    records: list[dict[str, Any]] = []
    left = ["memory", "tensor", "scalar", "links", "together"]
    while True:
        again = work.burn(*((stage, seconds) for stage in left))
        records = [each for each in records if each.get("stage") not in left] + again
        stages = [each for each in records if each["k"] == "stage"]
        found = {f"{each['stage']}.{each['test']}": each for each in stages}
        wrong = any(each["k"] == "error" for each in records) or any(each.get("mismatches") for each in stages)
        lacking = [*undone(found), *(["memory.checksum"] if "memory.checksum" not in found else [])]
        short = {name.partition(".")[0] for name in lacking}
        left = [stage for stage in left if stage in short]
        if wrong or seconds >= CLEAN or not left:
            break
        seconds = min(CLEAN, 4 * seconds)
    keep = ("status", "why", "rate", "unit", "mismatches", "hash", "coverage", "clock", "sms", "slowest", "code")
    say(errors=[each for each in records if each["k"] == "error"][:20])
    say(seconds=seconds, stages={name: {key: each[key] for key in keep if key in each} for name, each in found.items()})
    summed = next((each for each in stages if each["stage"] == "memory" and each["test"] == "checksum"), None)
    if summed is None:
        return
    seed = next(each["seed"] for each in stages if each["stage"] == "memory" and each["test"] == "verify")
    now, lines = work.node.gpu_mix(seed), int(summed["work"]) // work.node.GPU_LINE
    golden = work.node.gpu_checksum(work.node.gpu_pattern(now, place) for place in range(lines))
    say(checksum={"gpu": summed["hash"], "cpu": f"{golden:016x}", "lines": lines})


def ptx(work: Work) -> None:
    """Let the driver translate the PTX, and compare its results with the machine code for this chip's generation."""
    stages = (("tensor", 0.5), ("scalar", 0.5))
    found: dict[str, dict[str, Any]] = {}
    for way in ("made", "ptx"):
        began = work.clock()
        records = work.burn(*stages, only="ptx" if way == "ptx" else "")
        done = [each for each in records if each["k"] == "stage" and each["status"] == "done"]
        found[way] = {f"{each['stage']}.{each['test']}": each["hash"] for each in done if "hash" in each}
        say(**{
            f"{way}_code": sorted({each["code"] for each in done if "code" in each}),
            f"{way}_rates": {each["test"]: each["rate"] for each in done if "rate" in each},
            f"{way}_took": work.clock() - began, f"{way}_errors": sum(each["k"] == "error" for each in records),
        })  # fmt: skip
    say(same=bool(found["ptx"]) and found["ptx"] == found["made"], hashes=found["ptx"])


RATES = ("copy", "driver", "verify", "march", "march_down")


def rates(work: Work) -> None:
    """Verify, march, and copy with our kernel and with the driver's, alternating."""
    names = work.node
    names.CUDA_CALLS["cuMemcpyDtoDAsync_v2"] = "ddzp"
    driver = work.driver()
    bench = work.bench(driver)
    memory = names.GpuMemory(driver)
    at, first, places = max(memory.pieces, key=lambda piece: piece[2])
    stream, slot = bench.stream(), bench.slots(1)[0]
    half, sizes, flip = places // 2, dict.fromkeys(RATES, 1 << 16), 0
    stretch = 8 * bench.threads  # number of words that a block of march takes at a time
    taken: dict[str, list[float]] = {kind: [] for kind in sizes}
    found, other = 0, at + half * names.GPU_LINE

    def words(*numbers: int) -> list[Any]:
        return [names.ctypes.c_uint64(number) for number in numbers]

    bench.go(slot, stream, "fill", *words(at, first, half, SEED, 0), report=False)
    work.finish(bench.wait(slot, "fill"))
    for turn in range(-6, work.turns):  # before turn 0, finds the amount of work that takes 20 ms
        for kind in list(sizes):
            count = min(sizes[kind], half)
            if kind == "driver":
                try:
                    driver.call("cuEventRecord", slot.begin, stream)
                    driver.call("cuMemcpyDtoDAsync_v2", other, at, count * names.GPU_LINE, stream)
                    driver.call("cuEventRecord", slot.end, stream)
                    driver.call("cuEventRecord", slot.done, stream)
                    slot.reports = False
                except names.CudaTrouble as trouble:
                    say(driver_copy=str(trouble))
                    del sizes[kind]
                    continue
            elif kind == "copy":
                bench.go(slot, stream, kind, *words(other, at, count), report=False)
            else:
                march = kind.startswith("march")
                count = half if march else count  # all words of this half have the same flip
                top = [(count - 1) // stretch * stretch + 1 if kind == "march_down" else 0] if march else []
                bench.go(slot, stream, "march" if march else kind, *words(at, first, count, SEED, flip, *top),
                         grid=bench.blocks("march") if march else 0)  # fmt: skip
            seconds, report = work.finish(bench.wait(slot, kind))
            found += names.gpu_ring(report)[0] if report else 0
            flip ^= names.GPU_MASK if kind.startswith("march") else 0
            sizes[kind] = max(1, min(int(count * 0.02 / seconds), 4 * count))
            if turn >= 0:
                taken[kind].append(count * names.GPU_LINE * (1 if kind == "verify" else 2) / seconds)
    say(mismatches=found, coverage=memory.coverage(), turns=work.turns)
    middle = {kind: statistics.median(each) for kind, each in taken.items() if each}
    say(rates=middle, spread={kind: [min(each), max(each)] for kind, each in taken.items() if each})
    best = max(middle[kind] for kind in ("copy", "driver") if kind in middle)
    say(best_copy=best, **{f"{kind}_ratio": middle[kind] / best for kind in ("verify", "march", "march_down")})


def ready(work: Work, product: Any) -> None:
    """Fill matrices, choose the fastest algorithm, and check the library's product; raises CublasTrouble."""
    product.fill("normal", SEED)
    product.settle()
    if product.wrong():
        raise work.node.CublasTrouble("unsupported: cuBLASLt returns a wrong product")


def yardstick(work: Work) -> None:
    """Multiply exact tiles with our kernel and normal random numbers with cuBLASLt, alternating."""
    driver = work.driver()
    bench = work.bench(driver)
    product = work.cublas(driver)
    ready(work, product)
    ours: list[float] = []
    theirs: list[float] = []
    piece = PIECE * min(1.0, work.scale * 4)
    for turn in range(-2, work.turns):
        mine, its = work.tensor(bench, piece), product.rates(work.clock() + piece)
        if turn >= 0:
            ours.append(mine)
            theirs.append(statistics.median(its))
    a, b = statistics.median(ours), statistics.median(theirs)
    say(mma=a, cublas=b, ratio=a / b, turns=len(ours), spread=[[min(ours), max(ours)], [min(theirs), max(theirs)]])


def data(work: Work) -> None:
    """Multiply integers and normal random numbers with cuBLASLt, alternating, and measure the power of each."""
    driver = work.driver()
    work.bench(driver)
    product, meter = work.cublas(driver), work.meter()
    ready(work, product)
    say(limit=meter.limit())
    rows: dict[str, list[list[dict[str, float]]]] = {"integer": [], "normal": []}
    reached: dict[str, list[float]] = {"integer": [], "normal": []}
    product.rates(work.clock() + 5.0 * work.scale)  # warm
    for kind in ("integer", "normal", "normal", "integer"):
        product.fill(kind, SEED)
        with Watch(meter) as watch:
            reached[kind] += product.rates(work.clock() + 10.0 * work.scale)
        rows[kind].append(watch.rows)
    means: dict[str, Any] = {}
    for kind, parts in rows.items():
        each = [averages(part) for part in parts]
        means[kind] = {
            name: statistics.mean(values) if values else None
            for name in ("power", "clock", "at_cap")
            for values in [[part[name] for part in each if part[name] is not None]]
        }
        means[kind]["rate"] = statistics.median(reached[kind])
    say(means=means)
    one, other = means["integer"], means["normal"]
    if one["power"] and other["power"]:
        say(power_ratio=one["power"] / other["power"])
    else:
        say(why_power_ratio="the energy counter did not move")
    if one["clock"] and other["clock"]:
        say(clock_ratio=one["clock"] / other["clock"])


def cap(work: Work) -> None:
    """Run the tensor stage alone, and measure its power."""
    bench, meter = work.bench(work.driver()), work.meter()
    limit = meter.limit()
    seconds = 16.0 * work.scale
    say(limit=limit, seconds=seconds)
    with Watch(meter) as watch:
        rate = work.tensor(bench, seconds)
    begun = watch.rows[0]["t"]
    loaded = [row for row in watch.rows if row["t"] > begun + 0.3 * seconds]
    say(rate=rate, **averages(loaded))
    say(trace=[{name: round(value - begun if name == "t" else value, 3) for name, value in row.items()}
               for row in watch.rows])  # fmt: skip
    window = strongest(watch.rows, 10.0 * min(1.0, work.scale))
    say(window=window, share=window / limit if window and limit else None)
    if not window:
        say(why_share="the energy counter did not move, or not for 10 s")


NAN = (0xFF ^ 146) << 23
"""Bits that turn a number of 2^19 to 2^20, as every third sum of a tile is, into NaN."""


def inject(work: Work) -> None:
    """Inject faults on the device, each in its own run: in memory, in sums of a tile, in chains; check their detection.

    A memory fault counts as located where its address is reported, an SM fault where its number is.
    """
    driver = work.driver()
    size = int(work.given["memory"])
    sms = driver.whole("cuDeviceGetAttribute", 16, driver.whole("cuDeviceGet", work.gpu))
    line = work.node.GPU_LINE
    faults: list[tuple[str, str, dict[str, int]]] = []
    for part, flip in ((0.0, 1), (0.1, 1 << 63), (0.37, 0x8001), (0.61, 0xFFFF0000), (0.8, (1 << 64) - 1)):
        faults.append(("memory", "mismatch", {"place": int(size * part) // line, "flip": flip}))
    for sm, bits in ((0, 1), (sms // 3, 1 << 31), (sms - 1, 0x00300000)):
        faults += [("tensor", "mismatch", {"sm": sm, "bits": bits}), ("scalar", "", {"sm": sm, "bits": bits})]
    faults.append(("tensor", "not finite", {"sm": sms // 2, "bits": NAN}))
    for stage, name, fault in faults:
        seconds = 1.0 * min(1.0, work.scale * 5)
        records = work.burn((stage, seconds), inject=fault)
        if any(each.get("status") == "not tested" for each in records):
            # A trial on a busy machine: no round was whole.
            records = work.burn((stage, 10 * seconds), inject=fault)
        named = [each for each in records if each["k"] == "error" and (not name or each["name"] == name)]
        if "place" in fault:
            here = [each for each in named if int(str(each.get("address", "-1")), 16) == fault["place"] * line]
            bits = [each for each in here if each.get("bits") == bin(fault["flip"]).count("1")]
        else:
            here = bits = [each for each in named if each.get("sm") == fault["sm"]]
        astray = [each for each in records if each["k"] == "error" and each not in here]
        if stage == "tensor":  # one fault may be reported as both
            astray = [each for each in astray if each.get("sm") != fault["sm"]]
        answer = [f"{each.get('why')}" for each in records if each.get("status") == "not tested"]
        say(**{"faults+": [{
            "stage": stage, "name": name, **{key: hex(value) for key, value in fault.items()}, "found": bool(named),
            "placed": bool(bits), "astray": len(astray), "why": answer[:1],
        }]})  # fmt: skip


def seeds(work: Work) -> None:
    """Write seed after seed through nearly all memory for two seconds."""
    records = work.burn(("memory", 2.0 * min(1.0, work.scale * 10)))
    done = {each["test"]: each for each in records if each["k"] == "stage"}
    if "rounds" not in done:
        say(why=next((each["why"] for each in done.values() if "why" in each), "no round was whole in two seconds"))
        return
    say(seeds=done["rounds"]["work"], seconds=done["rounds"]["seconds"], coverage=done["rounds"]["coverage"])
    say(**{name: done[name]["rate"] for name in ("fill", "march", "march down", "verify", "copy") if name in done})


ITEMS: dict[str, Callable[[Work], None]] = {
    "about": about, "binding": binding, "clean": clean, "ptx": ptx, "rates": rates, "yardstick": yardstick,
    "seeds": seeds, "quick": quick, "inject": inject, "numa": numa, "cap": cap, "data": data,
    "trace": trace, "sampler": sampler,
}  # fmt: skip


def main(words: list[str]) -> int:
    """Run one item; the last line states the error where it failed."""
    work = Work(json.loads(words[1]))
    try:
        ITEMS[words[0]](work)
    except NoMeter as error:
        say(why=f"no driver: {error}")
    except Exception as error:  # noqa: BLE001  any exception is reported as this item's result
        why = getattr(error, "why", None)
        known = str(error) if isinstance(error, work.node.CublasTrouble) else f"{type(error).__name__}: {error}"
        say(why=why() if callable(why) else known)
    return 0


if __name__ == "__main__":
    code = main(sys.argv[1:])
    sys.stdout.flush()
    os._exit(code)  # threads of the driver's watch may still wait
