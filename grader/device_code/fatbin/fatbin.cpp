// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/device_code/fatbin/fatbin.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lz4.h>
#include <zstd.h>

#include "grader/base/result.hpp"
#include "grader/device_code/fatbin/cubin.hpp"
#include "grader/device_code/fatbin/elf_file.hpp"

namespace membound::fatbin {
namespace {

/// An LZ4 block cannot unpack to more than 255 times its size and a few bytes.
constexpr std::uint64_t kLargestLz4Ratio = 255;
constexpr std::size_t kChunkBytes = std::size_t{1} << 18;

/// One LZ4 block of exactly `unpacked_bytes`; nothing when it is damaged.
std::optional<std::vector<std::byte>> unpack_lz4(std::span<const std::byte> packed,
                                                 std::uint64_t unpacked_bytes) {
  if (unpacked_bytes > LZ4_MAX_INPUT_SIZE || packed.size() > LZ4_MAX_INPUT_SIZE)
    return std::nullopt;
  if (unpacked_bytes > (packed.size() + 1) * kLargestLz4Ratio) return std::nullopt;
  std::vector<std::byte> unpacked(unpacked_bytes);
  const int bytes = LZ4_decompress_safe(
      reinterpret_cast<const char*>(packed.data()), reinterpret_cast<char*>(unpacked.data()),
      static_cast<int>(packed.size()), static_cast<int>(unpacked_bytes));
  if (bytes < 0 || static_cast<std::uint64_t>(bytes) != unpacked_bytes) return std::nullopt;
  return unpacked;
}

/// One ZSTD frame of exactly `unpacked_bytes`; nothing when it is damaged.
std::optional<std::vector<std::byte>> unpack_zstd(std::span<const std::byte> packed,
                                                  std::uint64_t unpacked_bytes) {
  const std::unique_ptr<ZSTD_DStream, decltype(&ZSTD_freeDStream)> stream(ZSTD_createDStream(),
                                                                          &ZSTD_freeDStream);
  std::vector<std::byte> unpacked;
  ZSTD_inBuffer in{packed.data(), packed.size(), 0};
  ZSTD_outBuffer out{nullptr, 0, 0};
  for (;;) {
    if (out.pos == out.size) {
      // One byte of room beyond the claim tells a frame that is longer than it.
      const std::uint64_t room = std::min<std::uint64_t>(unpacked_bytes + 1, out.pos + kChunkBytes);
      if (room == out.size) return std::nullopt;
      unpacked.resize(room);
      out = {unpacked.data(), unpacked.size(), out.pos};
    }
    const std::size_t before = in.pos + out.pos;
    const std::size_t left = ZSTD_decompressStream(stream.get(), &out, &in);
    if (ZSTD_isError(left) != 0) return std::nullopt;
    if (left == 0) break;
    if (in.pos + out.pos == before)
      return std::nullopt;  // the frame wants bytes that are not there
  }
  if (out.pos != unpacked_bytes) return std::nullopt;
  unpacked.resize(unpacked_bytes);
  return unpacked;
}

namespace errors {

base::Error input(std::string_view where, std::string found, std::string expected,
                  std::string_view advice) {
  return {base::ErrorKind::kInput, std::string(where), std::move(found), std::move(expected),
          std::string(advice)};
}

base::Error not_a_fat_binary(std::string_view where) {
  return input(where, "the bytes are neither a fat binary, a cubin nor PTX text",
               "the magic number 0xBA55ED50, an ELF file, or a text beginning with .version",
               "pass a file made by `nvcc -fatbin`, `nvcc -cubin` or `nvcc -ptx`");
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

/// There are cubins only, the first for `arch`; 0 when the container is empty.
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

}  // namespace errors

constexpr std::uint32_t kWrapperMagic = 0x466243B1;
constexpr std::uint32_t kContainerMagic = 0xBA55ED50;
constexpr std::uint16_t kContainerVersion = 1;
constexpr std::size_t kContainerHeaderBytes = 16;
constexpr std::uint32_t kEntryHeaderBytes = 64;
constexpr std::uint16_t kPtxCode = 1, kElfCode = 2;
constexpr std::uint64_t kLz4Flag = 0x2000, kZstdFlag = 0x8000;

/// Container, 16 bytes:  u32 magic | u16 version | u16 header bytes | u64 bytes of all entries
/// Entry, 64 bytes or more:
///    0 u16 kind          2 u16 version      4 u32 header bytes    8 u64 payload bytes
///   16 u32 packed bytes 20 u32 options     24 u16 minor, u16 major of the PTX
///   28 u32 arch         32 u32 name offset 36 u32 name bytes     40 u64 flags
///   48 u64 unused       56 u64 unpacked bytes
struct EntryHeader {
  std::uint16_t kind;
  std::uint32_t header_bytes;
  std::uint64_t payload_bytes;
  std::uint32_t packed_bytes;
  std::uint32_t name_offset, name_bytes;
  std::uint64_t unpacked_bytes;
};

EntryHeader header_of(Bytes bytes) {
  return {read_at<std::uint16_t>(bytes, 0),  read_at<std::uint32_t>(bytes, 4),
          read_at<std::uint64_t>(bytes, 8),  read_at<std::uint32_t>(bytes, 16),
          read_at<std::uint32_t>(bytes, 32), read_at<std::uint32_t>(bytes, 36),
          read_at<std::uint64_t>(bytes, 56)};
}

bool begins_with(Bytes bytes, std::uint32_t magic) {
  return bytes.size() >= sizeof magic && read_at<std::uint32_t>(bytes, 0) == magic;
}

/// A program for the host's processor: an ELF file, but no cubin.
bool is_program(Bytes bytes) {
  return is_elf(bytes) && elf_machine(bytes) != EM_NONE && elf_machine(bytes) != EM_CUDA;
}

/// PTX begins with '.version', maybe after white space and comments.
bool looks_like_ptx(Bytes bytes) {
  for (std::byte each : bytes) {
    const char c = static_cast<char>(each);
    if (c == ' ' || c == '\n' || c == '\t' || c == '\r') continue;
    return c == '.' || c == '/';
  }
  return false;
}

void strip_final_zeros(std::vector<std::byte>& text) {
  while (!text.empty() && text.back() == std::byte{0}) text.pop_back();
}

/// Reads the entries of one or several containers.
class Reader {
 public:
  explicit Reader(std::string_view where) : where_(where) {}

