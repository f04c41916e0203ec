#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
#
# The launcher in a copy of the course: a cmake of this test's own stands in for the real one, so
# that what is held here is what the launcher itself does.
set -uo pipefail
source_dir=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0

# expect WHAT WANTED GOT: WANTED is a pattern.
expect() {
  # shellcheck disable=SC2053  # a pattern on purpose
  [[ $3 == $2 ]] && return
  printf 'BAD %s\n  expected %s\n  got      %s\n' "$@"
  failed=1
}

# --- the packages ----------------------------------------------------------------------------

bare_machine_lacks() ( # with VARIABLE=1 for what is wanted
  declare "$@"
  compgen() { return 1; }
  state=$folder
  . "$source_dir/grader/launcher/needs.sh"
  want_nvcc='' want_clang=''
  missing_packages | cut -d: -f1 | tr '\n' ' '
)
expect "what a student builds with" "*libcli11-dev*" "$(bare_machine_lacks want_build=1)"
case $(bare_machine_lacks want_build=1) in
  *libsqlitecpp-dev* | *libarchive-dev* | *libyaml-cpp-dev*)
    expect "a student needs nothing that grades a class" "no such package" "one" ;;
esac
expect "an instructor's commands" "*libarchive-dev*libsqlitecpp-dev*" "$(bare_machine_lacks want_build=1 want_staff=1)"
expect "the tests" "*libarchive-dev*libsqlitecpp-dev*libvalijson-dev*" \
  "$(bare_machine_lacks want_build=1 want_tests=1)"

# --- a GPU -------------------------------------------------------------------------------------

# toolkit VERSION CARD…: a folder with an nvcc that makes code for the cards.
toolkit() {
  local place=$folder/toolkit-$1
  mkdir -p "$place/bin" "$place/include"
  echo "#define CUDART_VERSION ${1%.*}0${1#*.}0" >"$place/include/cuda_runtime_api.h"
  printf '%s\n' '#!/bin/sh' "[ \$1 = --version ] && echo 'release $1, V$1.88' && exit" \
    "printf 'sm_%s\\n' ${*:2}" >"$place/bin/nvcc"
  chmod +x "$place/bin/nvcc"
}
toolkit 13.0 75 80 90 120
toolkit 12.4 50 60 70 75 80 90
compiler_beside() ( # LINES that nvidia-smi prints, VERSION of the toolkit that is there or nothing, g++ or clang
  state=$folder shown=$1 compilers=${3:-g++} MEMBOUND_TOOLKIT=${2:+$folder/toolkit-$2}
  . "$source_dir/grader/launcher/needs.sh"
  if [ -z "$2" ]; then find_toolkit() { return 1; }; fi
  has_gpu() { true; }
  nvidia-smi() { printf '%b' "$shown"; }
  unset -f nvcc
  PATH=$folder/no-nvcc:/usr/bin:/bin
  has_host_compiler() { [[ $compilers == *g++* ]]; }
  find_clang() { [[ $compilers == *clang* ]]; }
  choose_compilers
  echo "${want_nvcc:+nvcc}${want_clang:+clang}"
)
# What nvidia-smi prints, the toolkit that is there, what is chosen. An nvcc is fetched where it serves.
for row in '580.65.06, 7.5||nvcc' '580.65.06, 12.0||nvcc' '550.54.15, 7.5||clang' '580.65.06, 7.0||clang' \
  '535.183.01, 9.0||clang' '||clang' '580.65.06, 6.1\n580.65.06, 8.6||nvcc' '470.57.02, 7.5|12.4|clang' \
  '550.54.15, 7.5|12.4|nvcc' '525.60.13, 6.0|12.4|nvcc' '580.65.06, 7.0|12.4|nvcc' '535.183.01, 13.7|12.4|clang'; do
  IFS='|' read -r prints has chosen <<<"$row"
  expect "compiler where nvidia-smi prints $prints, and CUDA ${has:-of no version} is there" "$chosen" \
    "$(compiler_beside "$prints" "$has")"
