"""The rate of bf16 matrix products with the node's own cuBLASLt, measured on one GPU after the other.

The multiplied matrices have 8192 x 8192 normally distributed random numbers.

The version of cuBLASLt differs between nodes, and the rate depends on this version as well as on the GPU. The version
of cuBLASLt is therefore reported with the rates, and no rule of rackcheck compares rates of different versions.
"""

import re
from collections.abc import Mapping
from typing import Any

from rackcheck.model.catalogue import Kind, collection, quantity, version
from rackcheck.model.fact import Class, Reading, Reason, Unknown, Unreadable, clean
from rackcheck.parse.burnin.tools.answer import ToolFacts, ToolRecord, answer, document, nothing, number

GIVES: Mapping[str, Kind] = {
    "burnin.cublas.version": version("dotted", "The version of the node's cuBLASLt."),
    "burnin.cublas.gpu": collection("The GPUs on which cuBLASLt was to run."),
    "burnin.cublas.gpu/*.rate": quantity("FLOP/s", "The median rate of its bf16 products.", Class.MEASUREMENT),
}

WORK = {"side": 8192, "data": "normal", "type": "bf16"}
"""Size, values and data type of the matrices for which the fact `rate` is defined.

A rate that was measured with matrices of another size, content or data type is reported as not tested.
"""

_GPU = re.compile(r"[0-9]{1,4}")


def read(record: Mapping[str, Any]) -> ToolFacts:
    """Yield the facts of a `tool` record of cublas, for one GPU, or for a node on which no GPU could be tested.

    Raises Unreadable if a field of the record is invalid.
    """
    tool_record = answer(record)
    if not tool_record.of.startswith("gpu/") or not _GPU.fullmatch(tool_record.item):
        yield from nothing(
            GIVES, tool_record.failed or Unknown(Reason.NOT_TESTED, "the record of cublas is not for a GPU")
        )
        return
    if tool_record.version is not None:
        yield "burnin.cublas.version", tool_record.dotted()
    elif tool_record.failed is None:
        yield "burnin.cublas.version", Unknown(Reason.NOT_COLLECTED, "cublas printed no version in the expected form")
    yield "burnin.cublas.gpu", (tool_record.item,)
    yield f"burnin.cublas.gpu/{tool_record.item}.rate", tool_record.failed or _rate(tool_record)


def _rate(record: ToolRecord) -> Reading:
    try:
        found = document(record)
    except Unreadable as error:
        return Unknown(error.reason, clean(str(error)))
    if any(found.get(name) != value for name, value in WORK.items()):
        other = {name: found.get(name) for name in WORK}
        return Unknown(Reason.NOT_TESTED, clean(f"not the expected matrix product: {other}"))
    rate = number(found.get("rate"))
    return rate or Unknown(Reason.UNPARSABLE, f"invalid rate {clean(repr(found.get('rate')), 40)}")
