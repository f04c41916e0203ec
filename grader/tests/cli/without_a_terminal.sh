#!/bin/sh
# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
#
# without_a_terminal.sh CLI_TESTS: its tests of `watch` where no pseudo-terminal can be had. Exit status 77:
# this machine cannot imitate that.
set -u
within="unshare --user --map-root-user --mount --pid --fork --kill-child"
$within mount -t tmpfs none /dev/pts || exit 77
timeout 60 $within sh -c 'mount -t tmpfs none /dev/pts && exec "$0" --gtest_filter=Watch.*:Start.*' "$1" > /dev/null
status=$?
# 1: each of them failed, and ended.
[ $status -eq 1 ] || { echo "exit status $status"; exit 1; }
