// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/base/system_text.hpp"

#include <array>
#include <cstring>

namespace membound::base {

std::string reason_text(int error) {
  std::array<char, 128> room{};
  return strerror_r(error, room.data(), room.size());  // GNU's, which returns the text
}

std::string signal_text(int signal) {
  const char* const text = sigdescr_np(signal);
  return text != nullptr ? text : "signal " + std::to_string(signal);
}

}  // namespace membound::base
