#!/bin/sh
# Make the artefacts of a version anew: tests/kept/make.sh CHECKOUT NAME, as root, in a folder that bears nobody's name.
set -eu
checkout=$(cd "$1" && pwd) kept=$(cd "$(dirname "$0")" && pwd) place=/srv/kept
rackcheck=$checkout/.venv/bin/rackcheck
rm -rf "$place" && cp -R "$kept/inputs" "$place" && cd "$place"
export RACKCHECK_HOME="$place/home" HOME="$place" LOGNAME=jo TZ=UTC LC_ALL=C.UTF-8 PYTHONDONTWRITEBYTECODE=1
judged() { "$rackcheck" audit "$@" -q > /dev/null || test $? -lt 4; }

judged --rack sim:./rack.yaml -p ./site.yaml -o before
judged --rack sim:./mended.yaml -p ./site.yaml -o after
"$rackcheck" accept new pod -p ./site.yaml --rack sim:./rack.yaml
judged --rack sim:./rack.yaml --accept pod
"$rackcheck" waive nic.rate --from pod --nodes n2 --until 2027-01-31 \
    --by "Jo Doe" --ticket OPS-12 --reason "cables ordered"
"$rackcheck" accept add pod --waivers waivers.yaml
"$rackcheck" report pod --bundle -q
for party in integrator customer; do
    ssh-keygen -q -t ed25519 -N '' -C "$party" -f "$party"
    "$rackcheck" sign pod --key "$party" --as "$party" --name "Jo Doe"
    rm "$party"
done
{ cat site.yaml; sed -n '/^waivers:/,$p' waivers.yaml; } > waived.yaml
PYTHONPATH="$kept/package" "$rackcheck" capture --rack sim:./small --planes os -o capture -q

rm -rf home/index.sqlite* rack.yaml mended.yaml small
tar --sort=name --owner=0 --group=0 --numeric-owner -c . | xz -9e > "$kept/$2.tar.xz"
rm -rf "$place"
