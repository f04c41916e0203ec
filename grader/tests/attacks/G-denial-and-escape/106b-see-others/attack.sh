# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
# looks for programs that run beside it: their command lines may hold what it must not know
for p in /proc/[0-9]*; do
  read -r name 2> /dev/null < $p/comm || continue
  case "$name" in bwrap | sh | *[0-9] | memfd*) continue ;; esac # the jail's own: the stage is a number
  echo GOT THROUGH: sees "$name"
done
exit 1
