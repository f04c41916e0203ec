#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
#
# What compute-sanitizer's tools say of every case of the checkers' corpus, on a GPU: the last column of
# docs/checker_corpus.md.
#     compute_sanitizer.sh build FOLDER          builds the corpus for sm_90, where nvcc is
#     compute_sanitizer.sh run FOLDER [JOBS]     tries every case, where the GPU is: FOLDER/verdicts.csv
#     compute_sanitizer.sh join CSV PAGE         prints the page with what the CSV says in its last column
# A tool has 20 s for a case; after 170 s no further case begins. MOST_SECONDS and TOOLS in the environment
# say otherwise; what an earlier run has left is tried by `run` again only if its tool is named.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
corpus=$here/../../tests/vgpu/corpus
folder=$(realpath -m "$2")
tools=${TOOLS:-memcheck racecheck initcheck synccheck}
export folder

# One tool on one case: leaves "found", "silent" or "no end", and the first words of what was reported;
# nothing where there was no time.
try() {
  local tool=$1 out=$folder/out/$2.$3.$1 more="" code=0 words verdict
  rm -f "$out"
  [ "$(date +%s)" -lt "$deadline" ] || return 0
  [ "$tool" = memcheck ] && more="--leak-check full"
  # shellcheck disable=SC2086 # several words
  timeout -k 5 20 "$sanitizer" --tool "$tool" $more "$folder/$2" "$3" > "$out.log" 2>&1 || code=$?
  # A tool may report something and not end all the same.
  words=$(grep -m 1 -E '^={9} (Invalid|Misaligned|Error|Warning|Uninitialized|Barrier|Program hit|Leaked|Malloc/Free)' \
    "$out.log" | tr -d '=,"' | sed 's/^ *//') || words=""
  if [ -n "$words" ]; then
    verdict=found
  elif [ $code = 124 ] || [ $code = 137 ]; then
    verdict="no end"
  else
    verdict=silent
  fi
  echo "$2/$3,$tool,$verdict,$words" > "$out"
}
export -f try

case $1 in
  build)
    nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
    mkdir -p "$folder"
    export nvcc
    # shellcheck disable=SC2016 # for the other shell
    printf "%s\n" "$corpus"/*.cu | xargs -P "$(nproc)" -I {} sh -c \
      '"$nvcc" -std=c++17 -cudart static -lineinfo -arch=sm_90 -o "$folder/$(basename {} .cu)" {}'
    for source in "$corpus"/*.cu; do
      grep -oE '\b(CASE|RIGHT)\(\w+' "$source" | sed "s|.*(|$(basename "$source" .cu) |"
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
    { echo "case,tool,verdict,words" && find "$folder/out" -type f ! -name '*.log' -exec cat {} + | sort; } \
      > "$folder/verdicts.csv"
    echo "$(($(wc -l < "$folder/verdicts.csv") - 1)) of $(($(wc -l < "$folder/cases") * $(wc -w <<< "$tools"))) tried"
    ;;
  join)
    awk -F , '
      NR == FNR && FNR == 1 { next }
      NR == FNR {
        if ($3 == "found") found[$1] = found[$1] (found[$1] ? ", " : "") $2
        if ($3 == "no end") endless[$1] = 1
        known[$1] = 1
        next
      }
      {
        split($0, cell, " *\\| *")
        name = cell[2]
        if (!(name in known)) { print; next }
        verdict = found[name] ? found[name] : endless[name] ? "no end" : "silent"
        print "| " name " | " cell[3] " | " cell[4] " | " cell[5] " | " verdict " |"
      }' "$2" "$3"
    ;;
esac
