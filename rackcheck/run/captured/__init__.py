"""A capture: all replies of nodes and their BMCs in one folder, for bug reports and test cases.

    capture.json                      nodes, planes, time and rackcheck version; written last
    NODE/host.json                    the operating system's answers: commands, files, refusals
    NODE/redfish/v1/.../index.json    the BMC's resources, in the layout of the DMTF's mockups
    NODE/redfish/v1/.../headers.json  beside each: {"GET": {header: value}}, harmless headers only
    NODE/redfish/v1/.../time.json     beside each: {"GET_Time": "0.12"}, the seconds that its GET took
    NODE/bmc.json                     the rest: resources that were not read, times, bodies without a folder

The three files of a resource are the files that the DMTF's Redfish-Mockup-Creator writes with --Headers and --Time
(`scan_resource` of redfishMockupCreate.py, github.com/DMTF/Redfish-Mockup-Creator) and that its Redfish-Mockup-Server
reads (`send_header_file` and `getResponseTime` of redfishMockupServer.py): each NODE folder is a mockup for both
programs.
"""

from rackcheck.run.captured.places import HEAD
from rackcheck.run.captured.reading import Captured, is_one, load
from rackcheck.run.captured.writing import CaptureWriter, free, writing

__all__ = ["HEAD", "CaptureWriter", "Captured", "free", "is_one", "load", "writing"]
