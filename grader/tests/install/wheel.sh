#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
#
# A wheel of all labs for self-study, and of one for a class. pip installs the first into a folder of its own: the course
# is laid out, a check reaches its verdict, a folder that is not empty is left alone, and `pip install --upgrade` keeps a
# student's work. What the programs ask of the system is what RHEL 9 has. FOLDER/site stays there for notebooks.sh.
#
#   wheel.sh MEMBOUND COURSE FOLDER DRIVER-FOLDER
set -euo pipefail
program=$1 course=$2 folder=$3 driver=$4
python3 -m pip --version >/dev/null 2>&1 || { echo "pip is missing"; exit 77; }
rm -rf "$folder"
mkdir -p "$folder"
student=$(mktemp -d) # in no course
trap 'rm -rf "$student"' EXIT
failed=0
bad() { echo "BAD $*"; failed=1; }
holds() { # TEXT WORDS…
  local words
  for words in "${@:2}"; do
    [[ $1 == *"$words"* ]] || bad "\"$words\" is missing in: $1"
  done
}
release() { # TREE WORDS…: by the compilers that are here, for the virtual GPU
  MEMBOUND_ROOT=$course "$program" release "${@:2}" --architectures 90 --binaries --out "$1" 2>/dev/null
}
make_wheel() { python3 "$course/grader/launcher/wheel/make_wheel.py" "$1" "$2"; }
install() { # FOLDER-OF-A-WHEEL
  python3 -m pip install --quiet --disable-pip-version-check --no-index --upgrade --target "$folder/site" "$1"/*.whl
}
membound() { python3 -m membound "$@" 2>&1 </dev/null || true; }

release "$folder/tree" --for self-study
said=$(make_wheel "$folder/tree" "$folder/dist")
holds "$said" "py3-none-manylinux_2_" "for self-study"
install "$folder/dist"
programs=$folder/site/membound/programs

# What the system must have, and that the tag says so: a machine with newer libraries makes wheels for machines like itself.
"$(dirname "$0")/older_systems.sh" "$programs" || failed=1
tag=$(sed -E 's/.*manylinux_([0-9]+)_([0-9]+)_.*/\1.\2/' <<<"$said" | head -n 1)
glibc=$({ find "$programs" -type f -exec readelf --version-info --wide {} + 2>/dev/null || true; } | # not all files are ELF
  grep -o "Name: GLIBC_[0-9.]*" | sed "s/Name: GLIBC_//" | sort --version-sort --unique | tail -n 1)
[ "$glibc" = "$tag" ] || bad "the tag says glibc $tag, the programs ask for $glibc"
# Nothing is looked for in folders of the machine that built it.
paths=$({ find "$programs" -type f -exec readelf --dynamic --wide {} + 2>/dev/null || true; } | grep -E 'RUNPATH|RPATH' |
  grep -o '\[.*\]' | tr -d '[]' | tr : '\n' | sort -u)
! grep -v '^\$ORIGIN' <<<"$paths" || bad "a run path leads elsewhere"
# Each library that goes along, and each that is compiled in, has its licence there.
for library in "$programs"/lib/*; do
  name=$(basename "$library" | sed 's/\.so.*//; s/^libcrypto$/libssl/; s/^libz$/zlib/')
  grep -qi copyright "$programs/licences/$name"* || bad "no licence of $(basename "$library")"
done
for package in libgtest-dev libcli11-dev nlohmann-json3-dev; do
  grep -qi copyright "$programs/licences/$package" || bad "no licence of $package"
done

mkdir "$student/labs" "$student/full"
: >"$student/full/letter.txt"
export PYTHONPATH=$folder/site
unset MEMBOUND_ROOT
cd "$student/full"
holds "$(membound start)" "the folder is not empty" "mkdir cuda-labs"
holds "$(membound check 01)" "there is no course in"
[ "$(ls -A)" = letter.txt ] || bad "the full folder has $(ls -A)"
cd "$student/labs"
holds "$(membound start)" "laid the course out in $student/labs" "Lab 00, stage 1"
holds "$(./membound check 01 --compiler clang 2>&1 || true)" "on vgpu:h200" "not started"
cp released/01-reverse-array/answer.cu labs/01-reverse-array/kernel.cu
holds "$(membound check 01 --compiler clang)" "1.00 of ref." "100 of 100 points"
# A whole program is linked with what a wheel has of the runtime. Untouched, it compiles, and a call of it fails.
holds "$(membound check 13/5 --compiler clang 2>&1 || true)" "wrong result"
membound handout 01 --notebook "$student/again.ipynb"
cmp -s "$student/again.ipynb" handouts/01-reverse-array/notebook.ipynb || bad "the notebook is not that of the release"
[[ $(head -c 4 "$programs/vgpu/libcudart.so.13") == $'\x7fELF' ]] || bad "no runtime"

# The same programs serve a GPU: here with a stand-in for its driver, which executes on the virtual GPU.
on_gpu() { # GPU-DRIVER CARD COMMAND…
  bwrap --bind / / --dev /dev --proc /proc --ro-bind /dev/null /dev/nvidiactl \
    --setenv STAND_IN_DRIVER "$1" --setenv STAND_IN_GPUS "$2" --setenv LD_LIBRARY_PATH "$driver" \
    --setenv STAND_IN_RUNTIME "$programs/vgpu/libcudart.so.13" "${@:3}" 2>&1 </dev/null
}
if on_gpu '' '' true; then
  holds "$(MEMBOUND_DEVICE=vgpu:v100 on_gpu '525.60.13 12000' 'Tesla V100-PCIE-32GB;70;80;34079;33000;0;0' \
    python3 -m membound check 01/1 --compiler clang --size 65536 || true)" "on Tesla V100-PCIE-32GB" "1 direct                 passed"
fi

# A newer release, whose skeleton says more at its end; and the student has worked at its beginning.
cp -r "$folder/tree" "$folder/newer"
for name in labs/01-reverse-array/kernel.cu released/01-reverse-array/skeleton.cu; do
  echo "// New in this release." >>"$folder/newer/$name"
done
sed -i 's/"membound_version": "[^"]*"/"membound_version": "99.0.0"/' "$folder/newer/released/release.json"
make_wheel "$folder/newer" "$folder/newer_dist" >"$folder/newer.log"
install "$folder/newer_dist"
holds "$(membound list)" "is now that of Membound 99.0.0" "kernel.cu: your work, with what is new in the skeleton"
holds "$(cat labs/01-reverse-array/kernel.cu)" "$(cat released/01-reverse-array/answer.cu)" "// New in this release."
cmp -s released/01-reverse-array/answer.cu .membound/backups/01-reverse-array/kernel-before-upgrade-01.cu ||
  bad "the work as it was is not kept"
rm -rf "$folder/newer" "$folder/newer_dist"

release "$folder/class_tree" --lab 01
holds "$(make_wheel "$folder/class_tree" "$folder/class_dist")" "+class-py3" "for class"
names=$(python3 -m zipfile --list "$folder"/class_dist/*.whl)
holds "$names" "membound_notebook.py" "course/handouts/01-reverse-array/notebook.ipynb" "course/released/01-reverse-array/skeleton.cu"
[[ $names != *answer* && $names != *solutions* ]] || bad "the class's wheel has answers"
exit "$failed"
