// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Values to bytes and back. The reader trusts nothing: every length is held against what is left
/// of the bytes and against a bound of its own before anything is allocated.
/// Place in the chain: protocol -> [wire]. Left out: what the values mean; sockets.
///
/// Numbers are little-endian and packed. A text or a list is a 32-bit count and its elements.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "grader/sandbox/runner/fields.hpp"

namespace membound::runner {

static_assert(std::endian::native == std::endian::little, "numbers are copied as they are");

/// Most elements of one list or bytes of one text; a frame bounds their sum.
inline constexpr std::uint32_t kMaxElements = 1U << 16;

template <typename T>
concept Number = std::is_arithmetic_v<T>;

/// Appends values to bytes; of a struct its fields.
class Writer {
 public:
  template <Number T>
  void operator()(const T& value) {
    append(&value, sizeof(T));
  }
  template <Number T, std::size_t n>
  void operator()(const std::array<T, n>& values) {
    for (const T& value : values) (*this)(value);
  }
  void operator()(const std::string& text) {
    (*this)(static_cast<std::uint32_t>(text.size()));
    append(text.data(), text.size());
  }
  void operator()(const std::vector<std::byte>& data) {
    (*this)(static_cast<std::uint32_t>(data.size()));
    append(data.data(), data.size());
  }
  template <typename T>
  void operator()(const std::vector<T>& list) {
    (*this)(static_cast<std::uint32_t>(list.size()));
    for (const T& element : list) (*this)(element);
  }
  template <Aggregate T>
  void operator()(const T& value) {
    visit_fields(value, [this](const auto&... fields) { ((*this)(fields), ...); });
  }

  /// Bytes without a count before them.
  void raw(std::span<const std::byte> data) { append(data.data(), data.size()); }

  [[nodiscard]] std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  void append(const void* data, std::size_t size) {
    const std::size_t before = bytes_.size();
    bytes_.resize(before + size);
    if (size > 0) std::memcpy(bytes_.data() + before, data, size);
  }

  std::vector<std::byte> bytes_;
};

/// Takes values from bytes. After the first value that does not fit, ok() is false for good and
/// every value read is 0 or empty.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : left_(bytes) {}

  template <Number T>
  void operator()(T& value) {
    value = {};
    if (!has(sizeof(T))) return;
    std::memcpy(&value, left_.data(), sizeof(T));
    left_ = left_.subspan(sizeof(T));
  }
  template <Number T, std::size_t n>
  void operator()(std::array<T, n>& values) {
    for (T& value : values) (*this)(value);
  }
  void operator()(std::string& text) {
    const std::span<const std::byte> part = counted(1);
    text.assign(reinterpret_cast<const char*>(part.data()), part.size());
  }
  void operator()(std::vector<std::byte>& data) {
    const std::span<const std::byte> part = counted(1);
    data.assign(part.begin(), part.end());
  }
  template <typename T>
  void operator()(std::vector<T>& list) {
    list.clear();
    std::uint32_t count = 0;
    (*this)(count);
    // An element takes at least a byte: a count beyond the bytes left is a lie.
    if (count > kMaxElements || count > left_.size()) return fail();
    for (std::uint32_t i = 0; i < count && ok_; ++i) (*this)(list.emplace_back());
    if (!ok_) list.clear();
  }
  template <Aggregate T>
  void operator()(T& value) {
    visit_fields(value, [this](auto&... fields) { ((*this)(fields), ...); });
  }

  [[nodiscard]] bool ok() const { return ok_; }
  /// Whether all was well and nothing is left over.
  [[nodiscard]] bool finished() const { return ok_ && left_.empty(); }

 private:
  bool has(std::size_t bytes) {
    if (ok_ && left_.size() >= bytes) return true;
    fail();
    return false;
  }
  std::span<const std::byte> counted(std::size_t element_bytes) {
    std::uint32_t count = 0;
    (*this)(count);
    if (!has(count * element_bytes) || count > kMaxElements) {
      fail();
      return {};
    }
    const std::span<const std::byte> part = left_.first(count * element_bytes);
    left_ = left_.subspan(part.size());
    return part;
  }
  void fail() {
    ok_ = false;
    left_ = {};
  }

  std::span<const std::byte> left_;
  bool ok_ = true;
};

}  // namespace membound::runner
