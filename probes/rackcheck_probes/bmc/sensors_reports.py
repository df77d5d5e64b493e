"""Current sensor values from metric reports, by the meaning of each sensor: one GET for each sensor in a report."""

from rackcheck import Documents, Facts, Redfish, Walk, collection, probe, spell_key
from rackcheck.parse.bmc.metric import metrics, walked
from rackcheck.parse.bmc.reading_kind import LISTED
from rackcheck_probes.bmc.sensors import MEANINGS, measurement


@probe(
    Redfish("TelemetryService/MetricReports/*", Walk("the sensors in these reports", walked), dear=True),
    gives={
        **{
            f"bmc.report.{word}": collection(f"{MEANINGS.get(word, f'sensors of {word}')} in metric reports")
            for word in LISTED
        },
        **{f"bmc.report.{word}/*.value": measurement(word) for word in LISTED},
    },
)
def bmc_sensors_reports(docs: Documents) -> Facts:
    """Readings of whole boards, as their metric reports list them; a stale reading is unknown."""
    found, trouble = metrics(docs)
    for metric in found:
        for word, value in metric.values:
            yield f"bmc.report.{word}/{spell_key(metric.name)}.value", value
    for word in LISTED:
        if trouble is not None:
            yield f"bmc.report.{word}", trouble
