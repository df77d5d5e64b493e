"""GPUs under load: wrong results, rates of memory, tensor cores and links, and error counters that increased."""

from rackcheck import (
    Absent,
    Class,
    Facts,
    Load,
    Reason,
    Unknown,
    collection,
    flag,
    integer,
    listing,
    probe,
    quantity,
    text,
)
from rackcheck.model.burn_record import Burn, Stage
from rackcheck.model.fact import Reading, Sourced, single
from rackcheck.parse.burnin.readings import (
    again,
    beside,
    cited,
    column,
    figure,
    highest,
    last_half,
    mean,
    mismatches,
    moved,
    rows,
    span,
    stretch,
    untested,
)  # fmt: skip

CAPPED = 0x4
"""Bit of the software power cap in NVML's clock event reasons; a burn-in is meant to reach this cap."""

SETTLE = 1.0
"""Seconds that are skipped at the start of a stage, because NVML's power is a mean over the last second."""

MEASURED = Class.MEASUREMENT

VERIFIED = ("memory", "tensor", "scalar", "links")
"""Stages that compare results with known values."""

FEWEST, EDGE = 10, 3
"""Minimum number of samples of a temperature rise, and number of samples that are averaged at its start and end."""

WARMED = 10.0
"""Minimum temperature rise in degrees that can be compared between GPUs, because sensors report whole degrees."""

NO_LINK = "NVML reports 0 NVLinks for this GPU"

COVERED = 0.9
"""Minimum share of the whole memory that must be tested for a clean result; 98 % of the free memory is tested."""

UNTESTED = ("reserved", "in_use", "left")
"""Names of the facts about memory that was not tested."""

MOST = 64
"""Maximum number of results per GPU that are compared with the results of other GPUs."""


