# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
#
# Configures, builds and tests. Broken off anywhere, the next call goes on.

# Student kernels may change at will; anything else that is newer than the last build calls for one.
up_to_date() {
  [ -x "$program" ] && [ -e "$stamp" ] || return 1
  local newer answers=$root/solutions
  [ -d "$answers" ] || answers=$root/released # a student's tree
  newer=$(find "$root/CMakeLists.txt" "$root/CMakePresets.json" "$root/grader" "$root/labs" \
    "$answers" -newer "$stamp" -type f ! -path "$root/labs/*/kernel.cu" \
    ! -path "$root/grader/tests/*" -print -quit)
  [ -z "$newer" ]
}

build() { # PRESET [CMAKE-ARGUMENT…]
  local preset=$1 started=$SECONDS
  shift
  with_progress "configuring" count_nothing cmake --preset "$preset" "$@" || build_failed "$preset"
  NINJA_STATUS='[%f/%t] ' with_progress "building" count_steps \
    cmake --build --preset "$preset" || build_failed "$preset"
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

# Runs every test. What failed is said once more at the end, where a long log is read first.
run_tests() {
  local code=0
  ctest --preset ci || code=$?
  [ "$code" = 0 ] || awk '
    / Test: / { name = $3; said = ""; shown = 0; follow = 0 }
    / Failure$|^BAD|^ERROR|Sanitizer/ { follow = 4 }
    follow-- > 0 && shown++ < 12 { said = said "    " substr($0, 1, 150) "\n" }
    /^Test (Failed|timed out)/ { printf "%s: %s\n%s", name, $0, said }
  ' build/ci/Testing/Temporary/LastTest.log >&2
  return "$code"
}
