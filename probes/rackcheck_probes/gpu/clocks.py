"""Clocks of each NVIDIA GPU: current, maximum, configured, and what limits them."""

from rackcheck import Class, Facts, flag, integer, listing, probe, quantity
from rackcheck_probes.gpu.nvml import QUESTION, NvmlFact, NvmlTable, gives, of_gpus
from rackcheck_probes.gpu.nvml_values import limited, pstate, reasons, scaled

MHZ, SECONDS = scaled(1), scaled(1e9)
PARTS = {"sm": "the multiprocessors", "graphics": "graphics", "memory": "the memory", "video": "video"}
FACTS = NvmlTable(
    {
        **{
            f"clock.{part}": NvmlFact(
                f"clock_{part}", MHZ, quantity("MHz", f"The clock of {what} now.", Class.MEASUREMENT)
            )
            for part, what in PARTS.items()
        },
        **{
            f"clock.{part}_max": NvmlFact(f"{part}_max", MHZ, quantity("MHz", f"The highest clock of {what}."))
            for part, what in PARTS.items()
        },
        **{
            f"clock.application_{part}": NvmlFact(
                f"app_{part}",
                MHZ,
                quantity("MHz", f"The applications clock of {PARTS[part]}: the configured value, else the default."),
            )
            for part in ("graphics", "memory")
        },
        **{
            f"clock.application_{part}_default": NvmlFact(
                f"default_app_{part}", MHZ, quantity("MHz", f"The default applications clock of {PARTS[part]}.")
            )
            for part in ("graphics", "memory")
        },
        "clock.event_reasons": NvmlFact(
            "reasons", reasons, listing("The reasons why the clocks are not higher now.", Class.MEASUREMENT)
        ),
        "clock.event_reasons_known": NvmlFact(
            "reasons_supported", reasons, listing("The reasons for lower clocks that this GPU can report.")
        ),
        "clock.limited": NvmlFact(
            "reasons",
            limited,
            flag("Whether heat, a hardware slowdown or the power brake holds the clocks down now.", Class.MEASUREMENT),
        ),
        **{
            f"clock.limited_for.{why}": NvmlFact(
                f"violation_{why}_ns", SECONDS, quantity("s", f"How long {what} held the clocks down.", Class.COUNTER)
            )
            for why, what in (
                ("power", "the power limit"),
                ("sync_boost", "a slower GPU of the sync boost group"),
                ("thermal", "the driver's thermal protection"),
                ("hw_thermal", "the hardware's thermal protection"),
                ("hw_brake", "the external power brake"),
            )
        },
        "pstate": NvmlFact("pstate", pstate, integer("The performance state: 0 is the fastest.", Class.MEASUREMENT)),
    }
)


@probe(QUESTION, gives=gives(FACTS))
def gpu_clocks(answer: str) -> Facts:
    """Read each GPU's clocks."""
    yield from of_gpus(answer, FACTS)
