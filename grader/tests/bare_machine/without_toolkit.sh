#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
#
# Runs a command as on a machine of Debian's packages alone: /usr/local, where CUDA toolkits lie, is empty for it, in a
# mount namespace of its own. Only root can make one.
#
#   without_toolkit.sh COMMAND…
set -euo pipefail

if [ "${1:-}" != --hidden ]; then
  unset MEMBOUND_TOOLKIT CUDAToolkit_ROOT CUDA_PATH CUDA_HOME LD_LIBRARY_PATH LIBRARY_PATH CPATH
  export PATH=/usr/sbin:/usr/bin:/sbin:/bin
  if unshare --mount true 2>/dev/null; then exec unshare --mount --propagation private "$0" --hidden "$@"; fi
  if [ ! -e /usr/local/cuda/bin/nvcc ]; then exec "$@"; fi
  echo "without_toolkit: no mount namespace can be made here to hide the toolkit; call it as root, or in a root of debootstrap" >&2
  exit 3
fi
shift
for folder in /usr/local /opt/cuda; do
  if [ -d "$folder" ]; then mount -t tmpfs -o ro none "$folder"; fi
done
# Debian's own package is version 11, which the course passes over.
if nvcc --version 2>/dev/null | grep -q 'release 1[2-9]'; then
  echo "without_toolkit: $(command -v nvcc) is still there" >&2
  exit 3
fi
exec "$@"
