// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What nvcc embeds: a fat binary's bytes to the list of PTX texts and cubins in it, decompressed.
/// Source: layout found in the output of nvcc 13.0 and described in docs/virtual_gpu_fatbin.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "grader/base/result.hpp"

namespace membound::fatbin {

/// What an entry holds.
enum class EntryKind : std::uint8_t { kPtx, kElf };

/// One PTX text or one cubin, for one architecture.
struct Entry {
  EntryKind kind = EntryKind::kPtx;
  std::uint32_t arch = 0;  ///< 90 for sm_90 / compute_90; 0 when a plain text or cubin was given
  std::uint32_t ptx_version_major = 0, ptx_version_minor = 0;  ///< 9, 0
  std::string name = {};                ///< the identifier nvcc gave, often the .cu file; may be ""
  std::uint64_t flags = 0;              ///< as stored; 0x2000 LZ4, 0x8000 ZSTD, 0x2 debug
  std::vector<std::byte> payload = {};  ///< decompressed; PTX without its final zero bytes

  /// The payload of a PTX entry as text.
  [[nodiscard]] std::string_view text() const {
    return {reinterpret_cast<const char*>(payload.data()), payload.size()};
  }
};

/// Decompressed size over all entries that read() accepts; more is an error.
inline constexpr std::uint64_t kMaxPayloadBytes = std::uint64_t{1} << 28;

/// Reads one or several containers back to back, a plain PTX text or a plain cubin, or all
/// containers that lie in a host program (an ELF file that is no cubin). Entries of kinds other
/// than PTX and ELF are skipped. `where` names the bytes in messages.
[[nodiscard]] base::Result<std::vector<Entry>> read(std::span<const std::byte> bytes,
                                                    std::string_view where = "fat binary");

/// Whether these bytes are a host program in which no container lies: clang embeds none where the
/// source has no kernel, nvcc embeds an empty PTX text.
[[nodiscard]] bool is_program_without_device_code(std::span<const std::byte> bytes);

/// Bytes of the container at `data` by its own header, for a pointer without a length; 0 when there
/// is no container. Reads 16 bytes.
[[nodiscard]] std::size_t container_bytes(const void* data);

/// Reads what a `__fatBinC_Wrapper_t` points to, as handed to __cudaRegisterFatBinary: version 1
/// has one container, version 2 (`-rdc=true`) a null-terminated array of more, one per source file,
/// each of them a module of its own to be linked: one element of the result per container, the
/// array's first, the final container last.
[[nodiscard]] base::Result<std::vector<std::vector<Entry>>> read_wrapper(const void* wrapper);

/// As read_wrapper(), for what the caller of cudaLibraryLoadData may pass: a wrapper, a container,
/// a PTX text ending in zero, or a cubin. There is no length: each form tells its own.
[[nodiscard]] base::Result<std::vector<std::vector<Entry>>> read_image(const void* image);

/// The PTX entry to run on a device of compute capability `arch` (90): the newest not above it;
/// when all are newer, the oldest, because the virtual GPU is not bound to an architecture. An
/// error that says how to rebuild when there is no PTX at all.
[[nodiscard]] base::Result<const Entry*> choose_ptx(std::span<const Entry> entries,
                                                    std::uint32_t arch, std::string_view where);

/// The cubin for `arch` (or the nearest one), for its register counts; null when there is none.
[[nodiscard]] const Entry* choose_cubin(std::span<const Entry> entries, std::uint32_t arch);

}  // namespace membound::fatbin
