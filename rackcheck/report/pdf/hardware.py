"""The nodes' hardware: their parts, the comparison with the bill of materials, and the firmware matrix."""

from collections import Counter
from typing import Any

from rackcheck.model.part_kinds import place_of
from rackcheck.report import hardware_groups
from rackcheck.report.hardware_groups import ComponentGroup, PartShelf, Unread, gaps, shelves, unread
from rackcheck.report.pdf.listing import SMALL, Json, bounded
from rackcheck.report.pdf.words import text, where
from rackcheck.report.report_model import Billed, Dossier, Hardware, NodeRow, Versions
from rackcheck.views.locations import Whole
from rackcheck.views.reasons import LONGEST

COMPONENTS = 60
"""Maximum number of lines of one list of components; components with the same versions share a line."""

SILENCES = 12
"""Maximum number of groups of components that are unknown on some nodes; all components of a group have one reason."""

GRID = 16
"""Maximum number of nodes for which the firmware matrix has a column per node."""

PARTS = 1600
"""Maximum number of parts listed in one document."""

NOTES = 12
"""Maximum number of notes about parts of one model on one node."""

KINDS = ("missing", "moved", "swapped", "extra", "unread")
"""Kinds of differences from a bill of materials, in display order."""

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def inventory(dossier: Dossier) -> Json:
    """Return the number of parts and of serials not read, by kind and model; for few nodes, also every part."""
    small = len(dossier.nodes) <= SMALL
    return {
        "nodes": len(dossier.nodes),
        "parts": sum(not part.repeat for part in dossier.parts),
        "unread": sum(not part.serial and not part.repeat for part in dossier.parts),
        "unread_kinds": [
            {"kind": text(kind), "count": count, "identity": text(sort)} for kind, count, sort in unread(dossier.parts)
        ][:12],
        "kinds": _kinds(dossier),
        "products": _products(dossier),
        "whole": _whole(dossier) if small else None,
        "gaps": bounded(gaps(dossier.unlisted), lambda gap: _gap(gap, len(dossier.nodes)), 12),
    }


def _gap(gap: tuple[str, str, tuple[str, ...]], total: int) -> Json:
    kind, why, nodes = gap
    return {"kind": text(kind), "why": text(why, LONGEST), "where": where(nodes, Whole(total), 120)}


def _kinds(dossier: Dossier) -> Json:
    gathered: dict[tuple[str, str, str], list[Hardware]] = {}
    for part in (part for part in dossier.parts if not part.repeat):
        gathered.setdefault((part.kind, part.model, part.part_number), []).append(part)
    rows = sorted(gathered.items(), key=lambda kind: (place_of(kind[0][0]), -len(kind[1]), kind[0]))
    total = len(dossier.nodes)

    def show(row: tuple[tuple[str, str, str], list[Hardware]]) -> Json:
        (kind, model, number), parts = row
        return {
            "kind": text(kind),
            "model": text(model),
            "number": text(number),
            "count": len(parts),
            "unread": sum(not part.serial for part in parts),
            "where": where({part.node for part in parts}, Whole(total), 48),
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
                     "where": where(row[1], Whole(total))},
    )  # fmt: skip


def _whole(dossier: Dossier) -> Json:
    """Return each node with its parts, grouped by model."""
    by_node: dict[str, list[PartShelf]] = {}
    for shelf in shelves(dossier.parts[:PARTS]):
        by_node.setdefault(shelf.node, []).append(shelf)
    return {
        "nodes": [_node(node, by_node.get(node.name, [])) for node in dossier.nodes],
        "more": max(0, len(dossier.parts) - PARTS),
    }


def _node(node: NodeRow, held: list[PartShelf]) -> Json:
    place = [f"rack {node.rack}" if node.rack else "", f"U{node.u}" if node.u else "", node.slot]
    return {
        "name": text(node.name),
        "place": text(", ".join(word for word in place if word)),
        "product": text(" ".join(word for word in (node.vendor, node.product) if word)),
        "serial": text(node.serial),
        "bmc": text(node.bmc),
        "outcome": node.outcome.value,
        "note": text(node.note),
        "reason": text(node.reason, LONGEST),
        "parts": [
            {"item": text(shelf.label), "counted": text(shelf.counted), "model": text(shelf.model),
             "number": text(shelf.part_number), "identity": text(shelf.identity), "why": text(shelf.why, LONGEST),
             "no_number": text(shelf.no_number, LONGEST), "alone": len(shelf.items) == 1,
             "notes": [text(note, LONGEST) for note in shelf.notes[:NOTES]],
             "identities": [{"item": text(item), "value": text(value)} for item, value in shelf.identities if value]}
            for shelf in held
        ],
    }  # fmt: skip


def bill(dossier: Dossier) -> Json | None:
    """Return the differences from the bill of materials, counted and listed; None if there was no bill."""
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
        "text": text(billed.said),
        "line": billed.line,
    }


def firmware(dossier: Dossier) -> Json:
    """Return components with several versions, then those unknown on some nodes, then those with one version."""
    names = [node.name for node in dossier.nodes]
    total = len(names)
    columns = names if total <= GRID else []
    matrix = hardware_groups.firmware(dossier.firmware)
    most = 8 if len(matrix.odd) <= 12 else 3
    return {
        "total": len(dossier.firmware),
        "even": matrix.evens,
        "unread": sum(one.count for one in matrix.unread),
        "differ": sum(len(one.facts) for one in matrix.odd),
        "columns": [text(name, 24) for name in columns],
        "odd": bounded(matrix.odd, lambda one: _odd(one, columns, total, most), COMPONENTS),
        "silent": bounded(matrix.unread, lambda one: _silent(one, total), SILENCES),
        "alike": bounded(matrix.even, _alike, COMPONENTS),
    }


def _odd(component: ComponentGroup, columns: list[str], total: int, most: int) -> Json:
    versions = component.versions
    letters = _letters(versions)
    of = {node: letter for letter, (_, nodes) in zip(letters, versions.groups, strict=True) for node in nodes}
    groups: list[dict[str, Any]] = [
        {"letter": letter, "version": text(version, 300), "where": where(nodes, Whole(total), 120)}
        for letter, (version, nodes) in zip(letters, versions.groups, strict=True)
    ]
    return {
        "fact": text(component.label, 400),
        "count": len(component.facts),
        "plane": text(versions.plane),
        "why": text(versions.why, 300),
        "groups": groups[:most],
        "more": max(0, len(groups) - most),
        "cells": [of.get(name, "-") for name in columns],
    }


def _silent(one: Unread, total: int) -> Json:
    return {
        "count": one.count,
        "where": where(one.nodes, Whole(total)),
        "several": len(one.nodes) > 1,
        "everywhere": len(one.nodes) == total,
        "why": text(one.why, 300),
        "components": bounded(one.components, _alike, COMPONENTS),
    }


def _alike(component: ComponentGroup) -> Json:
    return {
        "fact": text(component.label, 400),
        "count": len(component.facts),
        "plane": text(component.versions.plane),
        "version": text(component.version, 300),
    }


def _letters(versions: Versions) -> list[str]:
    """Return a letter for each version: A for the most common version, `?` for an unknown version."""
    rows = iter(LETTERS)
    return ["?" if not version else next(rows, "+") for version, _ in versions.groups]
