#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
#
# Every name that CUDA 12.9's runtime exports is there, under its version.
#
#   names.sh LIBRARY NAMES
set -euo pipefail
there=$(nm --dynamic --defined-only "$1" | sed -n 's/.* T \(.*\)@@libcudart\.so\.12$/\1/p' | sort)
missing=$(comm -13 <(echo "$there") <(grep -v '^#' "$2" | sort))
[ -z "$missing" ] || { printf 'BAD missing in %s:\n%s\n' "$1" "$missing"; exit 1; }
