"""What the nodes are made of: their parts, the bill of materials beside them, and the firmware matrix."""

from collections import Counter
from typing import Any

from rackcheck.report.dossier import Billed, Dossier, NodeRow, Part, Versions
from rackcheck.report.pdf.listing import SMALL, Json, bounded
from rackcheck.report.pdf.words import text, where

COMPONENTS = 80
"""Components of the firmware matrix in one document."""

GRID = 16
"""Nodes up to which the firmware matrix has a column for each."""

PARTS = 600
"""Lines of parts in one document."""

KINDS = ("missing", "swapped", "extra", "unread")
"""Differences to a bill of materials, in the order they are shown."""

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def inventory(dossier: Dossier) -> Json:
    """Give every part of a small document; of a large one how many there are of each model, and serials not read."""
    small = len(dossier.nodes) <= SMALL
    return {
        "nodes": len(dossier.nodes),
        "parts": len(dossier.parts),
        "unread": sum(not part.serial for part in dossier.parts),
        "kinds": _kinds(dossier),
        "products": _products(dossier),
        "whole": _whole(dossier) if small else None,
    }


def _kinds(dossier: Dossier) -> Json:
    gathered: dict[tuple[str, str, str], list[Part]] = {}
    for part in dossier.parts:
        gathered.setdefault((part.kind, part.model, part.part_number), []).append(part)
    rows = sorted(gathered.items(), key=lambda kind: (kind[0][0], -len(kind[1]), kind[0]))
    total = len(dossier.nodes)

    def show(row: tuple[tuple[str, str, str], list[Part]]) -> Json:
        (kind, model, number), parts = row
        return {
            "kind": text(kind),
            "model": text(model),
            "number": text(number),
            "count": len(parts),
            "unread": sum(not part.serial for part in parts),
            "where": where({part.node for part in parts}, total),
        }

    return bounded(rows, show, 80)


def _products(dossier: Dossier) -> Json:
    gathered: dict[tuple[str, str, str], list[str]] = {}
    for node in dossier.nodes:
        gathered.setdefault((node.vendor, node.product, node.role), []).append(node.name)
    rows = sorted(gathered.items(), key=lambda product: (-len(product[1]), product[0]))
    total = len(dossier.nodes)
    return bounded(
        rows,
        lambda row: {"vendor": text(row[0][0]), "product": text(row[0][1]), "role": text(row[0][2]),
                     "where": where(row[1], total)},
    )  # fmt: skip


def _whole(dossier: Dossier) -> Json:
    """Give each node with its parts below it."""
    by_node: dict[str, list[Part]] = {}
    for part in dossier.parts[:PARTS]:
        by_node.setdefault(part.node, []).append(part)
    return {
        "nodes": [_node(node, by_node.get(node.name, [])) for node in dossier.nodes],
        "more": max(0, len(dossier.parts) - PARTS),
    }


def _node(node: NodeRow, parts: list[Part]) -> Json:
    place = [f"rack {node.rack}" if node.rack else "", f"U{node.u}" if node.u else "", node.slot]
    return {
        "name": text(node.name),
        "place": text(", ".join(word for word in place if word)),
        "product": text(" ".join(word for word in (node.vendor, node.product) if word)),
        "serial": text(node.serial),
        "bmc": text(node.bmc),
        "outcome": node.outcome.value,
        "note": text(node.note),
        "parts": [
            {"item": text(part.item), "model": text(part.model), "number": text(part.part_number),
             "serial": text(part.serial), "other": "; ".join(f"{text(k)} {text(v)}" for k, v in part.other.items())}
            for part in parts
        ],
    }  # fmt: skip


def bill(dossier: Dossier) -> Json | None:
    """Give the differences to the bill of materials, counted and listed; None where there was no bill."""
    if dossier.bill is None:
        return None
    found = Counter(difference.kind for difference in dossier.bill.differences)
    kinds = (*KINDS, *sorted(set(found) - set(KINDS)))
    ordered = sorted(dossier.bill.differences, key=lambda difference: kinds.index(difference.kind))
    return {
        "file": text(dossier.bill.file),
        "digest": text(dossier.bill.digest),
        "rows": dossier.bill.rows,
        "matched": dossier.bill.matched,
        "kinds": [{"kind": text(kind), "count": found[kind]} for kind in kinds],
        "differences": bounded(ordered, _difference, 80),
    }


def _difference(billed: Billed) -> Json:
    return {
        "kind": text(billed.kind),
        "node": text(billed.node),
        "item": text(billed.item),
        "serial": text(billed.serial),
        "said": text(billed.said),
        "line": billed.line,
    }


def firmware(dossier: Dossier) -> Json:
    """Give a row for each component, those that differ first; for a few nodes also each node's version as a letter."""
    names = [node.name for node in dossier.nodes]
    total = len(names)
    columns = names if total <= GRID else []
    ordered = sorted(dossier.firmware, key=lambda versions: versions.even)
    most = 8 if sum(not versions.even for versions in ordered) <= 12 else 3
    return {
        "even": sum(versions.even for versions in ordered),
        "columns": [text(name, 24) for name in columns],
        "components": bounded(ordered, lambda versions: _component(versions, columns, total, most), COMPONENTS),
    }


def _component(versions: Versions, columns: list[str], total: int, most: int) -> Json:
    letters = _letters(versions)
    of = {node: letter for letter, (_, nodes) in zip(letters, versions.groups, strict=True) for node in nodes}
    groups: list[dict[str, Any]] = [
        {"letter": letter, "version": text(version, 300), "count": len(nodes), "where": where(nodes, total, 120)}
        for letter, (version, nodes) in zip(letters, versions.groups, strict=True)
    ]
    return {
        "fact": text(versions.fact),
        "plane": text(versions.plane),
        "even": versions.even,
        "why": text(versions.why, 300),
        "groups": groups[:most],
        "more": max(0, len(groups) - most),
        "cells": [of.get(name, "-") for name in columns],
    }


def _letters(versions: Versions) -> list[str]:
    """Give each version its letter, the most common A; what is not known is a question mark, never a letter."""
    told = iter(LETTERS)
    return ["?" if not version else next(told, "+") for version, _ in versions.groups]