  base::Status read_containers(Bytes bytes) {
    while (!bytes.empty()) {
      if (std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; })) {
        break;  // padding of the section
      }
      if (!begins_with(bytes, kContainerMagic)) return errors::not_a_fat_binary(where_);
      if (bytes.size() < kContainerHeaderBytes) {
        return cut_off(where_, "the header of the fat binary", kContainerHeaderBytes, bytes.size());
      }
      const auto version = read_at<std::uint16_t>(bytes, 4);
      if (version != kContainerVersion) return errors::unknown_version(where_, version);
      const std::uint64_t header = read_at<std::uint16_t>(bytes, 6);
      const auto payload = read_at<std::uint64_t>(bytes, 8);
      if (header < kContainerHeaderBytes) {
        return errors::bad_header(where_, static_cast<std::uint32_t>(header));
      }
      if (!has(bytes, header, payload)) {
        return cut_off(where_, "the fat binary", header + payload, bytes.size());
      }
      if (auto status = read_entries(bytes.subspan(header, payload)); !status) return status;
      bytes = bytes.subspan(header + payload);
    }
    return base::Done{};
  }

  std::vector<Entry> take() { return std::move(entries_); }

 private:
  base::Status read_entries(Bytes bytes) {
    while (bytes.size() >= kEntryHeaderBytes) {
      const EntryHeader header = header_of(bytes);
      if (header.header_bytes < kEntryHeaderBytes || header.header_bytes > bytes.size()) {
        return errors::bad_header(where_, header.header_bytes);
      }
      if (!has(bytes, header.header_bytes, header.payload_bytes)) {
        return cut_off(where_, "an entry of the fat binary",
                       header.header_bytes + header.payload_bytes, bytes.size());
      }
      if (header.kind == kPtxCode || header.kind == kElfCode) {
        if (auto status = read_entry(header, bytes); !status) return status;
      }
      bytes = bytes.subspan(header.header_bytes + header.payload_bytes);
    }
    return base::Done{};
  }