done
for row in 'clang|clang' 'g++ and clang|nvcc' 'neither|nvcc'; do
  expect "compiler where nvcc is there beside ${row%|*}" "${row#*|}" \
    "$(compiler_beside '580.65.06, 7.5' 13.0 "${row%|*}")"
done

# --- the line of progress --------------------------------------------------------------------

log=$folder/log
: >"$log"
state=$folder
. "$source_dir/grader/launcher/progress.sh"
prepared() ( # COMPILER that the call names: what compiles kernels where a GPU is and PyPI cannot be reached
  state=$folder compiler=$1
  . "$source_dir/grader/launcher/needs.sh"
  . "$source_dir/grader/launcher/install.sh"
  find_toolkit() { return 1; }
  has_gpu() { true; }
  serves_gpu() { true; }
  missing_of() { true; }
  find_clang() { true; }
  with_progress() {
    echo "ERROR: No matching distribution found" >>"$log"
    return 1
  }
  prepare && echo "${want_nvcc:+nvcc}${want_clang:+clang}"
)
expect "where nvcc cannot be fetched clang compiles" \
  "membound: missing*membound: pip failed: ERROR: No matching distribution found: clang compiles*clang" "$(prepared '' 2>&1)"
expect "and not where the call names nvcc" "*pip failed*try: check the network*" "$(prepared nvcc 2>&1)"
: >"$log"
cuda_wheels=(a b c)
expect "no counter" "x, 7 s so far" "$(progress_text x 7)"
expect "too early to estimate" "x 1/9" "$(progress_text x 4 1 9)"
expect "too few steps to estimate" "building 18/380" "$(progress_text building 60 18 380)"
expect "minutes" "building 120/380, about 2 min left" "$(progress_text building 60 120 380)"
expect "seconds" "x 9/10, less than a minute left" "$(progress_text x 90 9 10)"
expect "ninja" "2 3" "$(printf -- '-- Done\n[1/3] a\n[2/3] b\nwarning\n' | count_steps)"
expect "pip" "1 3" "$(printf 'Collecting a\n  Downloading a\nCollecting b\n' | count_wheels)"
expect "apt-get fetching" "1 6" "$(printf '%s\n' 'Get:1 list' \
  '0 upgraded, 2 newly installed, 0 to remove' 'Get:1 x' | count_packages)"
expect "apt-get unpacking what it had already" "4 6" "$(printf '%s\n' \
  '1 upgraded, 1 newly installed, 0 to remove' 'Unpacking a' 'Unpacking b' | count_packages)"

# --- a call ----------------------------------------------------------------------------------

mkdir -p "$folder/course/grader" "$folder/bin"
cp "$source_dir"/{membound,CMakeLists.txt,CMakePresets.json} "$folder/course"
cp -r "$source_dir/labs" "$source_dir/solutions" "$folder/course"
cp -r "$source_dir/grader/launcher" "$folder/course/grader"
mkdir "$folder/course/grader/cli"
cp -r "$source_dir"/grader/cli/{help,staff_commands.def} "$folder/course/grader/cli"
export PATH=$folder/bin:$PATH
cat >"$folder/bin/cmake" <<'STEP'
#!/bin/sh
echo "cmake $*" >>"$CALLS"
[ "$1" = --build ] || exit 0
echo '[1/2] compiling'
case "${BUILD:-}" in
  fails) printf 'FAILED: x.o\nx.cpp:1: error\n[2/2] another\n'; exit 1 ;;
  is_stopped) kill -INT 0; sleep 10 ;;
esac
mkdir -p build/student/bin
for name in membound-student membound; do
  case "$name $*" in membound\ *all*) ;; membound\ *) continue ;; esac
  printf '#!/bin/sh\necho %s "$@"\n' "$name" >build/student/bin/$name
  chmod +x build/student/bin/$name
