// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/device_code/fatbin/cubin.hpp"

#include <elf.h>

#include <algorithm>
#include <map>
#include <utility>

#include "grader/device_code/fatbin/bytes.hpp"
#include "grader/device_code/fatbin/fatbin_errors.hpp"

namespace membound::fatbin {
namespace {

using CubinBytes = std::span<const std::byte>;

/// Entries of .nv.info sections: u8 format, u8 attribute, then a byte, a half-word, or a size and
/// that many bytes. Numbers found in cubins of nvcc 13.0 and checked against `ptxas -v`.
enum Format : std::uint8_t { kByte = 2, kHalf = 3, kSized = 4 };
enum Attribute : std::uint8_t {
  kMaxThreads = 0x05,      ///< three u32: block limits of __launch_bounds__
  kFrameSize = 0x11,       ///< symbol, bytes
  kMinStackSize = 0x12,    ///< symbol, bytes with called functions
  kParameter = 0x17,       ///< u32, u16 ordinal, u16 offset, u32 with the size from bit 18 on
  kParameterBytes = 0x19,  ///< half-word
  kRegisterCount = 0x2F,   ///< symbol, count
  kBarrierCount = 0x4C     ///< byte
};

constexpr std::string_view kInfoPrefix = ".nv.info.";
constexpr std::string_view kSharedPrefix = ".nv.shared.";
constexpr std::uint8_t kNewAbi = 8;  ///< from CUDA 12.8 on the architecture moved inside e_flags
constexpr std::uint32_t kReservedSharedBytes = 1024;
constexpr std::size_t kMaxParameters = 4096;
constexpr unsigned char kEntryMark = 0x10;  ///< st_other of a kernel's symbol

struct Section {
  std::string_view name;
  Elf64_Shdr header;
  CubinBytes content;  ///< empty for SHT_NOBITS
};

struct Attributes {
  Format format;
  Attribute attribute;
  std::uint16_t value;
  CubinBytes payload;
};

/// Calls `visit` with each attribute of a .nv.info section; stops where the section is damaged.
template <typename Visitor>
void for_each_attribute(CubinBytes info, Visitor visit) {
  while (info.size() >= 4) {
    Attributes each{static_cast<Format>(read_at<std::uint8_t>(info, 0)),
                    static_cast<Attribute>(read_at<std::uint8_t>(info, 1)),
                    read_at<std::uint16_t>(info, 2),
                    {}};
    info = info.subspan(4);
    if (each.format == kSized) {
      if (each.value > info.size()) return;
      each.payload = info.first(each.value);
      info = info.subspan(each.value);
    }
    visit(each);
  }
}

std::uint32_t arch_of(const Elf64_Ehdr& header) {
  return header.e_ident[EI_ABIVERSION] >= kNewAbi ? (header.e_flags >> 8) & 0xFF
                                                  : header.e_flags & 0xFF;
}

class CubinReader {
 public:
  CubinReader(CubinBytes bytes, std::string_view where)
      : bytes_(bytes), where_(where), header_(read_at<Elf64_Ehdr>(bytes, 0)) {}

  base::Result<std::vector<CubinKernel>> read() {
    if (auto status = read_sections(); !status) return status.error();
    if (auto status = read_symbols(); !status) return status.error();
    for (const Section& section : sections_) {
      if (section.name == ".nv.info") read_module_info(section.content);
      if (section.name.starts_with(kSharedPrefix)) read_shared(section);
      if (section.name.starts_with(kInfoPrefix)) read_kernel_info(section);
    }
    std::vector<CubinKernel> kernels;
    for (auto& [name, kernel] : kernels_) kernels.push_back(std::move(kernel));
    return kernels;
  }

 private:
  base::Status read_sections() {
    if (header_.e_shnum != 0 && header_.e_shentsize != sizeof(Elf64_Shdr)) {
      return errors::bad_cubin(where_, "the table of sections");
    }
    if (!has(bytes_, header_.e_shoff, std::uint64_t{header_.e_shnum} * sizeof(Elf64_Shdr))) {
      return errors::bad_cubin(where_, "the table of sections");
    }
    for (std::uint64_t i = 0; i < header_.e_shnum; ++i) {
      Section section{};
      section.header = read_at<Elf64_Shdr>(bytes_, header_.e_shoff + i * sizeof(Elf64_Shdr));
      const Elf64_Shdr& shape = section.header;
      if (shape.sh_type != SHT_NOBITS) {
        if (!has(bytes_, shape.sh_offset, shape.sh_size)) {
          return errors::bad_cubin(where_, "a section");
        }
        section.content = bytes_.subspan(shape.sh_offset, shape.sh_size);
      }
      sections_.push_back(section);
    }
    if (header_.e_shstrndx >= sections_.size()) return base::Done{};
    const CubinBytes names = sections_[header_.e_shstrndx].content;
    for (Section& section : sections_) section.name = string_at(names, section.header.sh_name);
    return base::Done{};
  }

  /// Symbol names by number, and one kernel for each function marked as an entry.
  base::Status read_symbols() {
    for (const Section& section : sections_) {
      if (section.header.sh_type != SHT_SYMTAB) continue;
      if (section.header.sh_link >= sections_.size()) {
        return errors::bad_cubin(where_, "the table of symbol names");
      }
      const CubinBytes names = sections_[section.header.sh_link].content;
      for (std::size_t i = 0; i < section.content.size() / sizeof(Elf64_Sym); ++i) {
        const auto symbol = read_at<Elf64_Sym>(section.content, i * sizeof(Elf64_Sym));
        const std::string_view name = string_at(names, symbol.st_name);
        symbols_.push_back(name);
        if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && (symbol.st_other & kEntryMark) != 0) {
          add_kernel(name);
        }
      }
    }
    return base::Done{};
  }

