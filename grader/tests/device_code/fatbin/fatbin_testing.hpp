// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Builds fat binaries and small cubins byte by byte, in the layout nvcc 13 writes, for the tests.
#pragma once

#include <elf.h>
#include <lz4.h>
#include <zstd.h>

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace membound::fatbin {

inline std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

template <typename T>
void append(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

inline std::string packed_with_lz4(std::string_view text) {
  std::string packed(LZ4_compressBound(static_cast<int>(text.size())), '\0');
  packed.resize(LZ4_compress_default(text.data(), packed.data(), static_cast<int>(text.size()),
                                     static_cast<int>(packed.size())));
  return packed;
}

inline std::string packed_with_zstd(std::string_view text) {
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 3));
  return packed;
}

enum class Packing { kNone, kLz4, kZstd };

/// One entry: kind 1 is PTX, 2 a cubin.
inline std::string entry(std::uint16_t kind, std::uint32_t arch, std::string_view content,
                         Packing packing = Packing::kNone, std::string_view name = "") {
  std::string payload(content);
  std::uint64_t flags = 0x11, unpacked = 0;
  if (packing != Packing::kNone) {
    payload = packing == Packing::kLz4 ? packed_with_lz4(content) : packed_with_zstd(content);
    flags |= packing == Packing::kLz4 ? 0x2000 : 0x8000;
    unpacked = content.size();
  }
  const auto packed = static_cast<std::uint32_t>(unpacked == 0 ? 0 : payload.size());
  payload.resize((payload.size() + 7) / 8 * 8);
  std::string named(name);
  named.resize((name.size() + 7) / 8 * 8);
  std::string out;
  append(out, kind);
  append(out, std::uint16_t{0x0101});
  append(out, static_cast<std::uint32_t>(64 + named.size()));
  append(out, std::uint64_t{payload.size()});
  append(out, packed);
  append(out, std::uint32_t{0});
  append(out, std::uint16_t{0});  // minor version
  append(out, std::uint16_t{9});
  append(out, arch);
  append(out, std::uint32_t{64});
  append(out, static_cast<std::uint32_t>(name.size()));
  append(out, flags);
  append(out, std::uint64_t{0});
  append(out, unpacked);
  return out + named + payload;
}

inline std::string container(const std::string& entries) {
  std::string out;
  append(out, std::uint32_t{0xBA55ED50});
  append(out, std::uint16_t{1});
  append(out, std::uint16_t{16});
  append(out, std::uint64_t{entries.size()});
  return out + entries;
}

/// A section of the small cubins below.
struct TestSection {
  std::string name;
  std::uint32_t type;
  std::string content;
  std::uint64_t size = 0;  ///< of SHT_NOBITS
  std::uint32_t link = 0;
  std::uint32_t info = 0;
};

/// An ELF file for sm_90 holding these sections; section 0 and the table of names are added.
inline std::string elf(std::vector<TestSection> sections, std::uint32_t flags = 0x6005a04) {
  sections.insert(sections.begin(), TestSection{"", SHT_NULL, "", 0, 0});
  sections.push_back({".shstrtab", SHT_STRTAB, "", 0, 0});
  std::string names;
  std::vector<Elf64_Shdr> headers;
  for (const TestSection& each : sections) {
    Elf64_Shdr header{};
    header.sh_name = static_cast<Elf64_Word>(names.size());
    header.sh_type = each.type;
    header.sh_link = each.link;
    header.sh_info = each.info;
    names += each.name + '\0';
    headers.push_back(header);
  }
  sections.back().content = names;
  Elf64_Ehdr head{};
  std::memcpy(head.e_ident, ELFMAG, SELFMAG);
  head.e_ident[EI_CLASS] = ELFCLASS64;
  head.e_ident[EI_DATA] = ELFDATA2LSB;
  head.e_ident[EI_VERSION] = EV_CURRENT;
  head.e_ident[EI_ABIVERSION] = 8;
  head.e_machine = EM_CUDA;
  head.e_flags = flags;
  head.e_shentsize = sizeof(Elf64_Shdr);
  head.e_shnum = static_cast<Elf64_Half>(sections.size());
  head.e_shstrndx = static_cast<Elf64_Half>(sections.size() - 1);
  std::string body;
  for (std::size_t i = 0; i < sections.size(); ++i) {
    headers[i].sh_offset = sizeof head + body.size();
    headers[i].sh_size =
        sections[i].type == SHT_NOBITS ? sections[i].size : sections[i].content.size();
    body += sections[i].content;
  }
  head.e_shoff = sizeof head + body.size();
  std::string out;
  append(out, head);
  out += body;
  for (const Elf64_Shdr& header : headers) append(out, header);
  return out;
}

/// A cubin with one kernel `name`: 18 registers, 40 bytes of stack, 128 + 1024 bytes shared, two
/// parameters, blocks of at most 64 threads, one barrier.
inline std::string small_cubin(const std::string& name) {
  std::string symbols(sizeof(Elf64_Sym), '\0');
  Elf64_Sym symbol{};
  symbol.st_name = 1;
  symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
  symbol.st_other = 0x10;
  append(symbols, symbol);
  std::string module_info;
  for (const std::uint32_t word : {0x0008'2f04u, 1u, 18u, 0x0008'1204u, 1u, 40u}) {
    append(module_info, word);
  }
  std::string kernel_info;
  for (const std::uint32_t word :
       {0x000c'1704u, 0u, 0x0008'0001u, 0x0011'f000u,  // 1: at 8, 4 bytes
        0x000c'1704u, 0u, 0x0000'0000u, 0x0021'f000u,  // 0: at 0, 8 bytes
        0x000c'1903u, 0x0001'4c02u,                    // 12 bytes, 1 barrier
        0x000c'0504u, 64u, 1u, 1u}) {
    append(kernel_info, word);
  }
  return elf({{".strtab", SHT_STRTAB, std::string(1, '\0') + name + '\0', 0, 0},
              {".symtab", SHT_SYMTAB, symbols, 0, 1},
              {".nv.info", SHT_LOPROC, module_info, 0, 0},
              {".nv.info." + name, SHT_LOPROC, kernel_info, 0, 0},
              {".nv.shared." + name, SHT_NOBITS, "", 128 + 1024, 0}});
}

}  // namespace membound::fatbin
