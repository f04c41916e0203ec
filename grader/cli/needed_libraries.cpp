// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/cli/needed_libraries.hpp"

#include <elf.h>

#include <cstring>

namespace membound::cli {
namespace {

struct Library {
  std::string_view name;  ///< what the file's name begins with
  const char* what;
  const char* instead;
};

constexpr const char* kOwnKernels =
    "a kernel of your own, CUB or Thrust; or start the program by itself on a machine with a GPU";
constexpr Library kLibraries[] = {
    {"libcuda.so", "the driver library, whose calls begin with cu",
     "the runtime's calls, which begin with cuda; or start the program by itself on a machine with "
     "a GPU"},
    {"libcublas", "cuBLAS, which is machine code for GPUs", kOwnKernels},
    {"libcurand", "cuRAND's host interface, which is machine code for GPUs",
     "its device functions (curand_kernel.h) in a kernel of your own"},
    {"libcufft", "cuFFT, which is machine code for GPUs", kOwnKernels},
    {"libcusparse", "cuSPARSE, which is machine code for GPUs", kOwnKernels},
    {"libcusolver", "cuSOLVER, which is machine code for GPUs", kOwnKernels},
    {"libcudnn", "cuDNN, which is machine code for GPUs", kOwnKernels},
    {"libnpp", "NPP, which is machine code for GPUs", kOwnKernels},
};

/// `count` objects at `offset`; none where the file ends before.
template <typename Object>
std::vector<Object> objects_at(std::string_view file, std::uint64_t offset, std::uint64_t count) {
  if (offset > file.size() || count > (file.size() - offset) / sizeof(Object)) return {};
  std::vector<Object> all(count);
  if (count > 0) std::memcpy(all.data(), file.data() + offset, count * sizeof(Object));
  return all;
}

std::string text_at(std::string_view file, std::uint64_t offset) {
  if (offset >= file.size()) return "";
  return std::string(file.substr(offset, file.find('\0', offset) - offset));
}

}  // namespace

std::vector<std::string> needed_libraries(std::string_view file) {
  const auto head = objects_at<Elf64_Ehdr>(file, 0, 1);
  if (head.empty() || std::memcmp(head[0].e_ident, ELFMAG, SELFMAG) != 0 ||
      head[0].e_ident[EI_CLASS] != ELFCLASS64 || head[0].e_shentsize != sizeof(Elf64_Shdr))
    return {};
  const auto sections = objects_at<Elf64_Shdr>(file, head[0].e_shoff, head[0].e_shnum);
  std::vector<std::string> names;
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type != SHT_DYNAMIC || section.sh_link >= sections.size()) continue;
    const Elf64_Shdr& texts = sections[section.sh_link];
    for (const Elf64_Dyn& entry :
         objects_at<Elf64_Dyn>(file, section.sh_offset, section.sh_size / sizeof(Elf64_Dyn)))
      if (entry.d_tag == DT_NEEDED)
        names.push_back(text_at(file, texts.sh_offset + entry.d_un.d_val));
  }
  return names;
}

std::optional<base::Error> needs_a_gpu(const std::string& program,
                                       const std::vector<std::string>& libraries) {
  for (const std::string& needed : libraries)
    for (const Library& library : kLibraries)
      if (needed.starts_with(library.name))
        return base::Error{base::ErrorKind::kInput, program, "uses " + needed + ", " + library.what,
                           "a program of kernels and the CUDA runtime", library.instead};
  return std::nullopt;
}

}  // namespace membound::cli
