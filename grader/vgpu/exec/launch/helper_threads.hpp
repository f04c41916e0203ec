// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Threads that help with a launch's blocks. They are kept between launches: starting and joining
/// them would cost a small launch more than running it.
/// Place in the chain: exec/launch/grid -> [helper_threads].
#pragma once

#include <cstddef>
#include <functional>

namespace membound::vgpu::exec {

/// Calls `work(0)` here and `work(1)` … `work(helpers)` on other threads; returns when all calls
/// that began have ended. A helper that has not begun when `work(0)` returns stays out, so `work`
/// must share what there is to do. While other threads' work holds the helpers, only `work(0)` is
/// called.
void share_work(std::size_t helpers, const std::function<void(std::size_t)>& work);

}  // namespace membound::vgpu::exec
