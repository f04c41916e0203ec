#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
#
# What compute-sanitizer's four tools say of every case of the checkers' corpus, on a GPU: the last table
# of docs/checker_corpus.md.
#     compute_sanitizer.sh build FOLDER          builds the corpus for sm_90, where nvcc is
#     compute_sanitizer.sh run FOLDER [JOBS]     runs it, where the GPU is, and prints the table
# A tool has 20 s for a case; after 170 s no further case begins. MOST_SECONDS and TOOLS in the
# environment say otherwise.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
corpus=$here/../../tests/vgpu/corpus
folder=$(realpath -m "$2")
export folder
tools=${TOOLS:-memcheck racecheck initcheck synccheck}

if [ "$1" = build ]; then
  nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
  mkdir -p "$folder"
  for source in "$corpus"/*.cu; do
    name=$(basename "$source" .cu)
    "$nvcc" -std=c++17 -cudart static -lineinfo -arch=sm_90 -o "$folder/$name" "$source"
    grep -oE '\b(CASE|RIGHT)\(\w+' "$source" | sed "s|.*(|$name |"
  done > "$folder/cases"
  exit
fi

# One tool on one case: leaves "found", "silent", "no end" or "not run".
try() {
  local tool=$1 program=$2 name=$3 more="" code=0
  local out=$folder/out/$program.$name.$tool
  if [ "$(date +%s)" -ge "$deadline" ]; then
    echo "not run" > "$out"
    return
  fi
  [ "$tool" = memcheck ] && more="--leak-check full"
  # shellcheck disable=SC2086 # several words
  timeout 20 "$sanitizer" --tool "$tool" $more --error-exitcode 99 "$folder/$program" "$name" \
    > "$out.log" 2>&1 || code=$?
  case $code in
    99) echo found ;;
    124) echo "no end" ;;
    *) echo silent ;;
  esac > "$out"
}
export -f try
sanitizer=$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)
deadline=$(($(date +%s) + ${MOST_SECONDS:-170}))
export sanitizer deadline
rm -rf "$folder/out"
mkdir -p "$folder/out"
for tool in $tools; do sed "s/^/$tool /" "$folder/cases"; done |
  xargs -P "${3:-16}" -L 1 bash -c 'try "$@"' _

echo "<!-- compute-sanitizer: $("$sanitizer" --version | grep -oE 'Version [0-9.]+' || true), $(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader), $(date +%F) -->"
echo "| case | ${tools// / | } |"
echo "| --- |$(for tool in $tools; do printf '%s' ' --- |'; done)"
while read -r program name; do
  row="| $program/$name |"
  for tool in $tools; do row+=" $(cat "$folder/out/$program.$name.$tool") |"; done
  echo "$row"
done < "$folder/cases"
