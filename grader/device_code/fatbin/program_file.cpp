// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/device_code/fatbin/program_file.hpp"

#include <elf.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <span>

#include "grader/device_code/fatbin/fatbin.hpp"

namespace membound::fatbin {
namespace {

constexpr std::string_view kSharedName = "libcudart.so.";
constexpr std::string_view kSupported = "libcudart.so.13";

base::Error not_a_program(const std::string& where, std::string found) {
  return {base::ErrorKind::kInput, where, std::move(found), "a 64-bit Linux program",
          "give the program itself, not a script that starts it"};
}

/// A bounded view of the file: every read is checked.
class Elf {
 public:
  explicit Elf(std::string_view bytes) : bytes_(bytes) {}

  template <typename T>
  [[nodiscard]] std::optional<T> at(std::uint64_t offset) const {
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof(T)) return std::nullopt;
    T value;
    std::memcpy(&value, bytes_.data() + offset, sizeof(T));
    return value;
  }
  [[nodiscard]] std::string_view part(std::uint64_t offset, std::uint64_t size) const {
    if (offset > bytes_.size() || bytes_.size() - offset < size) return {};
    return bytes_.substr(offset, size);
  }
  [[nodiscard]] std::string_view text(std::string_view table, std::uint64_t offset) const {
    if (offset >= table.size()) return {};
    return table.substr(offset, std::min(table.find('\0', offset), table.size()) - offset);
  }
  [[nodiscard]] std::vector<Elf64_Shdr> sections() const {
    std::vector<Elf64_Shdr> found;
    const auto header = at<Elf64_Ehdr>(0);
    if (!header) return found;
    for (std::uint32_t i = 0; i < header->e_shnum; ++i)
      if (auto section = at<Elf64_Shdr>(header->e_shoff + std::uint64_t{i} * sizeof(Elf64_Shdr)))
        found.push_back(*section);
    return found;
  }
  [[nodiscard]] std::string_view contents(const Elf64_Shdr& section) const {
    if (section.sh_type == SHT_NOBITS) return {};
    return part(section.sh_offset, section.sh_size);
  }

 private:
  std::string_view bytes_;
};

/// The libraries a program asks for.
std::vector<std::string_view> needed_libraries(const Elf& elf,
                                               const std::vector<Elf64_Shdr>& sections) {
  std::vector<std::string_view> needed;
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type != SHT_DYNAMIC || section.sh_link >= sections.size()) continue;
    const std::string_view names = elf.contents(sections[section.sh_link]);
    for (std::uint64_t at = 0; at + sizeof(Elf64_Dyn) <= section.sh_size; at += sizeof(Elf64_Dyn)) {
      const auto entry = elf.at<Elf64_Dyn>(section.sh_offset + at);
      if (!entry || entry->d_tag == DT_NULL) break;
      if (entry->d_tag == DT_NEEDED) needed.push_back(elf.text(names, entry->d_un.d_val));
    }
  }
  return needed;
}

bool is_device_code(std::string_view section_name) {
  return section_name == ".nv_fatbin" || section_name == "__nv_relfatbin";
}

void list_targets(std::string_view fatbin, const std::string& where,
                  ProgramDescription& description) {
  const auto entries = read(std::as_bytes(std::span(fatbin.data(), fatbin.size())), where);
  if (!entries) return;  // the runtime will say what is wrong with it
  for (const Entry& entry : *entries) {
    const bool is_ptx = entry.kind == EntryKind::kPtx;
    (is_ptx ? description.ptx_targets : description.cubin_targets)
        .push_back((is_ptx ? "compute_" : "sm_") + std::to_string(entry.arch));
  }
}

std::string obstacle_of(const ProgramDescription& d) {
  if (d.linkage == RuntimeLinkage::kNone)
    return "this program does not use CUDA; it would run as it is";
  if (d.linkage == RuntimeLinkage::kStatic)
    return "this program carries the CUDA runtime inside itself (nvcc's default), so the virtual "
           "GPU "
           "cannot take its place; build it with: nvcc -cudart shared …";
  if (d.runtime_library != kSupported)
    return "this program asks for " + d.runtime_library + "; the virtual GPU is " +
           std::string(kSupported) + "; build it with CUDA 13";
  if (d.has_device_code && d.ptx_targets.empty() && !d.cubin_targets.empty())
    return "this program holds machine code for " + d.cubin_targets.front() +
           " only, and the virtual GPU executes PTX; build it with -arch=" +
           d.cubin_targets.front() + " or add -gencode arch=compute_90,code=compute_90";
  return {};
}

}  // namespace

base::Result<ProgramDescription> describe_program_bytes(std::string_view bytes,
                                                        const std::string& where) {
  if (!bytes.starts_with("\177ELF")) return not_a_program(where, "not an ELF file");
  const Elf elf(bytes);
  const auto header = elf.at<Elf64_Ehdr>(0);
  if (!header || header->e_ident[EI_CLASS] != ELFCLASS64)
    return not_a_program(where, "not a 64-bit ELF file");
  const std::vector<Elf64_Shdr> sections = elf.sections();
  ProgramDescription description;
  for (const std::string_view library : needed_libraries(elf, sections))
    if (library.starts_with(kSharedName)) description.runtime_library = library;
  const std::string_view names =
      header->e_shstrndx < sections.size() ? elf.contents(sections[header->e_shstrndx]) : "";
  for (const Elf64_Shdr& section : sections) {
    if (!is_device_code(elf.text(names, section.sh_name))) continue;
    description.has_device_code = true;
    list_targets(elf.contents(section), where, description);
  }
  if (!description.runtime_library.empty())
    description.linkage = RuntimeLinkage::kShared;
  else if (description.has_device_code)
    description.linkage = RuntimeLinkage::kStatic;
  description.obstacle = obstacle_of(description);
  return description;
}

std::string device_code_of(std::string_view elf_bytes) {
  const Elf elf(elf_bytes);
  const auto header = elf.at<Elf64_Ehdr>(0);
  if (!header || header->e_ident[EI_CLASS] != ELFCLASS64) return {};
  const std::vector<Elf64_Shdr> sections = elf.sections();
  if (header->e_shstrndx >= sections.size()) return {};
  const std::string_view names = elf.contents(sections[header->e_shstrndx]);
  std::string code;
  for (const Elf64_Shdr& section : sections)
    if (is_device_code(elf.text(names, section.sh_name))) code += elf.contents(section);
  return code;
}

base::Result<ProgramDescription> describe_program(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return base::Error{base::ErrorKind::kInput, path, "this file cannot be read", "a program", ""};
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  return describe_program_bytes(bytes, path);
}

}  // namespace membound::fatbin
