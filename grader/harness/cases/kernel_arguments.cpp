// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/cases/kernel_arguments.hpp"

namespace membound::harness {

std::vector<std::string> KernelArguments::types() const {
  std::vector<std::string> types;
  for (const Argument& argument : arguments_) types.push_back(argument.type);
  return types;
}

std::vector<void*> KernelArguments::addresses() {
  std::vector<void*> addresses;
  for (Argument& argument : arguments_) addresses.push_back(argument.bytes.data());
  return addresses;
}

std::vector<std::size_t> KernelArguments::sizes() const {
  std::vector<std::size_t> sizes;
  for (const Argument& argument : arguments_) sizes.push_back(argument.bytes.size());
  return sizes;
}

std::size_t KernelArguments::index_of_pointer(const void* pointer) const {
  for (std::size_t i = 0; i < arguments_.size(); ++i) {
    const Argument& argument = arguments_[i];
    if (argument.type.back() == '*' &&
        std::memcmp(argument.bytes.data(), &pointer, sizeof(pointer)) == 0)
      return i;
  }
  return arguments_.size();
}

}  // namespace membound::harness
