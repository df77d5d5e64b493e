"""The matrix units (AMX) of Intel processors under load: wrong products, and rates beside the limit by the clock."""

from rackcheck import Class, Facts, Load, Reason, Unknown, integer, probe, quantity
from rackcheck.model.burn_record import Burn
from rackcheck.model.fact import Absent, Reading
from rackcheck.parse.burnin.readings import VERIFYING, figure, untested

AMX = {"int8": "TOP/s", "bf16": "TFLOP/s"}
"""The types of operands of the stage `amx`, and the unit of their rate."""


@probe(
    Load(),
    gives={
        **{
            f"burnin.core/*.amx.{kind}": quantity(
                unit, f"Products of {kind} per second of processor time on the matrix unit (AMX)", Class.MEASUREMENT
            )
            for kind, unit in AMX.items()
        },
        "burnin.core/*.amx.share": quantity(
            "%", "The lower of these rates as a share of the limit by the core's clock", Class.MEASUREMENT
        ),
        "burnin.core/*.amx.mismatches": integer("Wrong products on the matrix unit (AMX)", Class.COUNTER),
    },
)
def burnin_amx(burn: Burn) -> Facts:
    """Return the products of each processor's matrix unit; absent on a processor that has none."""
    types = burn.hello.get("amx")
    none: Reading | None = None
    if not isinstance(types, str):
        none = Unknown(Reason.NOT_TESTED, "the burn-in does not report whether the processor has AMX")
    elif not types:
        none = Absent("the processor has no AMX")
    for key in burn.things("cpu"):
        wrong = _wrong(burn, f"cpu/{key}")
        found = dict.fromkeys((*AMX, "share", "mismatches"), none) if none else _core(burn, key, str(types).split())
        for name, reading in found.items():
            yield f"burnin.core/{key}.amx.{name}", wrong if wrong and name == "mismatches" else reading


def _wrong(burn: Burn, of: str) -> int:
    """Return how many wrong products the records of a processor show."""
    faults = [fault for fault in burn.of_thing(of) if fault.word("stage") == "amx" and fault.name in VERIFYING]
    return max(len(faults), sum(int(stage.number("mismatches") or 0) for stage in burn.of_stage("amx", of)))


def _core(burn: Burn, key: str, types: list[str]) -> dict[str, Reading]:
    """Return the facts of a processor whose matrix unit has these types of operands."""
    work = [*burn.of_stage("amx", f"cpu/{key}"), *burn.of_stage("amx", "node")]
    found: dict[str, Reading] = {}
    shares: list[Reading] = []
    for kind in AMX:
        mine = [stage for stage in work if stage.test == kind or not stage.done]
        rate, roof = figure(burn, mine, "rate"), figure(burn, mine, "roof")
        found[kind] = rate / 1e12 if isinstance(rate, float) else rate
        if kind not in types:
            found[kind] = Absent(f"the matrix unit has no {kind}")
        elif isinstance(rate, float) and isinstance(roof, float) and roof > 0:
            shares.append(rate / roof * 100)
        else:
            shares.append(roof if not isinstance(roof, float) else rate)
    unknown = next((share for share in shares if not isinstance(share, float)), None)
    found["share"] = unknown or min(
        (share for share in shares if isinstance(share, float)), default=untested(burn, work)
    )
    verified = {stage.test for stage in work if stage.done and stage.number("mismatches") is not None}
    missing = next((kind for kind in types if kind not in verified), "")
    if not burn.whole or not all(stage.done for stage in work):
        found["mismatches"] = untested(burn, work)
    elif missing:
        found["mismatches"] = Unknown(Reason.NOT_TESTED, f"the burn-in reports no product of {missing}")
    else:
        found["mismatches"] = 0
    return found
