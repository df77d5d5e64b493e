#!/bin/sh
# Writes the outputs that docs/guide/first-hour.md names: sh docs/screens/outputs.sh PYTHON FOLDER
# The paths of a simulated rack differ between runs, so they are replaced by fixed ones.
python=$1 folder=$2
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
export COLUMNS=100 RACKCHECK_HOME="$home"

record() {
    file=$1
    shift
    {
        echo "$ rackcheck $*"
        "$python" -m rackcheck "$@" 2>&1
    } | sed -E "/^[0-9]+ of [0-9]+ judged /d; s|rackcheck-sim-[a-z0-9_]{8}|rackcheck-sim-1a2b3c4d|g; s|$home|/home/audit/.local/state/rackcheck|g" > "$folder/$file"
}

record typo.txt audit --rack sim:dgx-h100 -p h100-dgx --set bios_verison=1.5.3
record doctor.txt doctor --rack sim:dgx-h100 -p h100-dgx
record make-audit.txt audit --rack sim:dgx-h100 -p h100-dgx
record doctor-hall.txt doctor --rack sim:hall -p h100-dgx
record audit-hall.txt audit --rack sim:hall -p h100-dgx
