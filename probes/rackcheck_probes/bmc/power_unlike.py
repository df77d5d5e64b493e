"""Power supplies that differ from the other supplies of a node."""

from collections.abc import Mapping

from rackcheck import Absent, Facts, Inputs, Unknown, join
from rackcheck.model.fact import Reading
from rackcheck.probe.majority import Differences, facts_of, gives, unlike

OF_A_MODEL = {"capacity_unlike": "capacity", "firmware_unlike": "firmware"}


@join(
    needs=("psu", "psu/*.model", "psu/*.capacity", "psu/*.firmware"),
    gives={
        **gives(
            "psu/*",
            "The model, if only this supply has it, and more than half of all supplies (at least three) have one "
            "other model.",
        ),
        **gives(
            "psu/*", "The capacity, if it differs from that of most supplies of the same model.", "capacity_unlike"
        ),
        **gives(
            "psu/*", "The firmware, if it differs from that of most supplies of the same model.", "firmware_unlike"
        ),
    },
)
def psu_unlike(inputs: Inputs) -> Facts:
    """Compare the power supplies of a node; two supplies of a rarer model are assumed to be intended."""
    names, hidden = inputs.items("psu")
    models = {name: model for name, model in inputs.table("psu", "model").items() if not isinstance(model, Absent)}
    nothing = dict.fromkeys(names, Differences(doubt=hidden))
    odd = unlike(dict.fromkeys(models, "supply"), {"model": models}, hidden)
    yield from facts_of("psu", {**nothing, **{name: _alone(name, each, models) for name, each in odd.items()}})
    for leaf, setting in OF_A_MODEL.items():
        found = unlike(models, {setting: inputs.table("psu", setting)}, hidden)
        yield from facts_of("psu", {**nothing, **found}, leaf)


def _alone(name: str, found: Differences, models: Mapping[str, Reading]) -> Differences:
    """Return the difference only if no other supply has or may have the same model."""
    others = [model for other, model in models.items() if other != name]
    if not found.values:
        return found
    if models[name] in others:
        return Differences()
    unknown = next((model for model in others if isinstance(model, Unknown)), None)
    return found if unknown is None else Differences(doubt=unknown)