@probe(
    Load(),
    gives={
        "burnin.gpu": collection("GPUs that the driver lists, by its index"),
        "burnin.gpu/*.model": text("Model, as the driver names it", Class.IDENTITY),
        "burnin.gpu/*.uuid": text("UUID, as the driver reports it", Class.IDENTITY),
        "burnin.gpu/*.serial": text("Serial number on the GPU's label", Class.IDENTITY),
        "burnin.gpu/*.pci": text("PCI address: domain, bus, device, function"),
        "burnin.gpu/*.module": integer("Number of the GPU's module on its baseboard, as the driver reports it"),
        "burnin.gpu/*.faults": listing("Faults that were found, by name", MEASURED),
        "burnin.gpu/*.mismatches": integer("Wrong results of any test", Class.COUNTER),
        "burnin.gpu/*.again": text(
            "Whether a problem recurred when the work was repeated, hot and cold",
            MEASURED,
            ("always", "hot", "cold", "at times", "never"),
        ),
        "burnin.gpu/*.odd_sms": listing("SMs whose result differs from their peers'", MEASURED),
        "burnin.gpu/*.memory.mismatches": integer("Wrong values in memory", Class.COUNTER),
        "burnin.gpu/*.memory.coverage": quantity(
            "%", "Share of the GPU's whole memory that was tested with patterns", MEASURED
        ),
        "burnin.gpu/*.memory.reserved": quantity(
            "GiB", "Memory that was not tested because the driver does not offer it to programs", MEASURED
        ),
        "burnin.gpu/*.memory.in_use": quantity(
            "GiB", "Memory that was not tested because it was in use before the test", MEASURED
        ),
        "burnin.gpu/*.memory.left": quantity(
            "GiB", "Memory that was free and not tested, because it is left to the driver or could not be had", MEASURED
        ),
        "burnin.gpu/*.memory.seeds": integer("Number of patterns written to all tested memory in turn", MEASURED),
        "burnin.gpu/*.memory.verify": quantity("GB/s", "Rate of reading and comparing memory", MEASURED),
        "burnin.gpu/*.memory.march": quantity("GB/s", "Rate of comparing and rewriting memory", MEASURED),
        "burnin.gpu/*.memory.copy": quantity("GB/s", "Rate of copies within memory, reads plus writes", MEASURED),
        "burnin.gpu/*.tensor.mismatches": integer("Wrong results of matrix products", Class.COUNTER),
        "burnin.gpu/*.tensor.rate": quantity("TFLOP/s", "Rate of exact bf16 matrix products by mma.sync", MEASURED),
        "burnin.gpu/*.tensor.work_per_clock": quantity("kFLOP", "Work of the tensor cores per cycle", MEASURED),
        "burnin.gpu/*.tensor.clock": quantity("MHz", "Mean SM clock during the tensor stage", MEASURED),
        "burnin.gpu/*.tensor.clock_share": quantity(
            "%", "Mean SM clock during the last half of the tensor stage, as a share of the GPU's highest", MEASURED
        ),
        "burnin.gpu/*.limit": quantity("W", "Power limit in force"),
        "burnin.gpu/*.limit_default": quantity("W", "Default power limit"),
        "burnin.gpu/*.tensor.power": quantity("W", "Mean power during the last half of the tensor stage", MEASURED),
        "burnin.gpu/*.tensor.of_limit": quantity("%", "Mean power as a share of the limit in force", MEASURED),
        "burnin.gpu/*.tensor.capped": quantity(
            "%",
            "Share of samples in the last half of the tensor stage in which the power cap limited the clock",
            MEASURED,
        ),
        "burnin.gpu/*.tensor.pstate": integer(
            "Slowest performance state in the tensor stage; 0 is the fastest", MEASURED
        ),
        "burnin.gpu/*.tensor.energy": quantity("J", "Energy for 10^12 operations", MEASURED),
        "burnin.gpu/*.tensor.rise": quantity("K/W", "Warming over the tensor stage, per watt", MEASURED),
        "burnin.gpu/*.results": listing("Results that must be identical on every GPU, by test and seed", MEASURED),
        "burnin.gpu/*.scalar.mismatches": integer("Wrong results of scalar units", Class.COUNTER),
        "burnin.gpu/*.slowest_sm": quantity("%", "Extra time of the slowest SM over the median SM", MEASURED),
        "burnin.gpu/*.link.mismatches": integer("Wrong values after copies over PCIe or NVLink", Class.COUNTER),
        "burnin.gpu/*.link.h2d": quantity("GB/s", "Rate of copies from host memory", MEASURED),
        "burnin.gpu/*.link.d2h": quantity("GB/s", "Rate of copies to host memory", MEASURED),
        "burnin.gpu/*.link.generation": integer("PCIe generation under load", MEASURED),
        "burnin.gpu/*.link.width": integer("PCIe lanes under load", MEASURED),
        "burnin.gpu/*.link.max_generation": integer("Highest PCIe generation in the GPU's slot"),
        "burnin.gpu/*.link.max_width": integer("Maximum PCIe lanes in the GPU's slot"),
        "burnin.gpu/*.peer": collection("GPUs of the same node that this GPU copied to"),
        "burnin.gpu/*.peer/*.rate": quantity("GB/s", "Rate of copies to that GPU", MEASURED),
        "burnin.gpu/*.peer/*.direct": flag("Whether the driver copies to that GPU without using host memory", MEASURED),
        "burnin.gpu/*.peer/*.of_nvlink": quantity(
            "%", "Rate as a share of the total rate of the GPU's NVLinks; absent without NVLinks", MEASURED
        ),
        "burnin.gpu/*.temperature": quantity("C", "Highest temperature", MEASURED),
        "burnin.gpu/*.memory_temperature": quantity("C", "Highest memory temperature", MEASURED),
        "burnin.gpu/*.throttled": listing("Reasons for a lower clock, other than the power cap", MEASURED),
        "burnin.gpu/*.moved.ecc_corrected": integer("Corrected memory errors during the load", Class.COUNTER),
        "burnin.gpu/*.moved.ecc_uncorrected": integer("Uncorrected memory errors during the load", Class.COUNTER),
        "burnin.gpu/*.moved.remap_failed": integer(
            "Whether a remap of a memory row failed during the load", Class.COUNTER
        ),
        "burnin.gpu/*.moved.remap_pending": integer("Memory rows for which a remap became pending", Class.COUNTER),
        "burnin.gpu/*.moved.replays": integer("PCIe replays during the load", Class.COUNTER),
        "burnin.gpu/*.moved.nvlink_errors": integer("NVLink errors during the load", Class.COUNTER),
        "burnin.gpu/*.moved.xids": integer("Xid messages of the kernel during the load", Class.COUNTER),
    },
)
def burnin_gpu(burn: Burn) -> Facts:
    """Return a burn-in's measurements of each GPU."""
    unseen = next((why for of, why in burn.troubles if of == "node"), "")
    if "gpus" not in burn.hello:
        yield "burnin.gpu", Unknown(Reason.NOT_TESTED, unseen) if unseen else untested(burn, ())
    else:
        yield "burnin.gpu", Unknown(Reason.NOT_TESTED, unseen) if unseen else tuple(burn.gpus)
    for index, about in burn.gpus.items():
        for name in ("model", "uuid", "serial", "pci"):
            if isinstance(about.get(name), str):
                yield f"burnin.gpu/{index}.{name}", about[name]
        for name in ("limit", "limit_default"):
            if isinstance(about.get(name), int | float):
                yield f"burnin.gpu/{index}.{name}", about[name]
        known = (("module", "module"), ("link.max_generation", "link_gen_max"), ("link.max_width", "link_width_max"))
        for name, key in known:
            if isinstance(about.get(key), int):
                yield f"burnin.gpu/{index}.{name}", about[key]
        for name, reading in single(_Gpu(burn, index).facts()):
            yield f"burnin.gpu/{index}.{name}", reading


