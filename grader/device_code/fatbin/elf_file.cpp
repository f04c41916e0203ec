// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/device_code/fatbin/elf_file.hpp"

#include <gelf.h>

#include <algorithm>
#include <memory>

#include "grader/device_code/fatbin/bytes.hpp"

namespace membound::fatbin {

bool is_elf(Bytes bytes) {
  return bytes.size() >= SELFMAG && std::memcmp(bytes.data(), ELFMAG, SELFMAG) == 0;
}

std::uint16_t elf_machine(Bytes bytes) {
  return read_at<std::uint16_t>(bytes, offsetof(Elf64_Ehdr, e_machine));
}

std::size_t elf_bytes(const void* data) {
  const auto* const start = static_cast<const std::byte*>(data);
  const auto header = read_at<Elf64_Ehdr>({start, sizeof(Elf64_Ehdr)}, 0);
  const std::uint64_t table = std::uint64_t{header.e_shnum} * header.e_shentsize;
  std::uint64_t end = header.e_phoff + std::uint64_t{header.e_phnum} * header.e_phentsize;
  end = std::max(end, header.e_shoff + table);
  for (std::uint64_t at = 0; at < table; at += header.e_shentsize) {
    const auto section = read_at<Elf64_Shdr>({start + header.e_shoff + at, sizeof(Elf64_Shdr)}, 0);
    if (section.sh_type != SHT_NOBITS) end = std::max(end, section.sh_offset + section.sh_size);
  }
  return end;
}

std::optional<ElfFile> read_elf(Bytes bytes, ElfFault& fault) {
  fault = ElfFault::kNoElf;
  if (!is_elf(bytes)) return std::nullopt;
  fault = ElfFault::kOtherClass;
  if (bytes.size() < EI_NIDENT || bytes[EI_CLASS] != std::byte{ELFCLASS64} ||
      bytes[EI_DATA] != std::byte{ELFDATA2LSB})
    return std::nullopt;
  fault = ElfFault::kBadSectionTable;
  elf_version(EV_CURRENT);
  // libelf takes a char*, and only reads what is behind it.
  auto* const image = reinterpret_cast<char*>(const_cast<std::byte*>(bytes.data()));
  const std::unique_ptr<Elf, decltype(&elf_end)> elf(elf_memory(image, bytes.size()), &elf_end);
  ElfFile file{};
  std::size_t count = 0, names = 0;
  // For a table outside of the bytes libelf counts no sections.
  if (gelf_getehdr(elf.get(), &file.header) == nullptr || elf_getshdrnum(elf.get(), &count) != 0 ||
      count < file.header.e_shnum ||
      (count != 0 && file.header.e_shentsize != sizeof(Elf64_Shdr)) ||
      elf_getshdrstrndx(elf.get(), &names) != 0)
    return std::nullopt;
  for (std::size_t i = 0; i < count; ++i) {
    Elf_Scn* const section = elf_getscn(elf.get(), i);
    Elf64_Shdr shape{};
    if (gelf_getshdr(section, &shape) == nullptr) return std::nullopt;
    const Elf_Data* const data = elf_rawdata(section, nullptr);
    if (data == nullptr) {
      fault = ElfFault::kBadSection;
      return std::nullopt;
    }
    Bytes content;
    if (data->d_buf != nullptr)
      content = {static_cast<const std::byte*>(data->d_buf), data->d_size};
    const char* const name = elf_strptr(elf.get(), names, shape.sh_name);
    file.sections.push_back({name == nullptr ? "" : name, shape, content});
  }
  return file;
}

std::vector<std::string> needed_libraries(Bytes bytes) {
  std::vector<std::string> libraries;
  ElfFault fault{};
  const auto file = read_elf(bytes, fault);
  if (!file) return libraries;
  for (const ElfSection& section : file->sections) {
    if (section.header.sh_type != SHT_DYNAMIC || section.header.sh_link >= file->sections.size())
      continue;
    const Bytes names = file->sections[section.header.sh_link].content;
    for (std::size_t at = 0; has(section.content, at, sizeof(Elf64_Dyn)); at += sizeof(Elf64_Dyn))
      if (const auto entry = read_at<Elf64_Dyn>(section.content, at); entry.d_tag == DT_NEEDED)
        libraries.emplace_back(string_at(names, entry.d_un.d_val));
  }
  return libraries;
}

}  // namespace membound::fatbin
