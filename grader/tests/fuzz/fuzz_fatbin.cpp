// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Fuzz target: any bytes give entries or an error, and each cubin among them kernels or an error.
#include <cstddef>
#include <cstdint>
#include <span>

#include "grader/base/result.hpp"
#include "grader/device_code/fatbin/cubin.hpp"
#include "grader/device_code/fatbin/fatbin.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace membound;
  const auto bytes = std::as_bytes(std::span(data, size));
  const auto entries = fatbin::read(bytes);
  if (!entries) {
    MEMBOUND_CHECK(!entries.error().found.empty());
    return 0;
  }
  for (const fatbin::Entry& entry : *entries) {
    if (entry.kind != fatbin::EntryKind::kElf) continue;
    const auto kernels = fatbin::read_cubin(entry.payload);
    MEMBOUND_CHECK(kernels.ok() || !kernels.error().found.empty());
  }
  const auto chosen = fatbin::choose_ptx(*entries, 90, "fuzz");
  MEMBOUND_CHECK(!chosen.ok() || (*chosen)->kind == fatbin::EntryKind::kPtx);
  return 0;
}
