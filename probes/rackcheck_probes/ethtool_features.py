"""What each network interface does in hardware."""

from rackcheck import Facts, Reason, Shell, Unknown, collection, flag, probe, spell_key
from rackcheck.core.read import ethtool, per_device
from rackcheck_probes.interfaces import HARDWARE

MOST = 200


@probe(
    Shell("ethtool -k {}", each=HARDWARE, seconds=30),
    gives={
        "nic.interface/*.feature": collection("What the kernel can leave to a device, by ethtool's names."),
        "nic.interface/*.feature/*.on": flag("Whether it is left to the device."),
        "nic.interface/*.feature/*.fixed": flag("Whether nobody can change that."),
    },
)
def ethtool_features(answer: str) -> Facts:
    """Read each interface's features."""
    for name, said in per_device.answers(answer):
        item = f"nic.interface/{spell_key(name)}.feature"
        features = ethtool.pairs(said)[1:] if isinstance(said, str) else []
        if not isinstance(said, str):
            yield item, said
        elif not said.startswith("Features for ") or not 0 < len(features) <= MOST:
            yield item, Unknown(Reason.UNPARSABLE, f"no features: {said[:80]!r}")
        else:
            for feature, value in features:
                yield f"{item}/{spell_key(feature)}.on", ethtool.switch(value)
                yield f"{item}/{spell_key(feature)}.fixed", value.endswith("[fixed]")
