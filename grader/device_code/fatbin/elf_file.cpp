// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/device_code/fatbin/elf_file.hpp"

#include <gelf.h>

#include <algorithm>
#include <map>
#include <memory>

namespace membound::fatbin {

base::Error cut_off(std::string_view where, std::string_view what, std::uint64_t needed_bytes,
                    std::uint64_t there_bytes) {
  return {base::ErrorKind::kInput, std::string(where),
          std::string(what) + " ends after " + std::to_string(there_bytes) + " bytes",
          std::to_string(needed_bytes) + " bytes", std::string(kBuildAgain)};
}

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

namespace {

const ElfSection* section_of_type(const ElfFile& file, std::uint32_t type) {
  const auto found =
      std::find_if(file.sections.begin(), file.sections.end(),
                   [&](const ElfSection& section) { return section.header.sh_type == type; });
  return found == file.sections.end() ? nullptr : &*found;
}

/// Names of libraries by the number of a version that is wanted of them.
std::map<std::uint16_t, std::string> libraries_of_versions(const ElfFile& file, Bytes names) {
  std::map<std::uint16_t, std::string> libraries;
  const ElfSection* const section = section_of_type(file, SHT_GNU_verneed);
  if (section == nullptr) return libraries;
  const Bytes content = section->content;
  for (std::size_t at = 0; has(content, at, sizeof(Elf64_Verneed));) {
    const auto need = read_at<Elf64_Verneed>(content, at);
    std::size_t one = at + need.vn_aux;
    for (std::uint32_t i = 0; i < need.vn_cnt && has(content, one, sizeof(Elf64_Vernaux)); ++i) {
      const auto version = read_at<Elf64_Vernaux>(content, one);
      libraries[version.vna_other] = string_at(names, need.vn_file);
      if (version.vna_next == 0) break;
      one += version.vna_next;
    }
    if (need.vn_next == 0) break;
    at += need.vn_next;
  }
  return libraries;
}

}  // namespace

std::vector<WantedFunction> wanted_functions(Bytes bytes) {
  std::vector<WantedFunction> wanted;
  ElfFault fault{};
  const auto file = read_elf(bytes, fault);
  if (!file) return wanted;
  const ElfSection* const table = section_of_type(*file, SHT_DYNSYM);
  if (table == nullptr || table->header.sh_link >= file->sections.size()) return wanted;
  const Bytes names = file->sections[table->header.sh_link].content;
  const ElfSection* const versions = section_of_type(*file, SHT_GNU_versym);
  const auto libraries = libraries_of_versions(*file, names);
  constexpr std::uint16_t kHidden = 0x8000;
  for (std::size_t i = 1; has(table->content, i * sizeof(Elf64_Sym), sizeof(Elf64_Sym)); ++i) {
    const auto symbol = read_at<Elf64_Sym>(table->content, i * sizeof(Elf64_Sym));
    const auto type = ELF64_ST_TYPE(symbol.st_info);
    if (symbol.st_shndx != SHN_UNDEF || (type != STT_FUNC && type != STT_NOTYPE)) continue;
    WantedFunction function{std::string(string_at(names, symbol.st_name)), ""};
    if (versions != nullptr) {
      const auto number = read_at<std::uint16_t>(versions->content, i * sizeof(std::uint16_t));
      if (const auto found = libraries.find(number & ~kHidden); found != libraries.end())
        function.library = found->second;
    }
    if (!function.name.empty()) wanted.push_back(std::move(function));
  }
  return wanted;
}

}  // namespace membound::fatbin
