"""Sentences about a burn-in, shared by all renderings. Pure."""

from rackcheck.inventory.node import LOCAL
from rackcheck.model.profile import Phase
from rackcheck.report.burn_model import Burned, BurnFault, BurnRun
from rackcheck.report.report_model import Dossier, Gate
from rackcheck.views.summary import several

UNVERIFIED = "unverified"


def account(burned: Burned) -> str:
    """Summarize burn-ins in one sentence: what was done, what was found, and what was not tested."""
    runs = len({run.run for run in burned.runs})
    nodes = {node for run in burned.runs for node in run.nodes}
    rows = [f"{several(runs, 'burn-in')} on {several(len(nodes), 'node')}"]
    cut = {node for run in burned.runs if run.ended != "whole" for node in run.nodes}
    if cut:
        rows.append(f"not completed on {several(len(cut), 'node')}")
    parts = len({(fault.node, fault.item) for fault in burned.faults})
    wrong = f"{several(parts, 'part')} returned wrong results, failed or went missing under load"
    fine = "no part returned a wrong result, failed or went missing under load"
    rows.append(wrong if parts else f"in what was tested, {fine}" if burned.untested or cut else fine)
    if burned.untested:
        rows.append(f"{several(sum(each.things for each in burned.untested), 'piece')} of work not tested")
    return "; ".join(rows) + "."


def again(fault: BurnFault) -> tuple[str, ...]:
    """Return the words of a command that repeats the burn-in on the fault's node; empty if no seed was reported.

    The command contains `INVENTORY` instead of a file's path, because the document may leave the site.
    """
    if fault.seed is None:
        return ()
    tier = (f"--tier {fault.tier}",) if fault.tier in {"smoke", "validate", "soak"} else ()
    where = () if fault.node == LOCAL else ("-i INVENTORY",)
    return ("rackcheck burnin", fault.node, *where, *tier, f"--seed {fault.seed}")


def ended(run: BurnRun) -> str:
    """Describe how a burn-in ended."""
    if run.ended == "whole":
        return "completed"
    return f"{run.ended}: {run.why}" if run.why else run.ended or "no end was reported"


def unverified(dossier: Dossier) -> tuple[str, ...]:
    """Return the ids of the burn-in rules whose text or sources contain the word `unverified`."""
    sources = {source.id: f"{source.title} {source.section} {source.confidence}" for source in dossier.sources}

    def says(gate: Gate) -> bool:
        rows = (gate.title, gate.why, gate.fix, *gate.refs, *(sources.get(ref, "") for ref in gate.refs))
        return any(UNVERIFIED in text.casefold() for text in rows)

    return tuple(gate.id for gate in dossier.gates if gate.phase == Phase.BURN_IN.value and says(gate))
