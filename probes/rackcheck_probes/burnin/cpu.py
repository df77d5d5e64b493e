"""Processors and memory under load: wrong results, rates, and the processor time that the burn-in got."""

from collections.abc import Sequence

from rackcheck import Class, Facts, Load, Reason, Unknown, collection, integer, listing, probe, quantity, text
from rackcheck.model.burn_record import Burn, Stage
from rackcheck.parse.burnin.readings import cited, column, figure, highest, mismatches, untested

STAGES = ("fingerprint", "crypto", "fma", "amx", "triad", "ram")

VERIFIED = ("fingerprint", "crypto", "ram")
"""Stages that compare results with known values on every processor; `fma` and `triad` only measure."""

COVERED = 0.01
"""Share of a NUMA node's memory below which the RAM test did not do its work, so that it proves nothing.

The number is our choice. The shortest stage `ram` (4 s) fills memory for 1.2 s; a socket whose CPUs fill 60 GB/s has
tested more than 3 % of 2 TB.
"""


@probe(
    Load(),
    gives={
        "burnin.cpu.model": text("Processor's name, as the processor reports it", Class.IDENTITY),
        "burnin.cpu.variant": text("Instructions that the kernels used: avx512, avx2, neon or stdlib"),
        "burnin.cpu.mismatches": integer("Wrong results of processors, caches and memory", Class.COUNTER),
        "burnin.cpu.odd": listing("Processors whose result differs from their peers'", Class.MEASUREMENT),
        "burnin.cpu.triad": quantity("GB/s", "Memory bandwidth of all processors together", Class.MEASUREMENT),
        "burnin.cpu.temperature": quantity("C", "Temperature of the hottest processor", Class.MEASUREMENT),
        "burnin.cpu.share": quantity(
            "%", "Share of the requested processor time that the kernels got", Class.MEASUREMENT
        ),
        "burnin.core": collection("Logical processors that were tested"),
        "burnin.core/*.rate": quantity(
            "GFLOP/s", "FP64 operations per second of processor time that the test got", Class.MEASUREMENT
        ),
        "burnin.core/*.share": quantity(
            "%", "FP64 rate as a share of the limit by the core's clock and vector units", Class.MEASUREMENT
        ),
        "burnin.core/*.mismatches": integer("Wrong results", Class.COUNTER),
        "burnin.memory": collection("NUMA nodes whose memory was tested"),
        "burnin.memory/*.tested": quantity("GiB", "Memory tested with patterns", Class.MEASUREMENT),
        "burnin.memory/*.coverage": quantity("%", "Share of the NUMA node's memory that was tested", Class.MEASUREMENT),
        "burnin.memory/*.mismatches": integer("Wrong values", Class.COUNTER),
    },
)
def burnin_cpu(burn: Burn) -> Facts:
    """Return a burn-in's measurements of processors and memory."""
    for fact, name in (("model", "cpu"), ("variant", "variant")):
        value = burn.hello.get(name)
        if isinstance(value, str) and value:
            yield f"burnin.cpu.{fact}", value
    mine = [stage for stage in burn.stages if stage.stage in STAGES and stage.kind in {"cpu", "numa", "node"}]
    things = [f.of for f in burn.faults if f.kind in {"cpu", "numa", "node"}]
    verified = [stage for stage in mine if stage.stage in VERIFIED]
    wrong = [stage for stage in mine if stage.stage not in VERIFIED and stage.number("mismatches")]
    left = _left(burn)
    count = mismatches(burn, things, verified, VERIFIED, wrong)
    memory = {key: list(burn.of_stage("ram", f"numa/{key}")) for key in burn.things("numa")}
    short = next(filter(None, (_uncovered(key, ram) for key, ram in memory.items())), None)
    yield "burnin.cpu.mismatches", cited(burn, things, (left or short or 0) if count == 0 else count)
    odd = {f.key for f in burn.faults if f.kind == "cpu" and f.name == "disagree" and f.number("blame") != 0}
    prints = [stage for stage in verified if stage.stage == "fingerprint"]
    voted = burn.whole and prints and all(stage.done for stage in prints) and left is None
    yield "burnin.cpu.odd", tuple(sorted(odd, key=int)) if odd or voted else left or untested(burn, prints)
    rate = figure(burn, list(burn.of_stage("triad", "node")), "rate")
    yield "burnin.cpu.triad", rate / 1e9 if isinstance(rate, float) else rate
    yield "burnin.cpu.temperature", highest(column(burn.samples.get("node", ()), "temp"))
    share = figure(burn, [s for s in mine if s.done and s.number("share") is not None], "share", "lowest")
    yield "burnin.cpu.share", min(100.0, share * 100) if isinstance(share, float) else share
    for key in burn.things("cpu"):
        yield from _core(burn, key)
    for key, ram in memory.items():
        tested = figure(burn, ram, "tested", "lowest")
        yield f"burnin.memory/{key}.tested", tested / 2**30 if isinstance(tested, float) else tested
        share = figure(burn, ram, "coverage", "lowest")
        yield f"burnin.memory/{key}.coverage", share * 100 if isinstance(share, float) else share
        count = mismatches(burn, [f"numa/{key}"], ram, ["ram"])
        yield f"burnin.memory/{key}.mismatches", (_uncovered(key, ram) or 0) if count == 0 else count


def _left(burn: Burn) -> Unknown | None:
    """Return why a processor or NUMA node that the burn-in may use was not tested; None if all were tested."""
    for name, kind, stage, parts in (("cpus", "cpu", "fingerprint", "CPUs"), ("numa", "numa", "ram", "NUMA nodes")):
        value = burn.hello.get(name)
        if value is None:
            return Unknown(Reason.NOT_TESTED, f"the burn-in does not list the {parts} that it may use")
        for index in value:
            if not any(work.done for work in burn.of_stage(stage, f"{kind}/{index}")):
                return untested(burn, list(burn.of_stage(stage, f"{kind}/{index}")))
    return None


def _uncovered(key: str, ram: Sequence[Stage]) -> Unknown | None:
    """Return that the RAM test of a NUMA node covered almost nothing; None if it covered more."""
    shares = [share for stage in ram if stage.done and (share := stage.number("coverage")) is not None]
    if shares and min(shares) < COVERED:
        why = f"under-loaded: the RAM test covered {min(shares):.2%} of NUMA node {key}, less than {COVERED:.0%}"
        return Unknown(Reason.NOT_TESTED, why)
    return None


def _core(burn: Burn, key: str) -> Facts:
    of = f"cpu/{key}"
    work = list(burn.of_stage("fma", of))
    rate, roof = figure(burn, work, "rate"), figure(burn, work, "roof")
    yield f"burnin.core/{key}.rate", rate / 1e9 if isinstance(rate, float) else rate
    if isinstance(rate, float) and isinstance(roof, float) and roof > 0:
        yield f"burnin.core/{key}.share", rate / roof * 100
    else:
        yield f"burnin.core/{key}.share", roof if not isinstance(roof, float) else rate
    prints = [s for stage in ("fingerprint", "crypto") for s in burn.of_stage(stage, of)]
    wrong = [stage for stage in (*work, *burn.of_stage("amx", of)) if stage.number("mismatches")]
    yield f"burnin.core/{key}.mismatches", mismatches(burn, [of], prints, ["fingerprint", "crypto"], wrong)
