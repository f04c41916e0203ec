// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Where warps take their turns in drawn orders: a turn may end behind an atomic or a volatile
/// access, too, by which warps hear of each other. Two of them in a row are not one.
/// Place in the chain: launch/prepare -> [pauses] -> schedule/turn_order.
#include "grader/vgpu/exec/lanes/select.hpp"
#include "grader/vgpu/exec/schedule/turn_order.hpp"

namespace membound::vgpu::exec {
namespace {

const Step* pausing(Warp& w, const Step* s) {
  const Step* const next = s->extra->whole(w, s);
  // Else it has left the inner loop by itself.
  if (next != s + 1 || w.pass.wanted || !draw_pause(w)) return next;
  w.pass = {};
  w.pass.wanted = true;
  w.stop = next;
  return next;
}

}  // namespace

Handler pausing_handler() { return &pausing; }

}  // namespace membound::vgpu::exec
