#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
#
# Runs the notebooks of the wheel that wheel.sh has installed, in a Python with Jupyter's parts of fixed versions: all as
# they are, those of some labs with answers. With the answers of all labs: MEMBOUND_ALL_NOTEBOOKS=1.
#
#   notebooks.sh SITE SOLUTIONS [LAB…]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
[ -e "$1/membound_notebook.py" ] || { echo "no wheel is installed in $1"; exit 77; }
python=${MEMBOUND_NOTEBOOK_PYTHON:-$(dirname "$1")/python}
wanted=$(sha256sum <"$here/notebook_requirements.txt")
if [ "$(cat "$python/made_of" 2>/dev/null)" != "$wanted" ]; then
  rm -rf "$python"
  if ! { python3 -m venv "$python" &&
    "$python/bin/pip" install --quiet --disable-pip-version-check --requirement "$here/notebook_requirements.txt"; }; then
    rm -rf "$python"
    echo "no nbclient is here, and pip cannot fetch it"
    exit 77
  fi
  echo "$wanted" >"$python/made_of"
fi
for wheel in "$(dirname "$1")"/dist/*.whl; do
  [ -e "$wheel" ] || continue
  tag=$(sed -E 's/.*-(manylinux[^.]*)\.whl/\1/' <<<"$wheel")
  said=$("$python/bin/auditwheel" show "$wheel" | tr '\n' ' ')
  [[ $said == *"is consistent with the following platform tag: \"$tag\""* ]] || { echo "BAD $tag: $said"; exit 1; }
done
exec "$python/bin/python" -B "$here/notebooks.py" "$@"
