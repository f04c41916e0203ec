// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Result<T>: a value, or the Error that says why there is none. The user's bad input travels this
/// way through the whole project; it is never thrown.
#pragma once

#include <utility>
#include <variant>

#include "grader/base/check.hpp"
#include "grader/base/error.hpp"

namespace membound::base {

/// A value or an error. Ask with `if (result)` before `*result` or `result.error()`; asking for the
/// one that is not there is our own bug and aborts.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : content_(std::in_place_index<0>, std::move(value)) {}      // NOLINT: implicit
  Result(Error error) : content_(std::in_place_index<1>, std::move(error)) {}  // NOLINT: implicit

  [[nodiscard]] bool ok() const { return content_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& value() & { return MEMBOUND_CHECK(ok()), std::get<0>(content_); }
  const T& value() const& { return MEMBOUND_CHECK(ok()), std::get<0>(content_); }
  T&& value() && { return MEMBOUND_CHECK(ok()), std::get<0>(std::move(content_)); }

  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  [[nodiscard]] const Error& error() const { return MEMBOUND_CHECK(!ok()), std::get<1>(content_); }

 private:
  std::variant<T, Error> content_;
};

/// What a step without a value of its own returns: `return Done{};` or an Error.
struct Done {};
using Status = Result<Done>;

}  // namespace membound::base
