#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
#
# The binary release of a build folder with one lab, in a folder of its own: each file is there, the programs
# start, and what they load lies beside them. A lab of one's own is made and proved with what is there alone.
#
#   installed.sh CMAKE BUILD LAB
set -euo pipefail
cmake=$1 build=$2 lab=$3
folder=$(mktemp -d) own=$(mktemp -d)
trap 'rm -rf "$folder" "$own"' EXIT
failed=0
bad() { echo "BAD $*"; failed=1; }

for component in programs headers staff "$lab" libraries libraries; do # the second time over what is there
  "$cmake" --install "$build" --prefix "$folder" --component "$component" >"$folder.log" 2>&1 ||
    { cat "$folder.log"; exit 1; }
done
rm "$folder.log"
cd "$folder"
for name in bin/membound-student vgpu/libcudart.so.12 vgpu/libcudart.so.13 forward/libcudart.so.13 libexec/membound_runner \
  libexec/membound_experiment bin/oracle_test bin/oracle_program_test bin/membound "labs/$lab/test"; do
  [ -x "$name" ] || bad "$name is missing"
done
[ "$(cat machine)" = "$(uname -m)" ] || bad "machine: $(cat machine)"
for package in libgtest-dev libcli11-dev libelf1; do # Debian 13 adds an ending: libelf1t64
  grep -qi copyright "licences/$package"* || bad "no licence of $package"
done
[ -z "$(find . -type l)" ] || bad "a link: $(find . -type l)"
version=$(env -i bin/membound-student --version) || bad "does not start: $version"
while read -r name; do
  # As a check starts them, with the virtual GPU's runtime. What a library needs itself comes from where it finds it.
  loaded=$(LD_LIBRARY_PATH=$folder/vgpu ldd "$name")
  while read -r library; do
    case $library in
      lib[cm].so.* | libdl.so.* | libpthread.so.* | librt.so.* | libstdc++.so.* | libgcc_s.so.* | ld-linux*) continue ;;
    esac
    path=$(awk -v library="$library" '$1 == library { print $3 }' <<<"$loaded")
    [[ $(readlink -f "$path") == "$folder"/* ]] || bad "$name finds $library in $path"
  done < <(readelf --dynamic "$name" | sed -n 's/.*(NEEDED).*\[\(.*\)\]$/\1/p')
done < <(find . -path ./licences -prune -o -path ./lib -prune -o -type f -perm -u+x -print)
mine() { env -i PATH="$PATH" HOME="$own" bin/membound "$@" --labs "$own"; }
mine dev new 15-own >/dev/null || bad "no new lab"
proof=$(mine dev check --run 15-own --device vgpu:h200 2>&1) || bad "a lab of one's own: $proof"
[[ $proof == *"2 of 2 claims hold."* ]] || bad "a lab of one's own: $proof"
exit "$failed"
