#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
#
# The binary release of a build folder with one lab, in a folder of its own: each file is there, the programs
# start, what they load lies beside them, and what they ask of the system, RHEL 9 has. In a course's folder they check its
# lab. A lab of one's own is made and proved with what is there alone.
#
#   installed.sh CMAKE BUILD LAB
set -euo pipefail
cmake=$1 build=$2 lab=$3
here=$(dirname "$(readlink -f "$0")")
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
# Not lib/: of Debian's libraries that the instructors' program alone loads some ask for more.
"$here/older_systems.sh" bin forward gpu labs libexec vgpu || failed=1
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
done < <(find . -path ./licences -prune -o -path ./lib -prune -o -path ./share -prune -o -type f -perm -u+x -print)

# The programs alone are no course; in the folder of one they check it with what lies beside them.
source=$(cd "$here/../../.." && pwd) course=$own/course
mkdir -p "$course/labs" "$course/solutions" "$course/grader/harness"
cp "$source/CMakePresets.json" "$course"
cp -r "$source/labs/$lab" "$course/labs"
cp -r "$source/grader/harness/student" "$course/grader/harness" # what every kernel.cu may include
cp -r "$source/solutions/$lab" "$course/solutions"
cp "$source/solutions/$lab/kernel.cu" "$course/labs/$lab"
students() { env -i PATH="$PATH" HOME="$own" MEMBOUND_ROOT="$1" bin/membound-student "${@:2}" 2>&1; }
said=$(students "" doctor) && bad "a course where none is: $said"
[[ $said == *"there is no course here"* ]] || bad "where no course is: $said"
said=$(students "$course" doctor) || bad "doctor in a course's folder: $said"
[[ $said == *"$course, 1 lab"* && $said == *"$folder/labs"* ]] || bad "in a course's folder: $said"
said=$(students "$course" check "$lab" --device vgpu:h200) || bad "a course's lab: $said"
[[ $said == *"All stages passed."* ]] || bad "a course's lab: $said"

mine() { env -i PATH="$PATH" HOME="$own" bin/membound "$@" --labs "$own"; }
said=$(mine dev new 15-own) || bad "no new lab: $said"
[[ $said == *"next: membound dev check --run 15-own --labs $own" ]] || bad "another call is advised: $said"
# An oracle knows the contract's constants.
echo 'inline constexpr unsigned kFactor = 2;' >>"$own/labs/15-own/kernel.cuh"
sed -i 's|2 \* in|membound::kernel_constants::kFactor * in|; s|^#include.*|&\n#include "labs/15-own/kernel_constants.hpp"|' \
  "$own/labs/15-own/oracle.cpp"
proof=$(mine dev check --run 15-own --device vgpu:h200 2>&1) || bad "a lab of one's own: $proof"
[[ $proof == *"2 of 2 claims hold."* ]] || bad "a lab of one's own: $proof"
mine dev new 16-whole --kind program >/dev/null || bad "no new lab of programs"
proof=$(mine dev check --run 16-whole --device vgpu:h200 2>&1) || bad "a lab of programs: $proof"
[[ $proof == *"2 of 2 claims hold."* ]] || bad "a lab of programs: $proof"

# Handed out and packed, it is a lab of the course; nobody gets its answer.
answer=$own/solutions/15-own/kernel.cu
if out=$(mine release --out "$own/students" --lab own --architectures 90 2>&1) &&
  out=$(mine gradescope-autograder --out "$own/own.zip" --lab own 2>&1); then
  mkdir "$own/unpacked"
  (cd "$own/unpacked" && "$cmake" -E tar xf "$own/own.zip")
  for tree in "$own/students" "$own/unpacked/course"; do
    cmp -s "$own/labs/15-own/kernel.cu" "$tree/labs/15-own/kernel.cu" || bad "$tree has another skeleton"
    grep -q "^add_lab(15-own)" "$tree/labs/CMakeLists.txt" || bad "$tree does not build it"
    [ -n "$(find "$tree/released/15-own" -name 'reference.*')" ] || bad "$tree has no reference"
    [ ! -e "$tree/labs/01-reverse-array" ] && [ ! -e "$tree/solutions" ] || bad "$tree has more than it"
  done
  [ -x "$own/students/membound" ] && [ -x "$own/unpacked/run_autograder" ] || bad "what starts them is missing"
else
  bad "handed out: $out"
fi

# Watched: what is saved is checked.
env -i PATH="$PATH" HOME="$own" bin/membound watch own --labs "$own" --device vgpu:h200 >"$own/watch" 2>&1 &
watcher=$!
wait_for() { for _ in {1..300}; do grep -q "$1" "$own/watch" && return; sleep 0.1; done; bad "watch: $(cat "$own/watch")"; }
wait_for "waiting for changes of $own/labs/15-own/kernel.cu"
cp "$answer" "$own/labs/15-own/kernel.cu"
wait_for "wrong result -> passed"
kill "$watcher"

# What is wrong with it is told with its own files and lines.
broken() { # FILE SED WORDS
  cp "$own/$1" "$own/good"
  sed -i "$2" "$own/$1"
  said=$(mine check own --device vgpu:h200 2>&1) && bad "$1 is broken: $said"
  [[ $said == *$own/$1:[1-9]*$3* ]] || bad "$1 is broken: $said"
  mv "$own/good" "$own/$1"
}
broken labs/15-own/oracle.cpp 's/static /statik /' statik
broken labs/15-own/lab.json 's/"own_1"/own_1/' JSON
broken labs/15-own/kernel.cu 's/blockIdx/blockIxd/' blockIxd
exit "$failed"
