// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/exec/observe/undefined_messages.hpp"

#include "grader/vgpu/exec/state/fault_messages.hpp"

namespace membound::vgpu::exec {
namespace {

std::string describe_source(const Warp& w, const UndefinedSource& from, std::uint32_t lane) {
  const std::uint64_t address = from.addresses[lane];
  if (from.space == ptx::StateSpace::kNone)
    return "takes the value of lane " + std::to_string(address) +
           " of the warp, which does not take part";
  std::string text = "read of " + std::to_string(from.bytes) + " bytes at ";
  if (from.space == ptx::StateSpace::kShared)
    return text + describe_shared(w, address) + ", which no thread of the block has written";
  if (from.space == ptx::StateSpace::kLocal)
    return text + "local-memory offset " + std::to_string(address) +
           ", which the thread has not written";
  text += hex(address);
  if (const auto held = w.launch->request->memory->find(address)) text += ", in " + describe(*held);
  return text + ", which nobody has written";
}

/// Which memory it was, so that equal ones of a line are one finding.
std::string name_of(const Warp& w, const UndefinedSource& from, std::uint32_t lane) {
  const std::uint64_t address = from.addresses[lane];
  if (from.space == ptx::StateSpace::kShared) return name_of_shared(w, address);
  if (from.space == ptx::StateSpace::kLocal) return "local memory";
  if (from.space != ptx::StateSpace::kGlobal) return "";
  const auto held = w.launch->request->memory->find(address);
  return held ? std::to_string(held->serial) : "";
}

const char* words_of(Use use) {
  switch (use) {
    case Use::kBranch:
      return "decides a branch";
    case Use::kAddress:
      return "is an address";
    case Use::kAtomic:
      return "is an atomic's";
    case Use::kOutput:
      break;
  }
  return "is written to global memory";
}

const char* advice_of(ptx::StateSpace space) {
  switch (space) {
    case ptx::StateSpace::kNone:
      return "let the lane that is asked take part too: name it in the mask and let it reach the "
             "shuffle, or do not use what comes from it";
    case ptx::StateSpace::kShared:
      return "let every element be written before a __syncthreads(), then read it";
    case ptx::StateSpace::kLocal:
      return "give the variable or array a value where it is declared: int a[8] = {}";
    default:
      return "fill the array first: cudaMemcpy data to it, or clear it with cudaMemset";
  }
}

}  // namespace

const char* kind_of(const UndefinedSource& from) {
  return from.space == ptx::StateSpace::kNone ? "shuffle from a missing lane"
                                              : "uninitialised read";
}

CheckReport describe_use(const Warp& w, const UndefinedSource& from, const Step* at,
                         std::uint32_t lane, Use use) {
  const std::uint32_t origin = from.lane_of(lane);
  CheckReport found{"initcheck",
                    kind_of(from),
                    place_of(w, from.step, origin),
                    from.addresses[origin],
                    from.bytes,
                    1,
                    describe_source(w, from, origin)};
  found.array = name_of(w, from, origin);
  if (from.was_stored) {
    found.place.thread = w.launch->request->block.index(from.threads[origin]);
    found.text += "; it was stored in shared or local memory and read there";
  }
  const Place used = place_of(w, at, lane);
  if (used.line != found.place.line || used.file != found.place.file)
    found.text += "; what is made of it " + std::string(words_of(use)) + " at " + line_text(used);
  found.advice = advice_of(from.space);
  return found;
}

}  // namespace membound::vgpu::exec
