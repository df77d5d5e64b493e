"""Facts of the NVIDIA driver on the whole node: CUDA version, NVML version, and confidential computing."""

from rackcheck import Class, Facts, flag, probe, text, version
from rackcheck_probes.gpu.nvml import QUESTION, NvmlFact, gives, of_driver
from rackcheck_probes.gpu.nvml_values import one_of, unchanged, yes

MODE, TOOLS = one_of("off", "on"), one_of("off", "on")
ENVIRONMENT = one_of("unavailable", "simulation", "production")
READY = "Whether confidential GPUs accept work; always true without confidential computing."
FACTS = {
    "cuda": NvmlFact("cuda", unchanged, version("dotted", "The newest CUDA that the driver supports.")),
    "library": NvmlFact("nvml", unchanged, version("dotted", "The version of the driver's management library.")),
    "confidential.mode": NvmlFact("cc_mode", MODE, text("Confidential computing: on, off; absent if unsupported.")),
    "confidential.environment": NvmlFact(
        "cc_environment",
        ENVIRONMENT,
        text("The environment of confidential computing: unavailable, simulation, production."),
    ),
    "confidential.devtools": NvmlFact("cc_devtools", TOOLS, text("Whether debuggers are allowed: off, on.")),
    "confidential.ready": NvmlFact("cc_ready", yes, flag(READY, Class.MEASUREMENT)),
}


@probe(QUESTION, gives=gives(FACTS, "driver"))
def driver(answer: str) -> Facts:
    """Read the facts of the NVIDIA driver: CUDA, NVML and confidential computing."""
    yield from of_driver(answer, FACTS)
