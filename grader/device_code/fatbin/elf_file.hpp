// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The one reader of ELF files, over elfutils' libelf, which keeps to the bytes it is given; and
/// little-endian numbers out of a span of bytes, never beyond its end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <elf.h>

#include "grader/base/result.hpp"

namespace membound::fatbin {

using Bytes = std::span<const std::byte>;

/// True when [offset, offset + size) lies inside `bytes`; safe against overflow.
[[nodiscard]] inline bool has(Bytes bytes, std::uint64_t offset, std::uint64_t size) {
  return offset <= bytes.size() && size <= bytes.size() - offset;
}

/// The T at `offset`, or zero when it is not all there: callers check has() for what matters.
template <typename T>
[[nodiscard]] T read_at(Bytes bytes, std::uint64_t offset) {
  T value{};
  if (has(bytes, offset, sizeof value)) std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

/// The characters from `offset` up to a zero byte or the end.
[[nodiscard]] inline std::string_view string_at(Bytes bytes, std::uint64_t offset) {
  if (offset >= bytes.size()) return {};
  const char* const first = reinterpret_cast<const char*>(bytes.data()) + offset;
  return {first, ::strnlen(first, bytes.size() - offset)};
}

/// What to do about bytes that end too soon.
inline constexpr std::string_view kBuildAgain =
    "build it again with nvcc; the file may be cut off or damaged";

/// `what` is not all there.
[[nodiscard]] base::Error cut_off(std::string_view where, std::string_view what,
                                  std::uint64_t needed_bytes, std::uint64_t there_bytes);

/// Whether the bytes begin as an ELF file's do.
[[nodiscard]] bool is_elf(std::span<const std::byte> bytes);

/// e_machine; EM_NONE where the bytes end before it.
[[nodiscard]] std::uint16_t elf_machine(std::span<const std::byte> bytes);

/// Length of the file at `data` by its own headers, for a pointer without a length. Believes them.
[[nodiscard]] std::size_t elf_bytes(const void* data);

/// A section; its parts are those of the file's bytes.
struct ElfSection {
  std::string_view name;
  Elf64_Shdr header;
  std::span<const std::byte> content;  ///< empty for SHT_NOBITS
};

/// A 64-bit little-endian ELF file.
struct ElfFile {
  Elf64_Ehdr header;
  std::vector<ElfSection> sections;  ///< by number
};

/// What keeps bytes from being such a file.
enum class ElfFault { kNoElf, kOtherClass, kBadSectionTable, kBadSection };

/// Reads header and sections of `bytes`, which must outlive the result; what is wrong is in
/// `fault`.
[[nodiscard]] std::optional<ElfFile> read_elf(std::span<const std::byte> bytes, ElfFault& fault);

/// Libraries that the loader is asked for, as the dynamic section names them; none for other bytes.
[[nodiscard]] std::vector<std::string> needed_libraries(std::span<const std::byte> bytes);

/// A function that the loader must find elsewhere.
struct WantedFunction {
  std::string name;
  std::string library;  ///< whose version it has; empty: any library's
};
/// Those of a program; none for other bytes.
[[nodiscard]] std::vector<WantedFunction> wanted_functions(std::span<const std::byte> bytes);

}  // namespace membound::fatbin
