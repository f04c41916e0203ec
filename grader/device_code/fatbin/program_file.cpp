// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/device_code/fatbin/program_file.hpp"

#include <fstream>
#include <iterator>
#include <span>

#include "grader/device_code/fatbin/bytes.hpp"
#include "grader/device_code/fatbin/elf_file.hpp"
#include "grader/device_code/fatbin/fatbin.hpp"

namespace membound::fatbin {
namespace {

constexpr std::string_view kSharedName = "libcudart.so.";
constexpr std::string_view kSupported = "libcudart.so.13";

base::Error not_a_program(const std::string& where, std::string found) {
  return {base::ErrorKind::kInput, where, std::move(found), "a 64-bit Linux program",
          "give the program itself, not a script that starts it"};
}

/// The libraries a program asks for.
std::vector<std::string_view> needed_libraries(const std::vector<ElfSection>& sections) {
  std::vector<std::string_view> needed;
  for (const ElfSection& section : sections) {
    if (section.header.sh_type != SHT_DYNAMIC || section.header.sh_link >= sections.size())
      continue;
    const auto names = sections[section.header.sh_link].content;
    for (std::size_t at = 0; has(section.content, at, sizeof(Elf64_Dyn)); at += sizeof(Elf64_Dyn)) {
      const auto entry = read_at<Elf64_Dyn>(section.content, at);
      if (entry.d_tag == DT_NULL) break;
      if (entry.d_tag == DT_NEEDED) needed.push_back(string_at(names, entry.d_un.d_val));
    }
  }
  return needed;
}

bool is_device_code(std::string_view section_name) {
  return section_name == ".nv_fatbin" || section_name == "__nv_relfatbin";
}

void list_targets(std::span<const std::byte> fatbin, const std::string& where,
                  ProgramDescription& description) {
  const auto entries = read(fatbin, where);
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
  ElfFault fault{};
  const auto file = read_elf(std::as_bytes(std::span(bytes.data(), bytes.size())), fault);
  if (!file)
    return not_a_program(where, fault == ElfFault::kNoElf        ? "not an ELF file"
                                : fault == ElfFault::kOtherClass ? "not a 64-bit ELF file"
                                                                 : "a damaged ELF file");
  ProgramDescription description;
  for (const std::string_view library : needed_libraries(file->sections))
    if (library.starts_with(kSharedName)) description.runtime_library = library;
  for (const ElfSection& section : file->sections) {
    if (!is_device_code(section.name)) continue;
    description.has_device_code = true;
    list_targets(section.content, where, description);
  }
  if (!description.runtime_library.empty())
    description.linkage = RuntimeLinkage::kShared;
  else if (description.has_device_code)
    description.linkage = RuntimeLinkage::kStatic;
  description.obstacle = obstacle_of(description);
  return description;
}

base::Result<ProgramDescription> describe_program(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return base::Error{base::ErrorKind::kInput, path, "this file cannot be read", "a program", ""};
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  return describe_program_bytes(bytes, path);
}

}  // namespace membound::fatbin