done
STEP
chmod +x "$folder/bin/cmake"
export CALLS=$folder/calls
call() { (cd "$folder" && setsid --wait course/membound --no-install "$@" 2>&1); }
builds() { grep -c -- --build "$CALLS" 2>/dev/null; }

expect "without a word one screen, before anything is built" "*Nothing is built yet.*Next: ./membound start*" "$(call)"
expect "help is told without marks for programs" "0" "$(call check --help | grep -c '<!--')"
expect "help needs no build" "*# membound check*" "$(call check --help)"
expect "help tells of instructors' commands" "*For instructors*Labs and stages*" "$(call --help)"
mkdir "$folder/course/released"
expect "and not in a course that was handed out" "0 1" \
  "$(call --help | grep -c 'For instructors\|gradescope') $(call --help | grep -c '^## Labs and stages')"
rmdir "$folder/course/released"
expect "help of a subcommand" "*# membound dev check*" "$(call dev check -h)"
expect "help of a subcommand, asked for by help" "*# membound dev check*" "$(call help dev check)"
mkdir -p "$folder/course/grader/tests"
for words in "dev test --help" "dev test -h" "help dev test"; do
  # shellcheck disable=SC2086  # several words
  expect "$words shows help and runs no test" "# membound dev*dev test*" "$(call $words)"
done
expect "dev test takes no other word" "*takes no \"-R\"*ctest --preset ci -R NAME*" "$(call dev test -R launcher)"
rm -r "$folder/course/grader/tests"
expect "an unknown command" "*there is no command \"chekc\"*" "$(call chekc reverse)"
expect "an unknown lab" "*\"revrese\" means none*03-transpose*" "$(call check revrese)"
expect "two labs fit" "*\"re/1\" means none, or more than one*" "$(call check re/1)"
expect "an unknown lab of next" "*\"revrese\" means none*./membound next 00-hello-gpu*" "$(call next revrese)"
expect "an unknown compiler" "*there is no compiler \"gcc\"*--compiler clang" \
  "$(call check 1 --compiler gcc)"
expect "nothing was built for these" "" "$(builds)"
expect "a build that fails says why" "*FAILED: x.o?x.cpp:1: error*rm -r build/student*" \
  "$(BUILD=fails call check 3)"
BUILD=is_stopped call check 3 >"$folder/stopped"
expect "ended by Ctrl-C: exit code" 130 $?
expect "ended by Ctrl-C" "*goes on from here*" "$(cat "$folder/stopped")"
expect "the next call goes on" "*membound: building*membound-student check transpose/2 --seed 1" \
  "$(call check transpose/2 --seed 1)"
before=$(builds)
expect "later calls start at once" "membound-student check 3" "$(call check 3)"
expect "a changed kernel is no reason to build" "membound-student check 3" \
  "$(touch "$folder/course/labs/03-transpose/kernel.cu"; call check 3)"
expect "and did not" "$before" "$(builds)"
touch "$folder/course/labs/03-transpose/test.cpp"
expect "help is no reason to build, though what was built is older than the course" "$before # membound check" \
  "$(builds) $(call check --help | head -n 1)"
expect "what stands after -- asks a student's own program" "*membound: building*membound-student run -- ./a.out --help" \
  "$(call run -- ./a.out --help)"
expect "a changed test is" "*membound: building*membound-student check 3" "$(call check 3)"

# --- only what a call needs --------------------------------------------------------------------

built() { tail -n 1 "$CALLS" | sed 's/.*--target //'; }
expect "another lab is built when it is asked for" "student lab_04_reduction" \
  "$(call check red/2 >/dev/null; built)"
expect "without a lab all are" "student labs" "$(call watch >/dev/null; built)"
expect "an experiment needs the program that times it" "student experiment_program" \
  "$(call experiment strides >/dev/null; built)"
