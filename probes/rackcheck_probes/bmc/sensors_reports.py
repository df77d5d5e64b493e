"""Current sensor values from metric reports: on some machines, one response has a hundred values."""

from rackcheck import Class, Documents, Facts, Redfish, collection, probe, quantity, spell_key
from rackcheck.parse.bmc.metric import metrics

READS = {"temperature": "C", "power": "W", "voltage": "V"}


@probe(
    Redfish("TelemetryService/MetricReports/*"),
    gives={
        **{f"bmc.report.{word}": collection(f"sensors of {word} in metric reports") for word in READS},
        **{
            f"bmc.report.{word}/*.value": quantity(unit, "reading; unknown if the reading is stale", Class.MEASUREMENT)
            for word, unit in READS.items()
        },
    },
)
def bmc_sensors_reports(docs: Documents) -> Facts:
    """Temperatures, power and voltages of whole boards in a few GETs."""
    found, trouble = metrics(docs)
    for metric in found:
        yield f"bmc.report.{metric.kind}/{spell_key(metric.name)}.value", metric.value
    for word in READS:
        if trouble is not None:
            yield f"bmc.report.{word}", trouble
