# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154  # a part of ./membound: it shares the variables of all parts
#
# What this machine has and what a call needs of it.

# The toolkit in a folder of the project's own: PyPI's packages of CUDA 13.0, one version each. The first
# nvdisasm that there is a package of is 13.2's.
readonly cuda_wheels=(nvidia-cuda-nvcc==13.0.88 nvidia-cuda-crt==13.0.88 nvidia-nvvm==13.0.88
  nvidia-cuda-runtime==13.0.88 nvidia-cuda-cccl==13.0.85 nvidia-cuda-profiler-api==13.0.85
  nvidia-cuda-nvdisasm==13.2.78)
readonly wheel_toolkit=$state/toolkit/nvidia/cu13

# A line "package: why" for each Debian package that is missing. A package is known by one file of
# it, because asking dpkg about fifteen packages takes longer than building one. Programs that came
# with the course need the compiler for kernels alone.
missing_packages() {
  if [ "${want_build:-}" ]; then
    missing_of all ${want_staff:+staff} ${want_tests:+staff tests}
  fi
  if [ "$want_nvcc" ]; then
    missing_of nvcc
    if ! find_toolkit >/dev/null; then missing_of toolkit; fi
  fi
  if [ "$want_clang" ] && ! find_clang; then packages_of clang | while read -r package _ why; do echo "$package: $why"; done; fi
  # An installation that was broken off may have unpacked a package and not what it depends on.
  if [ -e "$state/installing" ]; then sed 's/$/: its installation was broken off/' "$state/installing"; fi
}

missing_of() { # WHO…
  local package file why
  packages_of "$@" | while read -r package file why; do
    compgen -G "$file" >/dev/null || echo "$package: $why"
  done
}

# All Debian packages that the course has a use for; there is no other list. A line: package, a file of it,
# who needs it, why. Who: all who build; staff, instructors' and authors' commands; tests; what compiles
# kernels: nvcc, toolkit where it must be fetched first, clang; editor, in .devcontainer/Dockerfile, which has
# all of these; ci and ccache, in .ci/run alone: ccache for what is built twice.
packages_of() { # WHO…
  local package file who why
  while read -r package file who why; do
    if [[ " $* " == *" $who "* ]]; then echo "$package $file $why"; fi
  done <<'LIST'
g++ /usr/bin/g++ all compiles the grader
cmake /usr/bin/cmake all configures the build
ninja-build /usr/bin/ninja all builds
git /usr/bin/git all restores a lab's skeleton
libgtest-dev /usr/include/gtest/gtest.h all the labs' tests are GoogleTest programs
libgmock-dev /usr/include/gmock/gmock.h all the labs' tests are GoogleTest programs
nlohmann-json3-dev /usr/include/nlohmann/json.hpp all reads lab.json, writes results
libpugixml-dev /usr/include/pugixml.hpp staff checks the handouts' figures
libcli11-dev /usr/include/CLI/CLI.hpp all reads the command line
libkainjow-mustache-dev /usr/include/kainjow/mustache.hpp all fills in pages
libmd4c-dev /usr/include/md4c.h all reads handouts and help
libcsv-dev /usr/include/csv.h all reads rosters, writes grade tables
pkg-config /usr/bin/pkg-config all finds libraries
libelf-dev /usr/include/libelf.h all reads cubins
zlib1g-dev /usr/include/zlib.h all writes pictures as PNG
libzstd-dev /usr/include/zstd.h all unpacks what nvcc embeds
liblz4-dev /usr/include/lz4.h all unpacks what nvcc embeds
libssl-dev /usr/include/openssl/evp.h all computes SHA-256
libarchive-dev /usr/include/archive.h staff reads submissions from zip and tar
libsqlitecpp-dev /usr/include/SQLiteCpp/SQLiteCpp.h staff keeps the ledger of a graded class
libhowardhinnant-date-dev /usr/include/date/tz.h staff reads due dates
tzdata /usr/share/zoneinfo/UTC staff knows when summer time ends
libyaml-cpp-dev /usr/include/yaml-cpp/yaml.h staff reads Gradescope's exports
libutf8proc-dev /usr/include/utf8proc.h all shows hidden characters, compares names
libseccomp-dev /usr/include/seccomp.h all keeps graded code from system calls it has no use for
bubblewrap /usr/bin/bwrap all shuts graded code in
libvalijson-dev /usr/include/valijson/validator.hpp tests tests the result schema
g++ /usr/bin/g++ nvcc nvcc reads a kernel with it first
python3-pip /usr/bin/pip3 toolkit fetches the CUDA compiler
ca-certificates /etc/ssl/certs/ca-certificates.crt toolkit knows whom the CUDA compiler is fetched from
clang /usr/bin/clang++ clang compiles kernels without a CUDA toolkit
clangd /usr/bin/clangd editor tells mistakes while a kernel is written
clang-format /usr/bin/clang-format ci holds the sources to one format
clang-tidy /usr/bin/clang-tidy ci finds mistakes in what a commit changes
shellcheck /usr/bin/shellcheck ci reads the shell scripts
doxygen /usr/bin/doxygen ci builds the course's site, whose links are followed
chromium /usr/bin/chromium ci looks at the site's pages
g++-aarch64-linux-gnu /usr/bin/aarch64-linux-gnu-g++ ci looks at what depends on the processor as the other kind sees it
slurmctld /usr/sbin/slurmctld ci starts a cluster on loopback
slurmd /usr/sbin/slurmd ci starts a cluster on loopback
slurm-client /usr/bin/sbatch ci starts a cluster on loopback
ccache /usr/bin/ccache ccache makes the second build of the course short
LIST
}

