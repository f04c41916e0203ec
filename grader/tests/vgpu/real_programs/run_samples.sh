#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
#
# Builds the programs named in samples.tsv from a checkout of NVIDIA/cuda-samples with the shared CUDA
# runtime, runs each on the virtual GPU, and prints the table of samples.md beside this script.
#
#   run_samples.sh CHECKOUT VGPU_FOLDER WORK_FOLDER [NAME …]
#
# VGPU_FOLDER holds the virtual GPU's libcudart.so.13 (build/<preset>/vgpu). Programs are kept in
# WORK_FOLDER/bin, what each printed in WORK_FOLDER/log. SECONDS_LIMIT (300) ends a program.
set -euo pipefail
[ $# -ge 3 ] || { sed -n '5,12p' "$0" | cut -c3- >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
checkout=$(cd "$1" && pwd)
vgpu=$(cd "$2" && pwd)
mkdir -p "$3/bin" "$3/log"
work=$(cd "$3" && pwd)
shift 3
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
limit=${SECONDS_LIMIT:-300}

# build NAME FOLDER FLAGS: all sources of the sample's folder into one program, unless it is there.
build() {
  [ -x "$work/bin/$1" ] && return
  local folder=$checkout/Samples/$2 sources=()
  mapfile -t sources < <(find "$folder" -regex "$folder/\\(src/\\)?[^/]*\\.\\(cu\\|cpp\\)" | sort)
  # shellcheck disable=SC2086 # FLAGS are words
  "$nvcc" -cudart shared -std=c++17 -gencode 'arch=compute_90,code=[compute_90,sm_90]' \
    -I"$checkout/Common" -I"$folder" -I"$folder/inc" $3 -o "$work/bin/$1" "${sources[@]}" \
    > "$work/log/$1.build" 2>&1
}

# run NAME FOLDER ARGUMENTS: its exit code in $code; "wall | processor" seconds in $seconds. Samples
# look for their data beside them.
run() {
  code=0
  TIMEFORMAT='%1R %1U %1S'
  {
    # shellcheck disable=SC2086 # ARGUMENTS are words
    time (
      cd "$checkout/Samples/$2"
      LD_LIBRARY_PATH=$vgpu timeout "$limit" "$work/bin/$1" $3 > "$work/log/$1" 2>&1 < /dev/null
    )
  } 2> "$work/log/$1.time" || code=$?
  seconds=$(awk '{ printf "%s | %.1f", $1, $2 + $3 }' "$work/log/$1.time")
}

# One word or sentence on how NAME ended, given the line that proves success.
outcome() {
  local proof=$1 note=$2
  if [ "$code" = 124 ]; then echo "not finished in $limit s"
  elif [ "$code" != 0 ] && [[ $note != *"ends with code $code"* ]]; then
    echo "fails with code $code: $(grep -iE 'membound|error|fail' "$work/log/$name" | tail -1 | cut -c1-150)"
  elif [ "$proof" = - ]; then echo "ends with code $code${note:+; $note}"
  elif grep -qE "$proof" "$work/log/$name"; then echo "passes${note:+; $note}"
  else echo "does not say \`$proof\`"
  fi
}

echo '| sample | result | seconds | processor seconds |'
echo '| --- | --- | --- | --- |'
while IFS=$'\t' read -r path flags arguments proof note; do
  [[ $path == \#* || -z $path ]] && continue
  name=${path##*/}
  [ $# -gt 0 ] && [[ " $* " != *" $name "* ]] && continue
  [ "$flags" = - ] && flags=
  [ "$arguments" = - ] && arguments=
  if ! build "$name" "$path" "$flags"; then
    echo "| $name | does not build: $(grep -m1 -iE 'error' "$work/log/$name.build" | cut -c1-120) | | |"
    continue
  fi
  run "$name" "$path" "$arguments"
  echo "| $name | $(outcome "$proof" "$note") | $seconds |"
done < "$here/samples.tsv"
