// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// KernelArguments: the arguments of one launch, kept by value with the names of their types.
/// Place in the chain: lab_test, timed_case -> [kernel_arguments] -> launcher.
/// Left out: whether they fit the kernel; signature.hpp compares the types.
#pragma once

#include <cstddef>
#include <cstring>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <vector>

namespace membound::harness {

/// "float*", "long long", … for a mangled type name.
[[nodiscard]] std::string type_name(const std::type_info& type);

/// A small list that owns its values.
class KernelArguments {
 public:
  /// Appends one argument, exactly as the kernel declares it: `int` for an int, not a long.
  template <typename T>
  void add(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>, "kernel parameters are copied byte by byte");
    Argument argument{std::vector<std::byte>(sizeof(T)), type_name(typeid(T))};
    std::memcpy(argument.bytes.data(), &value, sizeof(T));
    arguments_.push_back(std::move(argument));
  }

  [[nodiscard]] std::size_t size() const { return arguments_.size(); }
  /// Type names in order.
  [[nodiscard]] std::vector<std::string> types() const;
  /// What cudaLaunchKernel takes: one address per argument, valid as long as this object.
  [[nodiscard]] std::vector<void*> addresses();
  /// Bytes of each.
  [[nodiscard]] std::vector<std::size_t> sizes() const;
  /// Which argument (counted from 0) is the pointer `pointer`; size() if none is.
  [[nodiscard]] std::size_t index_of_pointer(const void* pointer) const;

 private:
  struct Argument {
    std::vector<std::byte> bytes;
    std::string type;
  };
  std::vector<Argument> arguments_;
};

/// kernel_arguments(d_out, d_in, rows, cols)
template <typename... Arguments>
[[nodiscard]] KernelArguments kernel_arguments(const Arguments&... arguments) {
  KernelArguments list;
  (list.add(arguments), ...);
  return list;
}

}  // namespace membound::harness
