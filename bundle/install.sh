#!/bin/sh
# Installs rackcheck from the wheels beside this script; needs no index and no network.
#   sh install.sh [FOLDER]      FOLDER gets a virtual environment (default: ~/rackcheck); PYTHON=python3.12 chooses
set -eu
here=$(cd "$(dirname "$0")" && pwd)
where=${1:-$HOME/rackcheck}
python=${PYTHON:-python3}
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
  echo "rackcheck needs python3 >= 3.11; try PYTHON=python3.12 sh $0" >&2
  exit 2
}
if command -v sha256sum >/dev/null; then
  (cd "$here" && sha256sum --quiet -c SHA256SUMS) || { echo "a wheel is damaged: copy the bundle again" >&2; exit 2; }
fi
"$python" -m venv "$where"
"$where/bin/python" -m pip install --quiet --disable-pip-version-check --no-cache-dir --no-index \
  --find-links "$here/wheels" "rackcheck[pdf]" || {
  echo "no wheel for this python and platform: build the bundle where both are the same" >&2
  exit 2
}
echo "installed: $where/bin/rackcheck"
echo "Next: $where/bin/rackcheck audit --rack sim:dgx-h100 -p h100-dgx"
