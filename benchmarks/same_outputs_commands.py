"""The commands that `same_outputs.py` runs in addition to those of the documents, and their input."""

ID = "20261101T060000Z-1a2b"
"""The name of the run in the documents."""

RACK = "--rack sim:dgx-h100"
SEEDS = f"""
audit --rack sim:clean -p h100-dgx -q
audit --rack sim:{{tree}} -p h100-dgx --planes bmc -q
burnin {RACK} --seed 17 -q
audit {RACK} -p h100-dgx -q
capture dgx01 dgx04 {RACK} -o golden -q
capture dgx03 dgx08 {RACK} -o pod7-monday -q
accept new pod7 -p h100-dgx {RACK}
audit {RACK} --accept pod7 -q
waive nic.rate --from pod7 --nodes dgx02 --until 2027-01-31 --by "Jo Doe" --ticket OPS-12 --reason "cables ordered"
accept add pod7 --waivers waivers.yaml
report pod7 --bundle -o pod7 -q
report pod7 --bundle -o pod7-signed -q
sign pod7-signed --key .ssh/id_ed25519 --as integrator
sign pod7-signed --key .ssh/id_customer --as customer
"""
"""The first commands, run by OLD; the runs are named clean, bmc, burnin, last and accepted, in this order."""

RUNS = ("clean", "bmc", "burnin", ID, "accepted")
OF_A_RUN = """
runs show {run}
audit --from {run} -p h100-dgx --all
audit --from {run} -p linux-server --json
groups {run}
groups {run} --json --all
odd {run}
odd {run} --json --all
rack {run}
rack {run} --mode temperature
rack {run} --mode power --json
facts {node} --from {run}
facts {node} --from {run} --json
facts {node} --from {run} bios --raw
report {run} -o r.html
report {run} --format pdf -o r.pdf
report {run} --format json -o r.json
report {run} --format junit -o r.xml
report {run} --format csv -o r.csv
report {run} --format markdown -o r.md
report {run} --bundle
report {run} --bundle --level customer -o bundle-customer
report {run} --bundle --level public -o bundle-public
remedy {run}
remedy {run} --json
diff {run} clean --json
drift --against {run} clean --json
"""
FEWER = (
    "runs show",
    "audit --from {run} -p linux-server",
    "groups {run} --json",
    "facts {node} --from {run} --json",
    "--bundle",
)
"""The forms in which the other runs are shown; a bundle contains all forms of a report."""

MORE = """
--version
--help
runs list
runs list --json
history dgx03 --json
history gpu.count --json
history dgx03 --where 'rule:gpu state:fail'
diff dgx01 dgx05 --all --json
diff dgx02 peers --json
profile list
profile list --json
profile learn --from golden -o learned.yaml
audit --from golden -p learned.yaml --all
profile explain -p h100-dgx gpu.count
profile explain -p h100-dgx bios.smt --json
profile schema
profile check no-such-profile
profile show h100-dgx --json
probe list
probe list --json
sim show dgx-h100 --faults
sim show hall
completion bash
completion zsh
completion fish
verify pod7-signed --key integrator.pub --key customer.pub --require 2
verify pod7-signed --key integrator.pub --json
verify pod7 --key integrator.pub
accept show pod7 --json
report pod7 --format json -o pod7.json
report pod7 --format pdf -o pod7.pdf
report last --format html --waivers waivers.yaml -o waived.html
facts dgx01 --from golden --json
audit --from golden -p h100-dgx --json
audit -p h100-dgx --from nowhere
doctor --sudoers --user audit
"""
LIVE = f"""
audit --rack sim:clean -p h100-dgx --json -q -o run
facts dgx01 {RACK} --json
doctor -p h100-dgx {RACK}
doctor -p h100-dgx {RACK} --json
audit --rack sim:{{tree}} -p h100-dgx --planes bmc --json -q
capture {RACK} dgx02 -o kept -q
"""
TABLES = {
    "rack.csv": "node,host,bmc_ip,rack,rack unit\ndgx01,10.0.0.1,10.1.0.1,a01,U1\ndgx02,10.0.0.2,10.1.0.2,a01,U9\n",
    "nodes.txt": "NodeName=n01 NodeAddr=n01.mgmt Partitions=gpu\nNodeName=n02 NodeAddr=n02.mgmt State=FUTURE\n",
    "hosts.json": '{"_meta": {"hostvars": {"n1": {"ansible_host": "10.0.0.1", "bmc_address": "10.1.0.1"}}}, '
    '"gpu": {"hosts": ["n1"]}, "all": {"children": ["gpu"]}}\n',
    "site.yaml": "rackcheck: 1\nbrand:\n  title: Acceptance of pod 7\n  integrator: Rack & Sons\n",
    "shipped.csv": "serial,kind,node\n1650001000001,gpu,dgx01\nNOTHERE,gpu,dgx02\n",
}