  void add_kernel(std::string_view name) {
    CubinKernel kernel;
    kernel.name = name;
    if (arch_of(header_) >= 80) kernel.reserved_shared_bytes = kReservedSharedBytes;
    kernels_.emplace(name, std::move(kernel));
  }

  CubinKernel* find(std::string_view name) {
    const auto found = kernels_.find(name);
    return found == kernels_.end() ? nullptr : &found->second;
  }

  void read_module_info(CubinBytes info) {
    for_each_attribute(info, [&](const Attributes& each) {
      if (each.format != kSized || each.payload.size() < 8) return;
      const auto symbol = read_at<std::uint32_t>(each.payload, 0);
      const auto value = read_at<std::uint32_t>(each.payload, 4);
      CubinKernel* const kernel = symbol < symbols_.size() ? find(symbols_[symbol]) : nullptr;
      if (kernel == nullptr) return;
      if (each.attribute == kRegisterCount) kernel->registers = value;
      if (each.attribute == kFrameSize || each.attribute == kMinStackSize) {
        kernel->local_bytes = std::max(kernel->local_bytes, value);
      }
    });
  }

  /// From sm_90 on the section's size includes what the system reserves.
  void read_shared(const Section& section) {
    CubinKernel* const kernel = find(section.name.substr(kSharedPrefix.size()));
    if (kernel == nullptr) return;
    const auto bytes = static_cast<std::uint32_t>(section.header.sh_size);
    const std::uint32_t reserved = arch_of(header_) >= 90 ? kReservedSharedBytes : 0;
    kernel->shared_bytes = bytes >= reserved ? bytes - reserved : bytes;
  }

  void read_kernel_info(const Section& section) {
    CubinKernel* const kernel = find(section.name.substr(kInfoPrefix.size()));
    if (kernel == nullptr) return;
    for_each_attribute(section.content, [&](const Attributes& each) {
      if (each.attribute == kParameterBytes && each.format == kHalf) {
        kernel->parameter_bytes = each.value;
      } else if (each.attribute == kBarrierCount && each.format == kByte) {
        kernel->barriers = each.value & 0xFF;
      } else if (each.attribute == kMaxThreads && each.payload.size() >= 12) {
        kernel->max_threads = read_at<std::uint32_t>(each.payload, 0) *
                              read_at<std::uint32_t>(each.payload, 4) *
                              read_at<std::uint32_t>(each.payload, 8);
      } else if (each.attribute == kParameter && each.payload.size() >= 12) {
        add_parameter(*kernel, each.payload);
      }
    });
  }

  static void add_parameter(CubinKernel& kernel, CubinBytes payload) {
    const std::size_t ordinal = read_at<std::uint16_t>(payload, 4);
    if (ordinal >= kMaxParameters) return;
    if (kernel.parameter_sizes.size() <= ordinal) {
      kernel.parameter_sizes.resize(ordinal + 1);
      kernel.parameter_offsets.resize(ordinal + 1);
    }
    kernel.parameter_offsets[ordinal] = read_at<std::uint16_t>(payload, 6);
    kernel.parameter_sizes[ordinal] = read_at<std::uint32_t>(payload, 8) >> 18;
  }

  CubinBytes bytes_;
  std::string_view where_;
  Elf64_Ehdr header_;
  std::vector<Section> sections_;
  std::vector<std::string_view> symbols_;
  std::map<std::string_view, CubinKernel, std::less<>> kernels_;
};

}  // namespace

base::Result<std::uint32_t> cubin_arch(CubinBytes bytes, std::string_view where) {
  if (bytes.size() < sizeof(Elf64_Ehdr)) {
    return errors::cut_off(where, "the ELF header", sizeof(Elf64_Ehdr), bytes.size());
  }
  const auto header = read_at<Elf64_Ehdr>(bytes, 0);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) {
    return errors::not_a_cubin(where, "no ELF file");
  }
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
      header.e_machine != EM_CUDA) {
    return errors::not_a_cubin(where, "an ELF file for another machine");
  }
  return arch_of(header);
}

std::size_t cubin_bytes(const void* data) {
  Elf64_Ehdr header;
  std::memcpy(&header, data, sizeof header);
  std::uint64_t end = header.e_shoff + std::uint64_t{header.e_shnum} * header.e_shentsize;
  end = std::max(end, header.e_phoff + std::uint64_t{header.e_phnum} * header.e_phentsize);
  for (std::uint64_t i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    std::memcpy(&section,
                static_cast<const std::byte*>(data) + header.e_shoff + i * header.e_shentsize,
                sizeof section);
    if (section.sh_type != SHT_NOBITS) end = std::max(end, section.sh_offset + section.sh_size);
  }
  return end;
}

base::Result<std::vector<CubinKernel>> read_cubin(CubinBytes bytes, std::string_view where) {
  const auto arch = cubin_arch(bytes, where);
  if (!arch) return arch.error();
  return CubinReader(bytes, where).read();
}

}  // namespace membound::fatbin
