#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
#
# Builds the profiler programs, runs them and the labs' test programs under Nsight Compute on this
# machine's GPU, and writes what the profiler counted, a row a launch; the virtual GPU is compared with it:
#   grader/gpu_truth/profiler/make_truth.sh BUILD > grader/gpu_truth/data/h200_profiler.csv
# BUILD is a build folder of the project (labs' test programs, reference answers, harness.fatbin).
# Takes about a third of a second a launch, 7 minutes in all. Clocks are left alone; caches are flushed before every launch.
set -euo pipefail
export LC_ALL=C  # numbers without separators
build=$(cd "$1" && pwd)
cd "$(dirname "$0")"
root=$(cd ../../.. && pwd)
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
metrics=$(grep -v '^launch__' metrics.txt | paste -sd,)

compile() { "$nvcc" -cudart shared -arch=sm_90 -std=c++17 -lineinfo -I"$root" -o "$place/$1" "$1.cu"; }
export -f compile
export nvcc place root
printf '%s\n' *.cu | sed 's/\.cu$//' | xargs -P "$(nproc)" -I{} bash -c 'compile {}'

# Of the profiler's many columns: number, name and shape of the launch, and the metrics asked for.
columns() {
  awk -F'","' '
    FNR == NR { wanted[$0] = 1; next }
    /^==/ || !/^"/ { next }
    { sub(/^"/, ""); sub(/"$/, ""); $0 = $0 }
    !count {
      for (i = 1; i <= NF; ++i)
        if ($i in wanted || $i ~ /^(Kernel Name|Block Size|Grid Size)$/) at[++count] = i
    }
    $1 == "" { next }  # the units
    {
      line = ""
      for (i = 1; i <= count; ++i) {
        cell = $at[i]
        line = line (i > 1 ? "," : "") (cell ~ /^[A-Za-z0-9_.]+$/ ? cell : "\"" cell "\"")
      }
      print line
    }
  ' metrics.txt "$1"
}

profile() {  # section, program and arguments…
  local section=$1
  shift
  ncu --csv --page raw --print-units base --clock-control none --metrics "$metrics" \
    --log-file "$place/log.csv" "$@" > "$place/output.txt" 2>&1 || true  # skeletons fail their tests
  echo "## $section"
  columns "$place/log.csv"
}

echo "# What Nsight Compute counted, a row a launch; made by grader/gpu_truth/profiler/make_truth.sh"
echo "# $(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader), $(ncu --version | grep -o 'Version [0-9.]*'), $("$nvcc" --version | grep -oE 'V[0-9]+\.[0-9.]+'), $(date +%F)"
for source in *.cu; do
  profile "${source%.cu}" "$place/${source%.cu}"
done
grep -v '^#' labs.txt | while IFS='|' read -r lab kernels filter; do
  for answer in reference skeleton; do
    submission=$build/labs/$lab/reference.fatbin
    if [ $answer = skeleton ]; then
      submission=$place/skeleton.fatbin
      "$nvcc" --options-file "$root/grader/harness/student/nvcc.flags" -arch=sm_90 \
        -I"$root/grader/harness/student" -I"$root/labs/$lab" "$root/labs/$lab/kernel.cu" -o "$submission"
    fi
    profile "$lab $answer" -k "regex:^$kernels" "$build/labs/$lab/test" \
      --lab "$root/labs/$lab/lab.json" --submission "$submission" \
      --reference "$build/labs/$lab/reference.fatbin" \
      --harness-kernels "$build/grader/harness/harness.fatbin" --seed 1 --quick --gtest_filter="$filter"
  done
done
