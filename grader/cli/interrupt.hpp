// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Ctrl-C, as a flag that long work looks at.
#pragma once

#include <atomic>

namespace membound::cli {

/// From now on SIGINT, SIGTERM and SIGHUP set the flag instead of ending the program; a second one
/// ends it at once (its children go with it).
const std::atomic<bool>* catch_interrupts();

}  // namespace membound::cli