before=$(builds)
expect "a command that needs no lab waits for none" "membound-student list" "$(call list)"
expect "and builds none" "$before" "$(builds)"
expect "an instructor's command is built on its first use" "all" \
  "$(call grade x --lab 3 >/dev/null; built)"
expect "and then starts at once" "membound grade x" "$(call grade x)"
expect "all that is built is as new as each part" "membound-student check 1" "$(call check 1)"
student=$(sed -n 's/^ *line.add(add_\([a-z_]*\)).*/\1/p' "$source_dir/grader/cli/command_line.cpp" | tr _ -)
for page in "$source_dir"/grader/cli/help/*.md; do
  name=$(basename "$page" .md)
  case "$name" in membound | help | dev-* | machine-*) continue ;; esac
  program=membound
  if grep -qx "$name" <<<"$student"; then program=membound-student; fi
  expect "$name is started as the program that has it" "$program $name" "$(call "$name")"
done

expect "help of a command" "membound-student check --help" "$(call help check)"

# --- the tests -------------------------------------------------------------------------------

printf '#!/bin/sh\necho "ctest $*" >>"$CALLS"\n' >"$folder/bin/ctest"
chmod +x "$folder/bin/ctest"
mkdir -p "$folder/course/grader/tests"
call dev test >"$folder/tests.log"
expect "dev test builds all and runs every test" "*cmake --build --preset ci --target all*ctest --preset ci*" \
  "$(tail -n 3 "$CALLS") $(tail -n 3 "$folder/tests.log")"
rm -r "$folder/course/grader/tests"

# --- programs that came with the course --------------------------------------------------------

course=$folder/course
came=$course/released/binaries
ship() { # MACHINE: as membound release --binaries does
  rm -rf "$course/build" "$course/released"
  mkdir -p "$came/bin" "$came/labs/03-transpose" "$course/released/03-transpose"
  printf '#!/bin/sh\necho shipped "$@"\n' >"$came/bin/membound-student"
  chmod +x "$came/bin/membound-student"
  echo "$1" >"$came/machine"
  for sm in 75 90 100; do echo "for $sm" >"$course/released/03-transpose/reference.sm_$sm.fatbin"; done
}
mv "$course/solutions" "$course/away" # a student's tree has none
ship "$(uname -m)"
expect "the first screen says that nothing is built" "*so nothing is built.*Next: ./membound start*" "$(call)"
before=$(builds)
expect "they are used where they run" "shipped check 3" "$(call check 3)"
expect "with the reference for the virtual GPU" "for 90" \
  "$(cat "$course/build/student/labs/03-transpose/reference.fatbin")"
expect "and are there at once afterwards" "shipped list" "$(call list)"
expect "an experiment is run with them, too" "shipped experiment" "$(call experiment)"
expect "nothing was built" "$before" "$(builds)"
ship "$(uname -m)"
printf '#!/bin/sh\necho "libc.so.6: version GLIBC_9.9 not found" >&2\nexit 1\n' >"$came/bin/membound-student"
expect "where they do not start the course is built" "*GLIBC_9.9 not found*membound-student list" "$(call list)"
ship "$(uname -m)"
echo >>"$course/labs/03-transpose/test.cpp"
expect "a changed file of the course is no reason to build" "shipped list" "$(call list)"
ship "$(uname -m)"
echo "// solved" >>"$course/labs/03-transpose/kernel.cu"
expect "a solved kernel is no change" "shipped list" "$(call list)"
ship "$(uname -m)"
before=$(builds)
expect "an author's command is refused before anything is built" "*\"dev ladder\" is for authors of labs*try: ./membound check LAB*$before" \
  "$(call dev ladder 5 --device vgpu:h200; builds)"
expect "its help is not" "*# membound dev ladder*" "$(call dev ladder --help)"
expect "an instructor's command says why it is built" "*\"grade\" is not among the programs*membound grade x" \
  "$(call grade x)"
ship sparc
expect "another machine builds" "*are for sparc*membound-student list" "$(call list)"

exit "$failed"
