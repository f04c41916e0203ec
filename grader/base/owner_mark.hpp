// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A word that names a process for as long as the machine runs, to be put into names of what it
/// leaves when it is killed: folders, control groups, processes. Who starts later can tell what has
/// no owner any more from what is in use, also where process numbers come round again, and where
/// containers and machines share a folder. Source: proc(5), starttime in /proc/PID/stat.
#pragma once

#include <string>
#include <string_view>

namespace membound::base {

/// Of this process: "3f2a91c0.4026531836.1234.567890" is boot, PID namespace, number and start.
[[nodiscard]] std::string owner_mark();

/// Whether `text` begins with the mark of a process that ran here, in this namespace and since this
/// boot, and has ended. False for all else: it may be somebody else's.
[[nodiscard]] bool has_lost_its_owner(std::string_view text);

}  // namespace membound::base