class _Gpu:
    """The measurements of one GPU in a burn-in."""

    def __init__(self, burn: Burn, index: str) -> None:
        self.burn, self.of, self.about = burn, f"gpu/{index}", burn.gpus[index]
        self.pairs = burn.peers.get(index, ())
        self.peers = [stage for pair in self.pairs for stage in burn.work_of(pair)]
        self.stages = burn.work_of(self.of)

    def facts(self) -> Facts:
        burn, of = self.burn, self.of
        yield "faults", tuple(sorted({fault.name for fault in burn.of_thing(of)}))
        things = [of, *self.pairs]
        count = mismatches(burn, things, self._verified(), VERIFIED, self.peers)
        yield "mismatches", cited(burn, things, count or self._bare() or count if isinstance(count, int) else count)
        yield "again", again(burn, of)
        odd = {f"{int(sm)}" for f in burn.of_thing(of) if f.name == "disagree" and (sm := f.number("sm")) is not None}
        yield "odd_sms", tuple(sorted(odd, key=int)) if odd or self._whole("scalar") else self._untested("scalar")
        yield from self._memory()
        yield from self._tensor()
        yield "results", self._results()
        yield "scalar.mismatches", self._mismatches("scalar")
        yield "slowest_sm", self._slowest()
        yield from self._links()
        yield "temperature", highest(column(burn.samples.get(of, ()), "temp"))
        yield "memory_temperature", highest(column(burn.samples.get(of, ()), "memory_temp"))
        yield "throttled", self._throttled()
        names = ("ecc_corrected", "ecc_uncorrected", "remap_failed", "remap_pending", "replays", "xids")
        yield from ((f"moved.{name}", moved(burn, of, name, VERIFIED)) for name in names)
        linkless = self.about.get("nvlinks") == 0 and not column(burn.samples.get(of, ()), "nvlink_errors")
        yield "moved.nvlink_errors", Absent(NO_LINK) if linkless else moved(burn, of, "nvlink_errors", VERIFIED)

    def _memory(self) -> Facts:
        yield "memory.mismatches", self._mismatches("memory")
        items = [stage for stage in self._of("memory") if not stage.done or stage.number("coverage") is not None]
        share = self._covered(items)
        yield "memory.coverage", share * 100 if isinstance(share, float) else share
        yield from self._uncovered()
        rounds = figure(self.burn, list(self.burn.of_stage("memory", self.of, "rounds")) or items, "work", "lowest")
        yield "memory.seeds", int(rounds) if isinstance(rounds, int | float) else rounds
        for test in ("verify", "march", "copy"):
            yield f"memory.{test}", self._rate("memory", test, 1e9)

    def _covered(self, items: list[Stage]) -> Reading:
        """Return the lowest share of the whole memory that a stage tested.

        The whole memory is what NVML reports, with what the driver reserves; if NVML reports none, or less than was
        tested, it is what CUDA reports.
        """
        share, least = figure(self.burn, items, "coverage", "lowest"), self._least()
        tested, whole = least.number("tested") if least else None, self.about.get("memory")
        if isinstance(share, float) and tested and isinstance(whole, int | float) and whole >= tested:
            return min(share, tested / whole)
        return share

    def _least(self) -> Stage | None:
        """Return the stage that tested the least memory; None if no stage reports how much it tested."""
        found = [stage for stage in self._of("memory") if stage.done and stage.number("tested") is not None]
        return min(found, key=lambda stage: stage.number("tested") or 0.0, default=None)

    def _uncovered(self) -> Facts:
        """Return how much memory was not tested, by reason."""
        least, known = self._least(), self._untested("memory")
        sizes = [
            self.about.get("memory"),
            *(least.number(name) if least else None for name in ("total", "free", "tested")),
        ]
        for name, above, below in zip(UNTESTED, sizes, sizes[1:], strict=False):
            if isinstance(above, int | float) and isinstance(below, int | float) and above >= below:
                yield f"memory.{name}", (above - below) / 2**30
            else:
                yield f"memory.{name}", known

    def _tensor(self) -> Facts:
        burn, work = self.burn, self._of("tensor", "mma")
        yield "tensor.mismatches", self._mismatches("tensor")
        rate, clock = figure(burn, work, "rate"), self._clock(work)
        yield "tensor.rate", rate / 1e12 if isinstance(rate, float) else rate
        yield "tensor.clock", clock / 1e6 if isinstance(clock, float) else clock
        per = rate / clock / 1e3 if isinstance(rate, float) and isinstance(clock, float) and clock > 0 else None
        yield "tensor.work_per_clock", per if per is not None else (rate if isinstance(rate, Unknown) else clock)
        if not work or not all(stage.done for stage in work):
            for name in ("clock_share", "power", "of_limit", "capped", "pstate", "energy", "rise"):
                yield f"tensor.{name}", untested(burn, work)
            return
        found = list(rows(burn, self.of, last_half(work, SETTLE)))
        most, kept = self.about.get("clock_max"), mean(column(found, "clock"))
        kept = kept if isinstance(kept, float) else clock
        if isinstance(kept, float) and isinstance(most, int | float) and most > 0:
            yield "tensor.clock_share", kept / most * 100
        else:
            missing = Unknown(Reason.NOT_TESTED, "the GPU's highest clock was not reported")
            yield "tensor.clock_share", kept if isinstance(kept, Unknown) else missing
        power = mean(column(found, "power"))
        yield "tensor.power", power
        limit = self.about.get("limit")
        if isinstance(power, float) and isinstance(limit, int | float) and limit > 0:
            yield "tensor.of_limit", power / limit * 100
        else:
            yield "tensor.of_limit", Unknown(Reason.NOT_TESTED, "power or power limit was not reported")
        reasons = column(found, "reasons")
        yield "tensor.capped", mean([100.0 if int(bits) & CAPPED else 0.0 for bits in reasons])
        every = list(rows(burn, self.of, [span(stage, SETTLE) for stage in work]))
        states, power = column(every, "pstate"), mean(column(every, "power"))
        yield "tensor.pstate", int(max(states)) if states else Unknown(Reason.NOT_TESTED, "no P-state was reported")
        each = power / rate * 1e12 if isinstance(power, float) and isinstance(rate, float) and rate > 0 else None
        yield (
            "tensor.energy",
            each if each is not None else Unknown(Reason.NOT_TESTED, "power or rate was not reported"),
        )
        yield "tensor.rise", self._rise(work, power)

    def _rise(self, work: list[Stage], power: Reading) -> Reading:
        """Return the warming per watt over the tensor work before its first pause: equal work makes GPUs comparable."""
        temps = column(rows(self.burn, self.of, [stretch(work)]), "temp")
        if len(temps) < FEWEST or not isinstance(power, float) or power <= 0:
            return Unknown(Reason.NOT_TESTED, f"fewer than {FEWEST} temperature samples, or no power samples")
        warmed = sum(temps[-EDGE:]) / EDGE - sum(temps[:EDGE]) / EDGE
        return (
            warmed / power
            if warmed >= WARMED
            else Unknown(Reason.NOT_TESTED, f"the GPU warmed by {warmed:.1f} degrees; the minimum is {WARMED:g}")
        )

    def _slowest(self) -> Reading | Sourced:
        """Return by how many percent the slowest SM took longer than the median SM: the largest value of all tests."""
        found = [s for s in (*self._of("tensor"), *self._of("scalar")) if s.done and s.number("slowest") is not None]
        if not found:
            return self._untested("scalar")
        most = max(found, key=lambda stage: stage.number("slowest") or 0.0)
        source = f"burn-in: SM {int(most.number('slowest_sm') or 0)} in {most.stage} {most.test}"
        return Sourced(((most.number("slowest") or 1.0) - 1) * 100, source)

    def _results(self) -> Reading:
        """Return the hashes of results that must be the same on every GPU, by test and seed."""
        found = [s for s in self.stages if s.done and s.word("hash") and s.number("seed") is not None]
        values = {_work(stage): stage.word("hash") for stage in found}
        if not values:
            return self._untested("tensor")
        return tuple(f"{work}={result}" for work, result in sorted(values.items())[:MOST])

    def _links(self) -> Facts:
        yield "link.mismatches", mismatches(self.burn, self.pairs, self._of("links"), ["links"], self.peers)
        for test in ("h2d", "d2h"):
            yield f"link.{test}", self._rate("links", test, 1e9)
        work = [stage for stage in self._of("links") if stage.done]
        found = list(rows(self.burn, self.of, map(span, work)))
        for fact, name in (("generation", "gen"), ("width", "width")):
            values = column(found, name)
            yield f"link.{fact}", int(min(values)) if values else self._untested("links")
        for pair in self.pairs:
            copies, key = self.burn.work_of(pair), pair.partition("-")[2]
            rate = figure(self.burn, copies, "rate")
            yield f"peer/{key}.rate", rate / 1e9 if isinstance(rate, float) else rate
            direct = figure(self.burn, copies, "direct", "lowest")
            yield f"peer/{key}.direct", bool(direct) if isinstance(direct, float) else direct
            most = self.about.get("nvlink_rate")
            if not isinstance(rate, float):
                yield f"peer/{key}.of_nvlink", rate
            elif isinstance(most, int | float) and most > 0:
                yield f"peer/{key}.of_nvlink", rate / most * 100
            elif self.about.get("nvlinks"):
                why = "the driver does not report the rate of this GPU's NVLinks"
                yield f"peer/{key}.of_nvlink", Unknown(Reason.NOT_COLLECTED, why)
            else:
                yield f"peer/{key}.of_nvlink", Absent("the driver reports no NVLink of this GPU that is up")

    def _clock(self, work: list[Stage]) -> Reading:
        """Return the mean SM clock during `work`: the GPU kernel's measurement, or else the mean of the samples."""
        reading = figure(self.burn, work, "clock")
        return (
            reading if isinstance(reading, float) else mean(column(rows(self.burn, self.of, map(span, work)), "clock"))
        )

    def _bare(self) -> Unknown | None:
        """Return an Unknown if too little GPU memory was tested for a clean result; None if enough was tested."""
        share = self._covered([stage for stage in self._of("memory") if stage.number("coverage") is not None])
        if isinstance(share, float) and share >= COVERED:
            return None
        message = f"{share * 100:.1f} %" if isinstance(share, float) else "an unknown share"
        return Unknown(
            Reason.NOT_TESTED, f"{message} of the GPU's memory was tested; the minimum is {COVERED * 100:g} %"
        )

    def _throttled(self) -> Reading:
        bits = [int(value) for value in column(self.burn.samples.get(self.of, ()), "reasons")]
        found = tuple(word for bit, word in REASONS.items() if any(value & bit for value in bits))
        return found or beside(self.burn, self.of, VERIFIED, "reasons") or ()

    def _of(self, stage: str, test: str = "") -> list[Stage]:
        return list(self.burn.of_stage(stage, self.of, test)) or list(self.burn.of_stage(stage, self.of))

    def _verified(self) -> list[Stage]:
        return [stage for stage in self.stages if stage.number("mismatches") is not None or not stage.done]

    def _whole(self, stage: str) -> bool:
        found = self._of(stage)
        return bool(found) and all(each.done for each in found) and self.burn.whole

    def _untested(self, stage: str) -> Unknown:
        return untested(self.burn, self._of(stage))

    def _rate(self, stage: str, test: str, unit: float) -> Reading:
        work = list(self.burn.of_stage(stage, self.of, test))
        rate = figure(self.burn, work, "rate") if work else self._untested(stage)
        return rate / unit if isinstance(rate, float) else rate

    def _mismatches(self, stage: str) -> Reading | Sourced:
        found = self._of(stage)
        wrong = [f for f in self.burn.of_thing(self.of) if f.word("stage") == stage]
        verified = [each for each in found if each.number("mismatches") is not None or not each.done]
        count = mismatches(self.burn, [self.of] if wrong else [], verified, [stage])
        if isinstance(count, int) and not count and stage == "memory":
            count = self._bare() or 0
        return cited(self.burn, [self.of], count, stage)


def _work(stage: Stage) -> str:
    """Return the name of a piece of work (test, code, seed), which is the same on every GPU that did this work."""
    return " ".join(filter(None, (stage.test or stage.stage, stage.word("code"), str(int(stage.number("seed") or 0)))))


REASONS = {
    0x8: "hardware slowdown", 0x20: "software thermal", 0x40: "hardware thermal", 0x80: "hardware power brake",
}  # fmt: skip
"""Maps the bit of each NVML clock event reason that indicates a problem to its name (NVML API reference)."""
