// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the system's numbers mean, for messages; safe on every thread, as std::strerror and
/// strsignal need not be.
#pragma once

#include <string>

namespace membound::base {

/// "No such file or directory" for ENOENT.
[[nodiscard]] std::string reason_text(int error);

/// "Segmentation fault" for SIGSEGV.
[[nodiscard]] std::string signal_text(int signal);

}  // namespace membound::base
