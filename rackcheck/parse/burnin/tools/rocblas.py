"""The rate of an FP32 matrix product by AMD's `rocblas-bench`, on one GPU after the other.

This parser is based on the source (ROCm/rocBLAS clients/include: the columns are printed as `transA,transB,M,N,K,...,
rocblas-Gflops,us`, and the values in the next line). It is not verified on hardware. The product is the one for which
AMD's page "System Validation" has a minimum rate. rocblas-bench reports no verdict.
"""

from collections.abc import Mapping
from typing import Any

from rackcheck.model.catalogue import Kind, collection, quantity
from rackcheck.model.fact import Class, Reading, Reason, Unknown, clean
from rackcheck.model.regex import regex
from rackcheck.parse.burnin.tools.answer import ToolFacts, ToolRecord, answer, decimal, nothing

GIVES: Mapping[str, Kind] = {
    "burnin.rocblas.gpu": collection("The GPUs on which rocblas-bench was to run, by the index of ROCm."),
    "burnin.rocblas.gpu/*.rate": quantity("FLOP/s", "The rate of FP32 products of 4000 x 4000.", Class.MEASUREMENT),
}

SHAPE = {"transA": "N", "transB": "T", "M": "4000", "N": "4000", "K": "4000"}
"""The columns that identify the product for which the fact `rate` is defined."""

_GPU = regex(r"[0-9]{1,4}")


def read(record: Mapping[str, Any]) -> ToolFacts:
    """Yield the facts of a `tool` record of rocblas-bench for one GPU; raises Unreadable if the record is invalid."""
    tool_record = answer(record)
    if not tool_record.of.startswith("gpu/") or not _GPU.fullmatch(tool_record.item):
        yield from nothing(
            GIVES, tool_record.failed or Unknown(Reason.NOT_TESTED, "the record of rocblas-bench is not for a GPU")
        )
        return
    yield "burnin.rocblas.gpu", (tool_record.item,)
    yield f"burnin.rocblas.gpu/{tool_record.item}.rate", tool_record.failed or _rate(tool_record)


def _rate(record: ToolRecord) -> Reading:
    if record.cut:
        return Unknown(Reason.TOO_LARGE, f"the output of rocblas-bench was cut off by {record.cut} bytes")
    lines = [line.strip() for line in record.out.splitlines()]
    heads = [at for at, line in enumerate(lines) if line.startswith("transA,transB,") and "rocblas-Gflops" in line]
    if len(heads) != 1 or len(lines) < heads[0] + 2:
        return Unknown(Reason.NOT_TESTED, clean(f"rocblas-bench did not report exactly one rate: {record.out[-80:]!r}"))
    names, cells = lines[heads[0]].split(","), lines[heads[0] + 1].split(",")
    if len(names) != len(cells):
        return Unknown(Reason.UNPARSABLE, f"rocblas-bench prints {len(cells)} values for {len(names)} columns")
    row = dict(zip(names, cells, strict=True))
    if any(row.get(name) != value for name, value in SHAPE.items()):
        other = {name: row.get(name) for name in SHAPE}
        return Unknown(Reason.NOT_TESTED, clean(f"not the expected matrix product: {other}"))
    rate = decimal(row["rocblas-Gflops"].strip())
    return (
        float(f"{rate * 1e9:.12g}")
        if rate
        else Unknown(Reason.UNPARSABLE, clean(f"invalid rate {row['rocblas-Gflops']!r}"))
    )