# Prints the folder of a CUDA toolkit of version 12 or newer whose nvcc makes code for this machine's GPU, if it has
# one, or fails. Debian's own nvcc is version 11.
find_toolkit() {
  local nvcc candidate
  nvcc=$(readlink -f -- "$(command -v nvcc || true)") || true
  for candidate in "${MEMBOUND_TOOLKIT:-}" "${nvcc%/bin/nvcc}" /usr/local/cuda{,-*} "$wheel_toolkit"; do
    [ -n "$candidate" ] && [ -x "$candidate/bin/nvcc" ] &&
      grep -qsE '#define CUDART_VERSION *1[2-9]' "$candidate/include/cuda_runtime_api.h" &&
      serves_gpu "$candidate/bin/nvcc" &&
      { echo "$candidate"; return; }
  done
  return 1
}

# Whether clang 14 or newer is there, by any of its names.
find_clang() {
  local name version
  for name in clang++ clang++-{20,19,18,17,16,15,14}; do
    version=$("$name" --version 2>/dev/null | sed -n 's/.*clang version \([0-9]*\).*/\1/p' | head -n 1)
    [ "${version:-0}" -ge 14 ] && return
  done
  return 1
}

has_host_compiler() { command -v g++ >/dev/null; }

has_gpu() { [ -e /dev/nvidiactl ] || [ -e /dev/dxg ]; }

# Whether an nvcc, or the one that can be fetched, makes code for a GPU of this machine: for its compute capability, and
# for a driver of its own major version or a newer one. Where there is no GPU, and where nvidia-smi is missing, any does;
# the program, once built, asks the driver itself (judge/gpu_facts).
serves_gpu() { # [NVCC]
  has_gpu && command -v nvidia-smi >/dev/null || return 0
  local said='release 13.0 sm_75 sm_80 sm_86 sm_87 sm_88 sm_89 sm_90 sm_100 sm_103 sm_110 sm_120 sm_121'
  if [ "${1:-}" ]; then said=$("$1" --version && "$1" --list-gpu-code) || return 1; fi
  nvidia-smi --query-gpu=driver_version,compute_cap --format=csv,noheader 2>/dev/null |
    awk -F '[., ]+' -v said="${said//$'\n'/ } " '
      BEGIN { oldest = said ~ /release 13/ ? 580 : 525 }
      $1 >= oldest && index(said, " sm_" $(NF - 1) $NF " ") { serves = 1 }
      END { exit !serves }'
}

# Which device compilers this call needs: the one it names; for the tests both; else nvcc where it is, or can be
# fetched (no_fetch: it could not), and makes code for the GPU, if there is one; and clang, which needs no toolkit, everywhere else.
choose_compilers() {
  want_nvcc='' want_clang=''
  case "${want_tests:+both}${compiler:-}" in
    both*) want_nvcc=1 want_clang=1 ;;
    nvcc) want_nvcc=1 ;;
    clang) want_clang=1 ;;
    *)
      want_clang=1
      # nvcc gives every source to g++ first; a clang that is there serves without one.
      if { find_toolkit >/dev/null || { [ -z "${no_fetch:-}" ] && has_gpu && serves_gpu; }; } &&
        { has_host_compiler || ! find_clang; }; then
        want_nvcc=1 want_clang=''
      fi
      ;;
  esac
}

# Whether the compiler that this call names is there.
has_named_compiler() {
  case "${compiler:-}" in
    clang) find_clang ;;
    nvcc) command -v nvcc >/dev/null || find_toolkit >/dev/null ;;
  esac
}
