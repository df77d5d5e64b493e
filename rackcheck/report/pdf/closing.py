"""The sections after the findings: exceptions, punch list, rework, baseline and the evidence index."""

from rackcheck.evaluate.verdict import Status
from rackcheck.report.pdf.listing import SMALL, Json, bounded
from rackcheck.report.pdf.words import prose, text, where
from rackcheck.report.report_model import Dossier, Exemption, Punch, RawReply, Rework
from rackcheck.views.locations import Whole

CLASSES = ("A", "B", "C")


def exceptions(dossier: Dossier, of: Whole) -> Json:
    """Return each waiver with its state and the verdict without the waiver."""
    truths: dict[str, set[str]] = {}
    for found in dossier.findings:
        if found.truth is not None:
            truths.setdefault(found.rule, set()).add(found.truth.value)

    def show(waiver: Exemption) -> Json:
        return {
            "rule": text(waiver.rule),
            "state": text(waiver.state),
            "detail": text(waiver.detail),
            "where": where(waiver.nodes, of),
            "used": where(waiver.used, of) if waiver.used else "",
            "truth": ", ".join(sorted(truths.get(waiver.rule, ()))) if waiver.used else "",
            "pins": [{"item": text(item), "value": text(value, 300)} for item, value in waiver.pins[:6]],
            "more": max(0, len(waiver.pins) - 6),
            "until": text(waiver.until),
            "by": text(waiver.by),
            "ticket": text(waiver.ticket),
            "reason": text(waiver.reason),
            "place": text(waiver.place),
        }

    waived = dossier.tally.counts.get(Status.WAIVED, 0)
    return {"waived": waived, **bounded(dossier.exemptions, show)}


def punch(dossier: Dossier, of: Whole) -> list[Json]:
    """Return the punch list by class; a rule has one line per class, owner and date, however many ways it failed."""
    titles = {gate.id: gate.title for gate in dossier.gates}
    gathered: dict[tuple[str, str, str, str], list[Punch]] = {}
    for point in dossier.punch:
        gathered.setdefault((point.cls, point.rule, point.owner, point.until), []).append(point)

    def show(points: list[Punch]) -> Json:
        first = points[0]
        return {
            "rule": text(first.rule),
            "title": prose(titles.get(first.rule, "")),
            "what": text(first.what, 300),
            "others": len(points) - 1,
            "where": where({node for point in points for node in point.nodes}, of, 110),
            "owner": text(first.owner),
            "until": text(first.until),
        }

    classes = (*CLASSES, *sorted({cls for cls, *_ in gathered} - set(CLASSES)))
    return [
        {"class": text(cls), **bounded([points for key, points in gathered.items() if key[0] == cls], show)}
        for cls in classes
    ]


def rework(dossier: Dossier, of: Whole) -> Json:
    """Return the changes between the readings, and whether there was only one reading."""

    def show(turned: Rework) -> Json:
        return {
            "what": text(turned.rule or turned.fact),
            "part": bool(turned.fact),
            "where": where(turned.nodes, of),
            "steps": [{"run": text(run), "time": text(time), "was": text(was)} for run, time, was in turned.steps],
        }

    return {"alone": len(dossier.subject.readings) <= 1, **bounded(dossier.rework, show)}


def baseline(dossier: Dossier) -> Json:
    """Return the fingerprint of all nodes, in total and by class, and by node if there are few nodes."""
    small = len(dossier.baseline.nodes) <= SMALL
    return {
        "digest": text(dossier.baseline.digest),
        "classes": [{"class": text(c), "digest": text(d)} for c, d in dossier.baseline.classes.items()],
        "facts": dossier.baseline.facts,
        "unknown": dossier.baseline.unknown,
        "count": len(dossier.baseline.nodes),
        "nodes": [{"node": text(n), "digest": text(d)} for n, d in dossier.baseline.nodes.items()] if small else [],
    }


def evidence(dossier: Dossier, of: Whole) -> Json:
    """Return the number of raw replies by run and plane, the errors, and, for few nodes, the replies themselves."""
    planes: dict[tuple[str, str], list[RawReply]] = {}
    troubles: dict[tuple[str, str], set[str]] = {}
    for answer in dossier.evidence:
        planes.setdefault((answer.run, answer.plane), []).append(answer)
        if answer.trouble or not answer.digest:
            troubles.setdefault((answer.plane, answer.trouble), set()).add(answer.node)
    return {
        "total": len(dossier.evidence),
        "planes": bounded(
            list(planes.items()),
            lambda kv: {"run": text(kv[0][0]), "plane": text(kv[0][1]), "answers": len(kv[1]),
                        "kept": sum(bool(answer.digest) for answer in kv[1])},
        ),
        "troubles": bounded(
            list(troubles.items()),
            lambda kv: {"plane": text(kv[0][0]), "trouble": text(kv[0][1]), "where": where(kv[1], of)},
        ),
        "whole": bounded(dossier.evidence, _answer, 128) if of.nodes <= SMALL else None,
    }  # fmt: skip


def _answer(answer: RawReply) -> Json:
    return {
        "run": text(answer.run),
        "node": text(answer.node),
        "plane": text(answer.plane),
        "digest": text(answer.digest),
        "trouble": text(answer.trouble),
    }