  base::Status read_entry(const EntryHeader& header, Bytes bytes) {
    Entry entry;
    entry.kind = header.kind == kPtxCode ? EntryKind::kPtx : EntryKind::kElf;
    entry.ptx_version_minor = read_at<std::uint16_t>(bytes, 24);
    entry.ptx_version_major = read_at<std::uint16_t>(bytes, 26);
    entry.arch = read_at<std::uint32_t>(bytes, 28);
    entry.flags = read_at<std::uint64_t>(bytes, 40);
    if (header.name_bytes != 0 && has(bytes, header.name_offset, header.name_bytes) &&
        header.name_offset + std::uint64_t{header.name_bytes} <= header.header_bytes) {
      entry.name = string_at(bytes.subspan(header.name_offset, header.name_bytes), 0);
    }
    const Bytes payload = bytes.subspan(header.header_bytes, header.payload_bytes);
    if (auto status = unpack(header, payload, entry); !status) return status;
    if (entry.kind == EntryKind::kPtx) strip_final_zeros(entry.payload);
    entries_.push_back(std::move(entry));
    return base::Done{};
  }

  base::Status unpack(const EntryHeader& header, Bytes payload, Entry& entry) {
    const bool lz4 = (entry.flags & kLz4Flag) != 0;
    const bool zstd = (entry.flags & kZstdFlag) != 0;
    const std::uint64_t bytes = lz4 || zstd ? header.unpacked_bytes : payload.size();
    if (bytes > kMaxPayloadBytes - total_bytes_) return errors::too_large(where_, bytes);
    total_bytes_ += bytes;
    if (!lz4 && !zstd) {
      entry.payload.assign(payload.begin(), payload.end());
      return base::Done{};
    }
    if (header.packed_bytes > payload.size()) {
      return cut_off(where_, "a compressed entry", header.packed_bytes, payload.size());
    }
    const Bytes packed = payload.first(header.packed_bytes);
    auto unpacked = lz4 ? unpack_lz4(packed, bytes) : unpack_zstd(packed, bytes);
    if (!unpacked) return errors::bad_compression(where_, lz4 ? "LZ4" : "ZSTD");
    entry.payload = std::move(*unpacked);
    return base::Done{};
  }

  std::string_view where_;
  std::vector<Entry> entries_;
  std::uint64_t total_bytes_ = 0;
};

Entry plain_entry(EntryKind kind, Bytes bytes) {
  Entry entry;
  entry.kind = kind;
  entry.payload.assign(bytes.begin(), bytes.end());
  if (kind == EntryKind::kPtx) strip_final_zeros(entry.payload);
  return entry;
}

Bytes bytes_at(const void* data, std::size_t size) {
  return {static_cast<const std::byte*>(data), size};
}

/// The layout nvcc gives to `__fatDeviceText` in the section .nvFatBinSegment.
struct Wrapper {
  std::uint32_t magic;
  std::uint32_t version;
  const void* data;
  const void* const* prelinked;  ///< version 2: containers of the linked files, ending in null
};

/// The entry whose architecture suits `arch` best, of one kind.
const Entry* nearest(std::span<const Entry> entries, EntryKind kind, std::uint32_t arch) {
  const Entry* below = nullptr;
  const Entry* above = nullptr;
  for (const Entry& entry : entries) {
    if (entry.kind != kind) continue;
    if (entry.arch <= arch) {
      if (below == nullptr || entry.arch > below->arch) below = &entry;
    } else if (above == nullptr || entry.arch < above->arch) {
      above = &entry;
    }
  }
  return below != nullptr ? below : above;
}

/// The entries of every container in a program; the linker puts them at multiples of 8.
base::Result<std::vector<Entry>> read_program(Bytes bytes, std::string_view where) {
  constexpr std::size_t kAlignment = 8;
  std::vector<Entry> all;
  for (std::size_t at = 0; at + kContainerHeaderBytes <= bytes.size(); at += kAlignment) {
    const Bytes rest = bytes.subspan(at);
    if (!begins_with(rest, kContainerMagic)) continue;
    const std::size_t size = container_bytes(rest.data());
    Reader reader(where);
    if (auto status = reader.read_containers(rest.first(std::min(size, rest.size()))); !status)
      return status.error();
    for (Entry& entry : reader.take()) all.push_back(std::move(entry));
  }
  return all;
}

}  // namespace

