// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/device_code/fatbin/fatbin_errors.hpp"

#include <string>

#include "grader/device_code/fatbin/fatbin.hpp"

namespace membound::fatbin::errors {
namespace {

constexpr std::string_view kBuildAgain =
    "build it again with nvcc; the file may be cut off or damaged";

base::Error input(std::string_view where, std::string found, std::string expected,
                  std::string_view advice) {
  return {base::ErrorKind::kInput, std::string(where), std::move(found), std::move(expected),
          std::string(advice)};
}

}  // namespace

base::Error not_a_fat_binary(std::string_view where) {
  return input(where, "the bytes are neither a fat binary, a cubin nor PTX text",
               "the magic number 0xBA55ED50, an ELF file, or a text beginning with .version",
               "pass a file made by `nvcc -fatbin`, `nvcc -cubin` or `nvcc -ptx`");
}

base::Error cut_off(std::string_view where, std::string_view what, std::uint64_t needed_bytes,
                    std::uint64_t there_bytes) {
  return input(where, std::string(what) + " ends after " + std::to_string(there_bytes) + " bytes",
               std::to_string(needed_bytes) + " bytes", kBuildAgain);
}

base::Error unknown_version(std::string_view where, std::uint32_t version) {
  return input(where, "a fat binary of version " + std::to_string(version), "version 1",
               "this layout is newer than CUDA 13.0, which the virtual GPU knows; build with "
               "nvcc 13.0, or with `nvcc -ptx`");
}

base::Error bad_header(std::string_view where, std::uint32_t header_bytes) {
  return input(where, "an entry header of " + std::to_string(header_bytes) + " bytes",
               "64 bytes or more, inside the container", kBuildAgain);
}

base::Error bad_compression(std::string_view where, std::string_view method) {
  return input(where, "a damaged " + std::string(method) + " entry", "an entry that unpacks",
               kBuildAgain);
}

base::Error too_large(std::string_view where, std::uint64_t bytes) {
  return input(where, "entries of " + std::to_string(bytes) + " bytes or more when unpacked",
               "at most " + std::to_string(kMaxPayloadBytes) + " bytes in all", kBuildAgain);
}

base::Error no_ptx(std::string_view where, std::uint32_t arch) {
  const std::string sm = std::to_string(arch);
  if (arch == 0) {
    return input(where, "no device code at all", "PTX text",
                 "compile with `nvcc -arch=sm_90`, which embeds PTX beside the machine code");
  }
  return input(where, "only machine code, for sm_" + sm + ", and no PTX",
               "PTX, which the virtual GPU executes",
               "compile with `-arch=sm_" + sm + "`, or add `-gencode arch=compute_" + sm +
                   ",code=compute_" + sm + "`; `code=sm_" + sm + "` alone leaves the PTX out");
}

base::Error not_a_cubin(std::string_view where, std::string_view found) {
  return input(
      where, std::string(found), "a 64-bit little-endian ELF file for NVIDIA CUDA",
      "pass a cubin made by `nvcc -cubin`; programs and objects hold a fat binary in their "
      ".nv_fatbin section");
}

base::Error bad_cubin(std::string_view where, std::string_view what) {
  return input(where, std::string(what) + " lies outside the file", "an undamaged cubin",
               kBuildAgain);
}

}  // namespace membound::fatbin::errors
