// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The memory a Module shares with its copies: the text, and an arena for suffixes and operands.
/// Internal to ptx.
#pragma once

#include <algorithm>
#include <deque>
#include <memory_resource>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace membound::ptx {

/// Everything the views of one tree point to. Does not move once made.
class Storage {
 public:
  Storage(std::string text, std::string file_name)
      : text_(std::move(text)), file_name_(std::move(file_name)) {}
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] const std::string& file_name() const { return file_name_; }

  /// A copy of `items` that lives as long as the storage.
  template <typename T>
  std::span<T> keep(std::span<const T> items) {
    static_assert(std::is_trivially_destructible_v<T>);
    if (items.empty()) return {};
    T* copy = static_cast<T*>(arena_.allocate(items.size_bytes(), alignof(T)));
    std::uninitialized_copy(items.begin(), items.end(), copy);
    return {copy, items.size()};
  }

  /// A string that is not part of the text.
  std::string_view keep_string(std::string text) { return strings_.emplace_back(std::move(text)); }

 private:
  std::string text_;
  std::string file_name_;
  std::pmr::monotonic_buffer_resource arena_;
  std::deque<std::string> strings_;
};

}  // namespace membound::ptx
