// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What to do about a bad access (fault_messages.hpp).
#include "grader/vgpu/exec/state/fault_messages.hpp"
#include "grader/vgpu/exec/state/local_window.hpp"
#include "grader/vgpu/exec/state/missed_array.hpp"

namespace membound::vgpu::exec {

using ptx::StateSpace;

std::string access_advice(const Warp& w, const WarpAccess& access, FaultKind kind,
                          std::uint32_t lane) {
  if (kind == FaultKind::kMisalignedAddress)
    return "an access of " + std::to_string(access.bytes) + " bytes needs an address that is a " +
           "multiple of " + std::to_string(access.bytes) +
           "; give vector types (int2, float4) only arrays and offsets that keep it so";
  if (other_owner(access, lane))
    return "hand over the value of a local variable, through shared memory or a shuffle, not its "
           "address: that leads every other thread into its own local memory";
  if (access.space == StateSpace::kShared)
    return "compare the index with the size of the array; dynamic shared memory is as large as the "
           "launch says";
  if (access.space == StateSpace::kLocal) return "compare the index with the size of the array";
  const memory::AddressSpace& space = *w.launch->request->memory;
  if (space.find_freed(access.addresses[lane]))
    return "free the memory after the last kernel that uses it has ended; if that was not this "
           "array's memory, the index is far off: compare it with the number of elements";
  const auto missed = missed_array(w, access, lane);
  if (!missed && !space.is_device_address(access.addresses[lane]))
    return "give the kernel what cudaMalloc returned: a pointer of the host, or one that was never "
           "set, leads nowhere on the device; or the index is far off";
  if (missed && missed->miss == Miss::kWrapped)
    return "an int holds no more than 2,147,483,647: compute the index in 64 bits, with the cast "
           "before the product, as in static_cast<size_t>(row) * stride";
  if (missed && missed->miss == Miss::kBelowZero)
    return "leave out what lies before the first element, with a comparison before the "
           "subtraction: an unsigned number is never below 0";
  if (missed && missed->miss == Miss::kFar)
    return "the index is far off: compare it with the number of elements; where there may be more "
           "than 2,147,483,647, compute it in 64 bits (size_t), for an int wraps there";
  if (missed && access.addresses[lane] < missed->array.address)
    return "the index is below 0 here: leave out what lies before the first element";
  return "compare the index itself with the number of elements before the access: if (i < n) for "
         "element i; where it is element n - i, the first thread is one too far: n - 1 - i";
}

}  // namespace membound::vgpu::exec
