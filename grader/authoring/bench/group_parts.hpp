// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the groups of all labs are made of.
/// Place in the chain: *_groups -> [group_parts] -> answers, contest.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "grader/authoring/bench/answers.hpp"
#include "grader/authoring/bench/contest.hpp"

namespace membound::authoring {

/// An array of `count` elements.
[[nodiscard]] harness::TimedBuffer buffer(harness::ElementType type, std::int64_t count);

/// Loads answers that live as long as the group. Throws std::runtime_error.
std::shared_ptr<const Answers> keep(Group& group, const Machine& machine, const std::string& lab_id,
                                    harness::Signature signature,
                                    const std::filesystem::path& fatbin = {});

/// Every stage that is a kernel, all on the same work. Stage i has the document's figures[i - 1].
void add_stages(Group& group, const Answers& answers, const Answers::Work& work,
                const std::vector<std::string>& figures = {});

/// The device's copies of the first `size_bytes` bytes of the first input.
void add_copies(Group& group, const harness::DeviceKernels& kernels, std::size_t size_bytes);

}  // namespace membound::authoring
