// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a lab's oracle.cpp includes: a function of the CPU with the kernels' parameters, and what
/// the tests need to know besides. All standard tests, the timed runs and the right results follow.
///
/// @code
///   #include "oracle.hpp"
///
///   static void saxpy(float* out, const float* x, const float* y, float a, int n) {
///     for (int i = 0; i < n; ++i) out[i] = a * x[i] + y[i];
///   }
///   MEMBOUND_ORACLE(saxpy, .scalars = {2.5}, .element_by_element = true, .relative = 1e-6);
/// @endcode
///
/// The one pointer without const is the output, a pointer to const an input, a whole number one of
/// the sizes of lab.json, in their order, and a floating number a scalar.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <tuple>
#include <type_traits>
#include <utility>

namespace membound::oracle {

/// Of the table below: test programs refuse another.
inline constexpr std::int32_t kInterface = 1;

/// The types that elements, sizes and scalars may have.
enum class Type : std::int32_t { kInt, kUnsigned, kLongLong, kUnsignedLongLong, kFloat, kDouble };
enum class Role : std::int32_t { kOutput, kInput, kSize, kScalar };

/// One parameter of the kernels.
struct Parameter {
  Role role;
  Type type;
};

/// What MEMBOUND_ORACLE may say besides the function; all of it may be left out.
struct Facts {
  /// Values of the floating parameters, in their order.
  double scalars[4] = {};
  /// Element i of the output depends on elements i of the inputs alone. A virtual GPU then times
  /// large launches by some of their blocks.
  bool element_by_element = false;
  /// Writes how many elements each array has, in the order of the parameters; null: each has the
  /// product of the sizes.
  void (*elements)(const std::int64_t* sizes, std::int64_t* counts) = nullptr;
  /// Inputs hold whole numbers from low to high; both 0: of floating types all numbers from -1 to
  /// 1, of integers all bits.
  std::int64_t integers[2] = {};
  /// Whether the output holds zeros before a launch, as a sum does; else it is uninitialised.
  bool output_starts_at_zero = false;
  /// An element may differ by absolute + relative * |right value|.
  double absolute = 0, relative = 0;
  /// What programs call the arrays, in the order of the parameters; null: "out", and "in" or, where
  /// there are several inputs, "in1", "in2", …
  const char* names[8] = {};
  /// Operations of one launch, for a lab that is bound by operations; null: none.
  double (*operations)(const std::int64_t* sizes) = nullptr;
};

/// What a test program finds in the library that oracle.cpp became.
struct Table {
  std::int32_t interface;
  std::int32_t line;
  const char* file;
  const char* function;
  std::int32_t parameter_count;
  const Parameter* parameters;
  Facts facts;
  /// Calls the function: arrays in their order, sizes in theirs.
  void (*call)(void* const* arrays, const std::int64_t* sizes, const double* scalars);
};

// From here on for the macro.

template <typename T>
constexpr Type type_of() {
  static_assert(std::is_same_v<T, int> || std::is_same_v<T, unsigned> ||
                    std::is_same_v<T, long long> || std::is_same_v<T, unsigned long long> ||
                    std::is_same_v<T, float> || std::is_same_v<T, double>,
                "a parameter of an oracle is an int, unsigned, long long, float or double, or a "
                "pointer to such elements");
  if constexpr (std::is_same_v<T, float>) return Type::kFloat;
  if constexpr (std::is_same_v<T, double>) return Type::kDouble;
  if constexpr (std::is_same_v<T, int>) return Type::kInt;
  if constexpr (std::is_same_v<T, unsigned>) return Type::kUnsigned;
  return std::is_signed_v<T> ? Type::kLongLong : Type::kUnsignedLongLong;
}

template <typename T>
constexpr Parameter parameter_of() {
  if constexpr (std::is_pointer_v<T>) {
    using Element = std::remove_pointer_t<T>;
    return {std::is_const_v<Element> ? Role::kInput : Role::kOutput,
            type_of<std::remove_const_t<Element>>()};
  } else {
    return {std::is_floating_point_v<T> ? Role::kScalar : Role::kSize, type_of<T>()};
  }
}

template <typename T>
T take(void* const*& arrays, const std::int64_t*& sizes, const double*& scalars) {
  if constexpr (std::is_pointer_v<T>)
    return static_cast<T>(*arrays++);
  else if constexpr (std::is_floating_point_v<T>)
    return static_cast<T>(*scalars++);
  else
    return static_cast<T>(*sizes++);
}

template <auto kFunction>
struct Bound;
template <typename... Arguments, void (*kFunction)(Arguments...)>
struct Bound<kFunction> {
  static constexpr Parameter kParameters[] = {parameter_of<Arguments>()...};
  static_assert(((std::is_pointer_v<Arguments> &&
                  !std::is_const_v<std::remove_pointer_t<Arguments>>)+...) == 1,
                "an oracle has one output: one pointer without const");
  static void call(void* const* arrays, const std::int64_t* sizes, const double* scalars) {
    // Braces: their elements are evaluated from left to right.
    std::tuple<Arguments...> all{take<Arguments>(arrays, sizes, scalars)...};
    std::apply(kFunction, all);
  }
};

}  // namespace membound::oracle

/// MEMBOUND_ORACLE(function, facts…), once in an oracle.cpp. A macro, because only a macro knows
/// the file and line that messages name.
#define MEMBOUND_ORACLE(name, ...)                                                         \
  extern "C" const ::membound::oracle::Table membound_oracle;                              \
  const ::membound::oracle::Table membound_oracle = {                                      \
      ::membound::oracle::kInterface,                                                      \
      __LINE__,                                                                            \
      __FILE__,                                                                            \
      #name,                                                                               \
      static_cast<std::int32_t>(std::size(::membound::oracle::Bound<&name>::kParameters)), \
      ::membound::oracle::Bound<&name>::kParameters,                                       \
      ::membound::oracle::Facts{__VA_ARGS__},                                              \
      &::membound::oracle::Bound<&name>::call}
