"""The rates of matrix products with the node's own cuBLASLt, measured on one GPU after the other.

The multiplied matrices have 8192 x 8192 elements: normally distributed random numbers as bf16, and integers as bf16,
fp8 and int8. The products of integers are exact, so a wrong element is a fault of the GPU.

The version of cuBLASLt differs between nodes, and the rate depends on this version as well as on the GPU. The version
of cuBLASLt is therefore reported with the rates, and no rule of rackcheck compares rates of different versions.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from rackcheck.model.catalogue import Kind, collection, integer, quantity, version
from rackcheck.model.fact import Absent, Class, Reading, Reason, Sourced, Unknown, Unreadable, clean
from rackcheck.model.regex import regex
from rackcheck.parse.burnin.tools.answer import ToolFacts, ToolRecord, answer, document, nothing, number

GIVES: Mapping[str, Kind] = {
    "burnin.cublas.version": version("dotted", "The version of the node's cuBLASLt."),
    "burnin.cublas.gpu": collection("The GPUs on which cuBLASLt was to run."),
    "burnin.cublas.gpu/*.rate": quantity("FLOP/s", "The median rate of its bf16 products.", Class.MEASUREMENT),
    "burnin.cublas.gpu/*.rate_bf16_integer": quantity(
        "FLOP/s", "The median rate of its bf16 products of integers.", Class.MEASUREMENT
    ),
    "burnin.cublas.gpu/*.rate_fp8": quantity("FLOP/s", "The median rate of its fp8 products.", Class.MEASUREMENT),
    "burnin.cublas.gpu/*.rate_int8": quantity("FLOP/s", "The median rate of its int8 products.", Class.MEASUREMENT),
    "burnin.cublas.gpu/*.mismatches": integer("Wrong elements of its products of integers.", Class.COUNTER),
}

WORK = {
    "rate": {"side": 8192, "data": "normal", "type": "bf16"},
    "rate_bf16_integer": {"side": 8192, "data": "integer", "type": "bf16"},
    "rate_fp8": {"side": 8192, "data": "integer", "type": "fp8"},
    "rate_int8": {"side": 8192, "data": "integer", "type": "int8"},
}
"""Size, values and data type of the matrices for which each fact is defined.

A rate that was measured with matrices of another size, content or data type is reported as not tested.
"""

PUBLISHED: Mapping[str, Mapping[str, float]] = {
    "fp8": {"NVIDIA H100 80GB HBM3": 1290.1e12, "NVIDIA H200": 1300.6e12},
}
"""Published rates of cuBLASLt for products of 8192 x 8192 matrices, by type and by the driver's name of the model.

Source: Azure/AI-benchmarking-guide, Azure_Results/ND_H100_v5_results.md and ND_H200_v5_results.md (FLR-033 and FLR-037
in facts): random data, after 10,000 products that were not measured. No source was found for bf16 or int8 products of
this size, or for another model: the same guide has fp16 on A100 (253.7 TFLOP/s), and other sizes. A rate of another
tool (gpu-fryer), or the best of many sizes, is no rate of this product.
"""

PUBLISHED_GIVES: Mapping[str, Kind] = {
    "burnin.cublas.gpu/*.published_fp8": quantity(
        "FLOP/s", "A published rate of cuBLASLt for fp8 products of this size on this model.", Class.MEASUREMENT
    ),
    "burnin.cublas.gpu/*.of_published_fp8": quantity(
        "%", "The median rate of its fp8 products as a share of the published rate.", Class.MEASUREMENT
    ),
}

_SOURCE = "Azure/AI-benchmarking-guide, Azure_Results: random data; its versions of library and driver may differ"

_OLDER = Unknown(Reason.NOT_TESTED, "the burn-in has no products of integers as bf16")

_GPU = regex(r"[0-9]{1,4}")


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
    for leaf, reading in _products(tool_record):
        yield f"burnin.cublas.gpu/{tool_record.item}.{leaf}", reading


def against_published(model: str, rate: Reading) -> Iterator[tuple[str, Reading | Sourced]]:
    """Yield the published rate of fp8 products on a model of GPU, and a measured rate as a share of it.

    Both are absent if no rate is published for the model, and unknown if the model is unknown, that is, empty.
    """
    known = PUBLISHED["fp8"].get(model)
    if known is None:
        none: Reading = Absent(f"no published rate of fp8 products of 8192 x 8192 was found for {clean(model, 60)}")
        none = none if model else Unknown(Reason.NOT_COLLECTED, "the driver reports no model of this GPU")
        yield "published_fp8", none
        yield "of_published_fp8", none
        return
    yield "published_fp8", Sourced(known, _SOURCE)
    yield "of_published_fp8", rate / known * 100 if isinstance(rate, float) else rate


def _products(record: ToolRecord) -> Iterator[tuple[str, Reading]]:
    """Yield the rate of each form of product, and the sum of the mismatches of those with integers."""
    found: Mapping[str, Any] = {}
    failed: Unknown | None = record.failed
    try:
        found = {} if failed else document(record)
    except Unreadable as error:
        failed = Unknown(error.reason, clean(str(error)))
    more = found.get("more", [])
    listed = [each for each in more if isinstance(each, dict)] if isinstance(more, list) else []
    of_type = {str(each.get("type")): each for each in listed}
    older = bool(listed) and "bf16" not in of_type  # before there were products of integers as bf16
    wrong: list[Reading] = []
    for leaf, work in WORK.items():
        each = found if leaf == "rate" else of_type.get(str(work["type"]), {})
        if leaf == "rate_bf16_integer" and older:
            yield leaf, failed or _OLDER
            continue
        yield leaf, failed or _rate(each, work)
        if leaf != "rate" and not str(each.get("why", "")).startswith("unsupported"):
            wrong.append(failed or _mismatches(each, work))
    known = [count for count in wrong if isinstance(count, int)]
    lost = next((reading for reading in wrong if isinstance(reading, Unknown)), None)
    none = Unknown(Reason.NOT_TESTED, "cuBLASLt multiplied no integers on this GPU")
    yield "mismatches", failed or (lost if lost and not any(known) else sum(known) if known else none)


def _rate(found: Mapping[str, Any], work: Mapping[str, Any]) -> Reading:
    if isinstance(found.get("why"), str):
        return Unknown(Reason.NOT_TESTED, clean(found["why"]))
    if any(found.get(name) != value for name, value in work.items()):
        other = {name: found.get(name) for name in work}
        return Unknown(Reason.NOT_TESTED, clean(f"not the expected matrix product: {other}"))
    rate = number(found.get("rate"))
    return rate or Unknown(Reason.UNPARSABLE, f"invalid rate {clean(repr(found.get('rate')), 40)}")


def _mismatches(found: Mapping[str, Any], work: Mapping[str, Any]) -> Reading:
    count = found.get("mismatches")
    if isinstance(found.get("why"), str):
        return Unknown(Reason.NOT_TESTED, clean(found["why"]))
    if found.get("type") != work["type"]:
        return Unknown(Reason.NOT_TESTED, f"no products of {work['type']}")
    if not isinstance(count, int) or isinstance(count, bool) or count < 0:
        return Unknown(Reason.UNPARSABLE, f"invalid number of mismatches {clean(repr(count), 40)}")
    return count
