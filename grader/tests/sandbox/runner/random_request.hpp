// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Requests and answers with random content, field by field as the wire takes them.
#pragma once

#include <random>

#include "grader/sandbox/runner/protocol.hpp"

namespace membound::runner {

/// A visitor that fills in what it is shown.
class Randomizer {
 public:
  explicit Randomizer(std::mt19937_64& engine) : engine_(engine) {}

  template <Number T>
  void operator()(T& value) {
    value = static_cast<T>(engine_() >> (engine_() % 64));
  }
  template <Number T, std::size_t n>
  void operator()(std::array<T, n>& values) {
    for (T& value : values) (*this)(value);
  }
  void operator()(std::string& text) {
    text.assign(1 + engine_() % 20, static_cast<char>('a' + engine_() % 26));
  }
  void operator()(std::vector<std::byte>& data) {
    data.resize(engine_() % 40);
    for (std::byte& byte : data) byte = static_cast<std::byte>(engine_());
  }
  template <typename T>
  void operator()(std::vector<T>& list) {
    list.resize(engine_() % 5);
    for (T& element : list) (*this)(element);
  }
  template <Aggregate T>
  void operator()(T& value) {
    visit_fields(value, [this](auto&... fields) { ((*this)(fields), ...); });
  }

 private:
  std::mt19937_64& engine_;
};

template <typename T>
[[nodiscard]] T random_message(std::mt19937_64& engine) {
  T message;
  Randomizer{engine}(message);
  return message;
}

/// Calls `body` with a random request of every kind.
template <typename Body>
void for_every_kind(std::mt19937_64& engine, Body body) {
  [&]<typename... All>(const std::variant<All...>*) {
    (body(random_message<All>(engine)), ...);
  }(static_cast<const Request*>(nullptr));
}

}  // namespace membound::runner
