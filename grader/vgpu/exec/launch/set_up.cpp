// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/exec/launch/set_up.hpp"

#include <algorithm>

#include "grader/vgpu/exec/schedule/scheduler.hpp"

namespace membound::vgpu::exec {

void set_up(Launch& launch, const LaunchRequest& request, Workspace& workspace) {
  launch.request = &request;
  launch.kernel = request.kernel;
  launch.stats_count = 1;  // 0: keeps none
  launch.warps_per_block = static_cast<std::uint32_t>((request.block.count() + 31) / 32);
  launch.shared_bytes = request.kernel->placed_shared_bytes;
  if (request.dynamic_shared_bytes != 0)
    launch.shared_bytes = dynamic_shared_begin(*request.kernel) + request.dynamic_shared_bytes;
  launch.shared_window = request.memory->shared_window();
  launch.local_window = request.memory->local_window();
  launch.precise = request.checks.memcheck;
  if (!launch.precise && launch.shared_bytes != 0)
    launch.shared_bytes += request.shared_reach_bytes;
  launch.counts = request.counts;
  launch.cached_sms = std::max(1u, request.sm_count);
  launch.sample = {request.grid.count(), request.checks.most_blocks};
  // What a block wrote that nobody heard counts as written, here and from now on.
  if (launch.sample.leaves_out_some()) request.memory->track_initialised(false);
  launch.scheduler = request.scheduling == Scheduling::kLockstep ? &lockstep_scheduler()
                                                                 : &independent_scheduler();
  launch.defer_reductions = request.kernel->orders_float_reductions && !request.cooperative;
  if (request.kernel->takes_parameter_addresses) {
    launch.parameter_address = workspace.take(request.parameters.size() + 16, "kernel parameters");
    request.memory->copy_in(launch.parameter_address, request.parameters.data(),
                            request.parameters.size());
  }
  if (request.kernel->uses_grid_sync && request.cooperative)
    launch.grid_barrier_address = workspace.take(256, "grid barrier");
}

}  // namespace membound::vgpu::exec
