// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Fuzz target: any text gives a tree or an error; a tree prints to a text that parses again and
/// prints the same.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "grader/base/result.hpp"
#include "grader/device_code/ptx/parser.hpp"
#include "grader/device_code/ptx/printer.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace membound::vgpu;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto module = ptx::parse(text, "fuzz.ptx");
  if (!module) {
    MEMBOUND_CHECK(!module.error().found.empty());
    return 0;
  }
  const std::string printed = ptx::to_text(*module);
  if (printed.size() > (std::size_t{1} << 20)) return 0;  // a large array of zeros: nothing new
  const auto again = ptx::parse(printed, "printed.ptx");
  MEMBOUND_CHECK(again.ok());
  MEMBOUND_CHECK(ptx::to_text(*again) == printed);
  return 0;
}
