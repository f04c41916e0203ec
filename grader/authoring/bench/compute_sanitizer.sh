#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
#
# What compute-sanitizer's tools say of every case of the checkers' corpus, on a GPU: the last column of
# grader/gpu_truth/records/checkers_beside_compute_sanitizer.md.
#     compute_sanitizer.sh build FOLDER          builds the corpus for sm_90, where nvcc is
#     compute_sanitizer.sh run FOLDER [JOBS]     tries every case, where the GPU is: FOLDER/verdicts.csv
#     compute_sanitizer.sh join CSV PAGE         prints the page with what the CSV says in its last column
# A tool has 20 s for a case; after 170 s nothing further begins. MOST_SECONDS and TOOLS in the environment
# say otherwise, CASES names a pattern ("handshakes "); what an earlier run has left stays where nothing newer comes.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
corpus=$here/../../tests/vgpu/corpus
folder=$(realpath -m "$2")
tools=${TOOLS:-memcheck racecheck initcheck synccheck}
export folder

# One tool on cases of one program: for each "found", "silent" or "no end", and the first words of what was reported;
# nothing where there was no time. Five cases share a process, until one breaks its device or does not end.
try() {
  local tool=$1 program=$2 more="" code last report
  shift 2
  [ "$tool" = memcheck ] && more="--leak-check full"
  while [ $# -gt 0 ] && [ "$(date +%s)" -lt "$deadline" ]; do
    report=$folder/out/$program.$1.$tool
    code=0
    # shellcheck disable=SC2086 # several words
    timeout -k 5 $((18 + 2 * $#)) "$sanitizer" --tool "$tool" $more "$folder/$program" "$@" > "$report.log" 2>&1 || code=$?
    # A tool may report something and not end all the same.
    awk -v program="$program" -v tool="$tool" -v code=$code -v name="$1" '
      function tell(ended) {
        print program "/" name "," tool "," (words ? "found" : ended ? "silent" : "no end") "," words
        words = ""
      }
      /^case / { if (seen++) tell(1); name = $2; next }
      /^========= (Invalid|Misaligned|Error|Warning|Uninitialized|Barrier|Program hit|Leaked|Malloc\/Free)/ {
        if (!words) { words = $0; gsub(/[=,"]/, "", words); sub(/^ */, "", words) }
      }
      END { tell(code != 124 && code != 137) }' "$report.log" > "$report"
    last=$(tail -n 1 "$report" | cut -d , -f 1)
    while [ $# -gt 0 ] && [ "$program/$1" != "$last" ]; do shift; done
    [ $# -eq 0 ] || shift
  done
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
    grep -E "${CASES:-.}" "$folder/cases" > "$folder/wanted"
    for tool in $tools; do
      # memcheck tells of leaks when a process ends: a process for each case.
      if [ "$tool" = memcheck ]; then
        sed "s/^/$tool /" "$folder/wanted"
      else
        awk -v tool="$tool" '
          $1 != program || count == 5 { if (NR > 1) print line; line = tool " " $1; program = $1; count = 0 }
          { line = line " " $2; ++count }
          END { print line }' "$folder/wanted"
      fi
    done | xargs -P "${3:-16}" -L 1 bash -c 'try "$@"' _
    { echo "case,tool,verdict,words" && find "$folder/out" -type f ! -name '*.log' -exec cat {} + | sort; } \
      > "$folder/verdicts.csv"
    echo "$(($(wc -l < "$folder/verdicts.csv") - 1)) of $(($(wc -l < "$folder/wanted") * $(wc -w <<< "$tools"))) tried"
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
