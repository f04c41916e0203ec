// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The texts of what can be wrong with a fat binary or a cubin. Internal to fatbin.
#pragma once

#include <cstdint>
#include <string_view>

#include "grader/base/result.hpp"

namespace membound::fatbin::errors {

[[nodiscard]] base::Error not_a_fat_binary(std::string_view where);
[[nodiscard]] base::Error cut_off(std::string_view where, std::string_view what,
                                  std::uint64_t needed_bytes, std::uint64_t there_bytes);
[[nodiscard]] base::Error unknown_version(std::string_view where, std::uint32_t version);
[[nodiscard]] base::Error bad_header(std::string_view where, std::uint32_t header_bytes);
[[nodiscard]] base::Error bad_compression(std::string_view where, std::string_view method);
[[nodiscard]] base::Error too_large(std::string_view where, std::uint64_t bytes);
/// There are cubins only, the first for `arch`; 0 when the container is empty.
[[nodiscard]] base::Error no_ptx(std::string_view where, std::uint32_t arch);
[[nodiscard]] base::Error not_a_cubin(std::string_view where, std::string_view found);
[[nodiscard]] base::Error bad_cubin(std::string_view where, std::string_view what);

}  // namespace membound::fatbin::errors
