#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
#
# What compute-sanitizer's tools say of every case of the checkers' corpus, on a GPU: the last column of
# docs/checker_corpus.md.
#     compute_sanitizer.sh build FOLDER          builds the corpus for sm_90, where nvcc is
#     compute_sanitizer.sh run FOLDER [JOBS]     tries every case, where the GPU is
#     compute_sanitizer.sh join FOLDER PAGE      prints the page with what FOLDER/out says in its last column
# A tool has 20 s for a case; after 170 s no further case begins. MOST_SECONDS and TOOLS in the environment
# say otherwise; what an earlier run has left is tried by `run` again only if its tool is named.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
corpus=$here/../../tests/vgpu/corpus
folder=$(realpath -m "$2")
tools=${TOOLS:-memcheck racecheck initcheck synccheck}
export folder

# One tool on one case: leaves "found", "silent" or "no end"; nothing where there was no time.
try() {
  local tool=$1 out=$folder/out/$2.$3.$1 more="" code=0
  rm -f "$out"
  [ "$(date +%s)" -lt "$deadline" ] || return 0
  [ "$tool" = memcheck ] && more="--leak-check full"
  # shellcheck disable=SC2086 # several words
  timeout 20 "$sanitizer" --tool "$tool" $more "$folder/$2" "$3" > "$out.log" 2>&1 || code=$?
  # A tool may report something and not end all the same.
  if grep -qE '^={9} (Invalid|Misaligned|Error|Warning|Uninitialized|Barrier|Program hit|Leaked|Malloc/Free)' \
    "$out.log"; then
    echo found
  elif [ $code = 124 ]; then
    echo "no end"
  else
    echo silent
  fi > "$out"
}
export -f try

case $1 in
  build)
    nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
    mkdir -p "$folder"
    for source in "$corpus"/*.cu; do
      name=$(basename "$source" .cu)
      "$nvcc" -std=c++17 -cudart static -lineinfo -arch=sm_90 -o "$folder/$name" "$source"
      grep -oE '\b(CASE|RIGHT)\(\w+' "$source" | sed "s|.*(|$name |"
    done > "$folder/cases"
    ;;
  run)
    sanitizer=$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)
    deadline=$(($(date +%s) + ${MOST_SECONDS:-170}))
    export sanitizer deadline
    mkdir -p "$folder/out"
    "$sanitizer" --version | grep Version
    nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
    for tool in $tools; do sed "s/^/$tool /" "$folder/cases"; done |
      xargs -P "${3:-16}" -L 1 bash -c 'try "$@"' _
    ;;
  join)
    (cd "$folder/out" && grep -H . $(ls | grep -v 'log$')) |
      awk -F '[.:]' '
        NR == FNR {
          if ($4 == "found") found[$1 "/" $2] = found[$1 "/" $2] (found[$1 "/" $2] ? ", " : "") $3
          if ($4 == "no end") endless[$1 "/" $2] = 1
          known[$1 "/" $2] = 1
          next
        }
        {
          split($0, cell, " *\\| *")
          name = cell[2]
          if (!(name in known)) { print; next }
          verdict = found[name] ? found[name] : endless[name] ? "no end" : "silent"
          print "| " name " | " cell[3] " | " cell[4] " | " cell[5] " | " verdict " |"
        }' - "$3"
    ;;
esac
