// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/device_code/fatbin/cubin.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "grader/device_code/fatbin/elf_file.hpp"

namespace membound::fatbin {
namespace {

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

base::Error not_a_cubin(std::string_view where, std::string_view found) {
  return {base::ErrorKind::kInput, std::string(where), std::string(found),
          "a 64-bit little-endian ELF file for NVIDIA CUDA",
          "pass a cubin made by `nvcc -cubin`; programs and objects hold a fat binary in their "
          ".nv_fatbin section"};
}

base::Error bad_cubin(std::string_view where, std::string_view what) {
  return {base::ErrorKind::kInput, std::string(where), std::string(what) + " lies outside the file",
          "an undamaged cubin", std::string(kBuildAgain)};
}

struct Attributes {
  Format format;
  Attribute attribute;
  std::uint16_t value;
  Bytes payload;
};

/// Calls `visit` with each attribute of a .nv.info section; stops where the section is damaged.
template <typename Visitor>
void for_each_attribute(Bytes info, Visitor visit) {
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
  CubinReader(ElfFile file, std::string_view where) : file_(std::move(file)), where_(where) {}

  base::Result<std::vector<CubinKernel>> read() {
    if (auto status = read_symbols(); !status) return status.error();
    for (const ElfSection& section : file_.sections) {
      if (section.name == ".nv.info") read_module_info(section.content);
      if (section.name.starts_with(kSharedPrefix)) read_shared(section);
      if (section.name.starts_with(kInfoPrefix)) read_kernel_info(section);
    }
    std::vector<CubinKernel> kernels;
    for (auto& [name, kernel] : kernels_) kernels.push_back(std::move(kernel));
    return kernels;
  }

 private:
  /// Symbol names by number, and one kernel for each function marked as an entry.
  base::Status read_symbols() {
    for (const ElfSection& section : file_.sections) {
      if (section.header.sh_type != SHT_SYMTAB) continue;
      if (section.header.sh_link >= file_.sections.size()) {
        return bad_cubin(where_, "the table of symbol names");
      }
      const Bytes names = file_.sections[section.header.sh_link].content;
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
    if (arch_of(file_.header) >= 80) kernel.reserved_shared_bytes = kReservedSharedBytes;
    kernels_.emplace(name, std::move(kernel));
  }

  CubinKernel* find(std::string_view name) {
    const auto found = kernels_.find(name);
    return found == kernels_.end() ? nullptr : &found->second;
  }

  void read_module_info(Bytes info) {
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
  void read_shared(const ElfSection& section) {
    CubinKernel* const kernel = find(section.name.substr(kSharedPrefix.size()));
    if (kernel == nullptr) return;
    const auto bytes = static_cast<std::uint32_t>(section.header.sh_size);
    const std::uint32_t reserved = arch_of(file_.header) >= 90 ? kReservedSharedBytes : 0;
    kernel->shared_bytes = bytes >= reserved ? bytes - reserved : bytes;
  }

  void read_kernel_info(const ElfSection& section) {
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

  static void add_parameter(CubinKernel& kernel, Bytes payload) {
    const std::size_t ordinal = read_at<std::uint16_t>(payload, 4);
    if (ordinal >= kMaxParameters) return;
    if (kernel.parameter_sizes.size() <= ordinal) {
      kernel.parameter_sizes.resize(ordinal + 1);
      kernel.parameter_offsets.resize(ordinal + 1);
    }
    kernel.parameter_offsets[ordinal] = read_at<std::uint16_t>(payload, 6);
    kernel.parameter_sizes[ordinal] = read_at<std::uint32_t>(payload, 8) >> 18;
  }

  ElfFile file_;
  std::string_view where_;
  std::vector<std::string_view> symbols_;
  std::map<std::string_view, CubinKernel, std::less<>> kernels_;
};

base::Result<ElfFile> open_cubin(Bytes bytes, std::string_view where) {
  if (bytes.size() < sizeof(Elf64_Ehdr)) {
    return cut_off(where, "the ELF header", sizeof(Elf64_Ehdr), bytes.size());
  }
  ElfFault fault{};
  auto file = read_elf(bytes, fault);
  if (fault == ElfFault::kNoElf) return not_a_cubin(where, "no ELF file");
  if (fault == ElfFault::kOtherClass || elf_machine(bytes) != EM_CUDA) {
    return not_a_cubin(where, "an ELF file for another machine");
  }
  if (file) return std::move(*file);
  return bad_cubin(where, fault == ElfFault::kBadSection ? "a section" : "the table of sections");
}

}  // namespace

base::Result<std::uint32_t> cubin_arch(Bytes bytes, std::string_view where) {
  const auto file = open_cubin(bytes, where);
  if (!file) return file.error();
  return arch_of(file->header);
}

base::Result<std::vector<CubinKernel>> read_cubin(Bytes bytes, std::string_view where) {
  auto file = open_cubin(bytes, where);
  if (!file) return file.error();
  return CubinReader(std::move(*file), where).read();
}

}  // namespace membound::fatbin
