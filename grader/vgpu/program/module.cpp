// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/program/module.hpp"

#include <utility>

namespace membound::vgpu::program {

const Kernel* Program::find_kernel(std::string_view mangled_name) const {
  for (const Kernel& kernel : kernels_) {
    if (kernel.name == mangled_name) return &kernel;
  }
  return nullptr;
}

Kernel* Program::find_kernel(std::string_view mangled_name) {
  return const_cast<Kernel*>(std::as_const(*this).find_kernel(mangled_name));
}

Function* Program::find_function(std::string_view mangled_name) {
  for (Function& function : functions_)
    if (function.has_body && function.name == mangled_name) return &function;
  return nullptr;
}

std::optional<std::size_t> Program::find_global(std::string_view name) const {
  for (std::size_t i = 0; i < globals_.size(); ++i) {
    if (globals_[i].name == name) return i;
  }
  return std::nullopt;
}

void Program::place_global(std::size_t index, std::uint64_t device_address) {
  globals_[index].device_address = device_address;
}

std::vector<std::byte> Program::initial_image(std::size_t index) const {
  const GlobalVariable& global = globals_[index];
  std::vector<std::byte> image = global.initial;
  image.resize(global.size_bytes);
  for (const GlobalVariable::Relocation& relocation : global.relocations) {
    std::uint64_t value = static_cast<std::uint64_t>(relocation.addend);
    if (const auto target = find_global(relocation.target)) {
      value += globals_[*target].device_address;
    } else {
      for (std::uint32_t f = 0; f < functions_.size(); ++f) {
        if (functions_[f].name == relocation.target) value += function_address(f);
      }
    }
    value >>= relocation.shift_bits;
    for (std::uint32_t b = 0; b < relocation.size_bytes; ++b) {
      const std::uint64_t at = relocation.offset_bytes + b;
      if (at < image.size()) image[at] = static_cast<std::byte>(value >> (8 * b));
    }
  }
  return image;
}

}  // namespace membound::vgpu::program
