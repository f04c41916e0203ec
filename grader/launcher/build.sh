# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154  # a part of ./membound: it shares the variables of all parts
#
# Configures, builds and tests. Broken off anywhere, the next call goes on.

# Which program a call starts and which targets it needs: a lab's tests are built with the first command
# that needs them, and what grades a class with the first of its commands. Words that no program knows
# are the students' program's to complain about.
choose_targets() { # the call's words
  program=$bin/membound-student targets=(student)
  case "${1:-}" in
    check | watch | profile | ptx | compare | doctor | start | hand-in)
      local word lab named=()
      if [ "$1" = start ]; then # the first lab
        lab=$(cd "$root/labs" && echo [0-9]*)
        set -- start "${lab%% *}"
      fi
      for word in "${@:2}"; do
        lab=$(lab_of "$word") || continue
        # A lab elsewhere is compiled by the check itself; what loads it is built.
        if [ -d "$root/labs/$lab" ]; then named+=("lab_${lab//[^a-zA-Z0-9]/_}"); else named+=(oracle_tests); fi
      done
      # A call in a lab's folder means that lab.
      if [ ${#named[@]} -eq 0 ] && [[ $PWD/ == "$root"/labs/?*/* ]] && lab=${PWD#"$root/labs/"} && lab=$(lab_of "$lab"); then
        named+=("lab_${lab//[^a-zA-Z0-9]/_}")
      fi
      if [ ${#named[@]} -gt 0 ]; then targets+=("${named[@]}"); else targets+=(labs); fi
      ;;
    experiment) targets+=(experiment_program) ;;
    *)
      if grep -qsF ", \"${1:-}\")" "$root/grader/cli/staff_commands.def"; then
        program=$bin/membound targets=(all) want_staff=1
      fi
      ;;
  esac
}

# Student kernels may change at will; anything else that is newer than the last build calls for one.
up_to_date() {
  local target oldest='' stamp newer answers=$root/solutions
  [ -x "$program" ] || return 1
  # Built on a machine with a newer processor, in a folder that both have (grader/cmake/Processor.cmake).
  if [ -e "$root/build/student/newer_lanes_only" ] && ! grep -qs '^flags.* fma .* avx2 .* bmi2' /proc/cpuinfo; then return 1; fi
  for target in "${targets[@]}"; do
    stamp=$stamps/$target
    # A whole that is newer than the part holds it, too.
    if [[ $target == lab_* && $stamps/labs -nt $stamp ]]; then stamp=$stamps/labs; fi
    if [ "$stamps/all" -nt "$stamp" ]; then stamp=$stamps/all; fi
    [ -e "$stamp" ] || return 1
    if [ -z "$oldest" ] || [ "$stamp" -ot "$oldest" ]; then oldest=$stamp; fi
  done
  [ -d "$answers" ] || answers=$root/released # a student's tree
  newer=$(find "$root/CMakeLists.txt" "$root/CMakePresets.json" "$root/grader" "$root/labs" \
    "$answers" -newer "$oldest" -type f ! -path "$root/labs/*/kernel.cu" ! -path "$root/labs/*/answers.md" \
    ! -path "$root/grader/tests/*" ! -path "$root/grader/gpu_truth/*" -print -quit)
  [ -z "$newer" ]
}

# Builds what the call needs, and remembers it.
build_targets() {
  local target
  mkdir -p "$stamps"
  # Taken before the build, so that a file saved meanwhile is built the next time.
  touch "$stamps/new"
  build student ${want_staff:+-DMEMBOUND_STAFF=ON}
  for target in "${targets[@]}"; do cp -p "$stamps/new" "$stamps/$target"; done
  rm "$stamps/new"
}

build() { # PRESET [CMAKE-ARGUMENT…]: the targets of the call
  local preset=$1 started=$SECONDS
  shift
  with_progress "configuring" count_nothing cmake --preset "$preset" "$@" || build_failed "$preset"
  NINJA_STATUS='[%f/%t] ' with_progress "building" count_steps \
    cmake --build --preset "$preset" --target "${targets[@]}" || build_failed "$preset"
  say "built in $((SECONDS - started)) s"
}

build_failed() { # PRESET
  # ninja ends the steps that are under way before it stops: what failed may stand far above the end.
  local failed
  failed=$(sed -n '/^FAILED: /,$p' "$log" | head -n 40)
  if [ -n "$failed" ]; then printf '%s\n' "$failed" >&2; else tail -n 25 "$log" >&2; fi
  fail 3 "the build failed; what failed stands above, all of it in .membound/build.log" \
    "rm -r build/$1, call ./membound again, and report it with .membound/build.log if it stays"
}

# Runs every test, as many at once as there are cores (a test that uses them all says so). What failed
# is said once more at the end, where a long log is read first.
run_tests() {
  local code=0
  # One more than there are processors: some tests wait, for Slurm and for what is endless.
  ctest --preset ci --parallel "$(($(nproc) + 1))" || code=$?
  [ "$code" = 0 ] || awk '
    / Test: / { name = $3; said = ""; shown = 0; follow = 0 }
    / Failure$|^BAD|^ERROR|Sanitizer/ { follow = 4 }
    follow-- > 0 && shown++ < 12 { said = said "    " substr($0, 1, 150) "\n" }
    /^Test (Failed|timed out)/ { printf "%s: %s\n%s", name, $0, said }
  ' build/ci/Testing/Temporary/LastTest.log >&2
  return "$code"
}