bool is_program_without_device_code(Bytes bytes) {
  if (!is_program(bytes)) return false;
  const auto entries = read_program(bytes, "program");
  return entries && entries->empty();
}

base::Result<std::vector<Entry>> read(Bytes bytes, std::string_view where) {
  if (is_program(bytes)) {
    auto entries = read_program(bytes, where);
    if (!entries || !entries->empty()) return entries;
  }
  if (is_elf(bytes)) {
    auto arch = cubin_arch(bytes, where);
    if (!arch) return arch.error();
    Entry entry = plain_entry(EntryKind::kElf, bytes);
    entry.arch = *arch;
    return std::vector<Entry>{std::move(entry)};
  }
  if (bytes.size() > kMaxPayloadBytes) return errors::too_large(where, bytes.size());
  if (looks_like_ptx(bytes)) return std::vector<Entry>{plain_entry(EntryKind::kPtx, bytes)};
  if (!begins_with(bytes, kContainerMagic)) return errors::not_a_fat_binary(where);
  Reader reader(where);
  if (auto status = reader.read_containers(bytes); !status) return status.error();
  return reader.take();
}

std::size_t container_bytes(const void* data) {
  const Bytes header = bytes_at(data, kContainerHeaderBytes);
  if (!begins_with(header, kContainerMagic)) return 0;
  return read_at<std::uint16_t>(header, 6) + read_at<std::uint64_t>(header, 8);
}

base::Result<std::vector<std::vector<Entry>>> read_wrapper(const void* wrapper) {
  constexpr std::string_view kWhere = "embedded fat binary";
  Wrapper content{};
  if (wrapper != nullptr) std::memcpy(&content, wrapper, sizeof content);
  if (content.magic != kWrapperMagic || content.data == nullptr) {
    return errors::not_a_fat_binary(kWhere);
  }
  std::vector<const void*> containers;
  if (content.version == 2 && content.prelinked != nullptr) {
    for (const void* const* at = content.prelinked; *at != nullptr; ++at) containers.push_back(*at);
  }
  containers.push_back(content.data);
  std::vector<std::vector<Entry>> modules;
  for (const void* container : containers) {
    auto entries = read(bytes_at(container, container_bytes(container)), kWhere);
    if (!entries) return entries.error();
    modules.push_back(std::move(*entries));
  }
  return modules;
}

base::Result<std::vector<std::vector<Entry>>> read_image(const void* image) {
  constexpr std::string_view kWhere = "module image";
  if (image == nullptr) return errors::not_a_fat_binary(kWhere);
  // Every form has at least four bytes: the shortest PTX is longer, with its final zero.
  const char* const text = static_cast<const char*>(image);
  const std::size_t known = ::strnlen(text, sizeof(std::uint32_t));
  const Bytes start = bytes_at(image, known);
  std::size_t size = known;
  if (known == sizeof(std::uint32_t)) {
    if (begins_with(start, kWrapperMagic)) return read_wrapper(image);
    if (begins_with(start, kContainerMagic)) {
      size = container_bytes(image);
    } else if (is_elf(start)) {
      size = elf_bytes(image);
    } else if (looks_like_ptx(start) || text[0] <= ' ') {
      size = std::strlen(text);
    }
  }
  auto entries = read(bytes_at(image, size), kWhere);
  if (!entries) return entries.error();
  return std::vector<std::vector<Entry>>{std::move(*entries)};
}

base::Result<const Entry*> choose_ptx(std::span<const Entry> entries, std::uint32_t arch,
                                      std::string_view where) {
  if (const Entry* entry = nearest(entries, EntryKind::kPtx, arch)) return entry;
  return errors::no_ptx(where, entries.empty() ? 0 : entries.front().arch);
}

const Entry* choose_cubin(std::span<const Entry> entries, std::uint32_t arch) {
  return nearest(entries, EntryKind::kElf, arch);
}

}  // namespace membound::fatbin
