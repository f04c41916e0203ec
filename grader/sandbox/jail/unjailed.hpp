// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The same program without its jail, for people who run their own code and for ourselves.
/// Place in the chain: harness/program, judge -> [unjailed] -> process. Left out: any protection.
#pragma once

#include "grader/sandbox/jail/jail.hpp"

namespace membound::jail {

/// As run(), but with our rights. Paths inside the jail, alone or in a list with ':', become those
/// outside, in arguments and environment; scratch is a folder that is removed at the end; the
/// environment is on top of ours. Of the limits only wall clock and output are kept.
[[nodiscard]] base::Result<JailOutcome> run_unjailed(const JailRequest& request);

}  // namespace membound::jail
