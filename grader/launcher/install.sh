# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154  # a part of ./membound: it shares the variables of all parts
#
# Brings a machine to where it can build. Broken off anywhere, the next call goes on.

# Settles what a broken-off installation left, then installs.
apt_get_install() { # package…
  local -a become=()
  if [ "$(id -u)" -ne 0 ]; then become=(sudo); fi
  "${become[@]}" dpkg --configure -a && "${become[@]}" apt-get update -q &&
    "${become[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q \
      --no-install-recommends "$@"
}

install_packages() { # package…
  command -v apt-get >/dev/null || fail 3 "this is not Debian or Ubuntu" \
    "install these packages by your system's own means, then call ./membound again"
  if [ "$(id -u)" -ne 0 ]; then
    # Asks for the password, if for one, before a line of progress hides the question.
    { command -v sudo >/dev/null && sudo true; } || fail 3 "no right to install packages" \
      "ask whoever runs this machine: apt-get install ${*}"
  fi
  printf '%s\n' "$@" >"$state/installing"
  with_progress "installing packages" count_packages apt_get_install "$@" 9>&- ||
    fail 3 "apt-get failed: $(grep '^E:' "$log" | head -n 1) (all of it: .membound/build.log)" \
      "check the network, then call ./membound again" "sudo apt-get install ${*}"
  rm "$state/installing"
}

install_toolkit() { # fails where pip does
  rm -rf "$state/toolkit.part"
  with_progress "fetching CUDA 13.0 (about 100 MB)" count_wheels \
    python3 -m pip install --progress-bar off --disable-pip-version-check --no-deps --no-compile \
    --target "$state/toolkit.part" "${cuda_wheels[@]}" || return
  # The packages lack the names that a linker and CMake look for.
  ln -s libcudart.so.13 "$state/toolkit.part/nvidia/cu13/lib/libcudart.so" &&
    ln -s lib "$state/toolkit.part/nvidia/cu13/lib64" &&
    rm -rf "$state/toolkit" && mv "$state/toolkit.part" "$state/toolkit"
}

# Brings the machine to where it can build, or tells what is missing.
prepare() {
  choose_compilers
  local missing fetch=
  missing=$(missing_packages | sort -u -t: -k1,1)
  if [ "$want_nvcc" ] && ! find_toolkit >/dev/null; then fetch=1; fi
  if [ -n "$missing" ] || [ "$fetch" ]; then
    say "missing on this machine:"
    { [ -z "$missing" ] || printf '  %s\n' "${missing//$'\n'/$'\n'  }"
      [ -z "$fetch" ] || echo "  CUDA toolkit: compiles kernels (from PyPI, into .membound/toolkit)"; } >&2
    if [ "${no_install:-}" ]; then
      fail 3 "nothing was installed (--no-install)" "call ./membound without --no-install"
    fi
    # shellcheck disable=SC2046  # package names hold no spaces
    [ -z "$missing" ] || install_packages $(cut -d: -f1 <<<"$missing")
    if [ "$fetch" ] && ! install_toolkit; then
      local reason
      reason="pip failed: $(grep '^ERROR:' "$log" | head -n 1)"
      if [ "${compiler:-}${want_tests:-}" ]; then
        fail 3 "$reason (all of it: .membound/build.log)" \
          "check the network, or install a CUDA toolkit 13 and set MEMBOUND_TOOLKIT to its folder"
      fi
      say "$reason: clang compiles kernels instead of nvcc"
      no_fetch=1
      prepare
      return
    fi
  fi
  local toolkit
  if toolkit=$(find_toolkit); then
    export MEMBOUND_TOOLKIT=$toolkit CUDAToolkit_ROOT=$toolkit
  elif [ "$want_nvcc" ]; then
    fail 3 "the CUDA toolkit is not where it was put" "rm -r .membound/toolkit"
  fi
}
