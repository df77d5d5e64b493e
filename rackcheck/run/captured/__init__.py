"""A capture: everything that nodes and their BMCs answered, as a folder that is a bug report and a test case at once.

    capture.json                      who was asked when, by which version; written last
    NODE/host.json                    the operating system's answers: commands, files, refusals
    NODE/redfish/v1/.../index.json    the BMC's resources, in the layout of the DMTF's mockups
    NODE/redfish/v1/.../headers.json  beside each: {"GET": {header: value}}, harmless headers only
    NODE/redfish/v1/.../time.json     and {"GET_Time": "0.12"}, the seconds that its GET took
    NODE/bmc.json                     what is no body: resources that were not read, times, bodies without a place

The three files of a resource are those that the DMTF's Redfish-Mockup-Creator writes with --Headers and --Time
(`scan_resource` of redfishMockupCreate.py, github.com/DMTF/Redfish-Mockup-Creator) and that its Redfish-Mockup-Server
reads (`send_header_file` and `getResponseTime` of redfishMockupServer.py): NODE is a mockup's folder there.
"""

from rackcheck.run.captured.places import HEAD
from rackcheck.run.captured.reading import Captured, is_one, load
from rackcheck.run.captured.writing import CaptureWriter, free, writing

__all__ = ["HEAD", "CaptureWriter", "Captured", "free", "is_one", "load", "writing"]
