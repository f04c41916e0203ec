// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The sentences of messages.hpp that tell of races and shared memory, and what to do about
/// findings.
#include <bit>
#include <filesystem>

#include "grader/base/demangle.hpp"
#include "grader/vgpu/exec/observe/race_messages.hpp"
#include "grader/vgpu/exec/state/local_window.hpp"

namespace membound::vgpu::exec {
namespace {

using memory::Stamp;
using ptx::StateSpace;

/// "tile" for "_ZZ9transposePfE4tile", and for "_ZZ9transposePfE4tile_$_31", which is what nvcc has
/// kept of an array of which the kernel uses one element.
std::string variable_name(const std::string& mangled) {
  const std::string whole = mangled.substr(0, mangled.find("_$_"));
  return base::without_namespaces(base::demangled(whole.empty() ? mangled : whole));
}

/// Who made the other access. Of several lanes that read together the first is remembered, which
/// may be the very lane that writes now; it means the others.
std::string describe_other(const Warp& w, const Race& race, const OtherAccess& other) {
  const bool itself = relation(w, race) == Relation::kWarp &&
                      Stamp::thread(race.before) == w.index * 32 + race.lane;
  if (itself) return "another thread of the same warp";
  return "thread " + triple(other.place.thread) + " of " +
         (relation(w, race) == Relation::kGrid   ? "block " + triple(other.place.block)
          : relation(w, race) == Relation::kWarp ? "the same warp"
                                                 : "the same block");
}

}  // namespace

Relation relation(const Warp& w, const Race& race) {
  if (Stamp::block(race.before) != (w.block->linear & Stamp::kBlockMask)) return Relation::kGrid;
  return Stamp::warp(race.before) == w.index ? Relation::kWarp : Relation::kBlock;
}

std::string triple(const Dim3& d) {
  return "(" + std::to_string(d.x) + ", " + std::to_string(d.y) + ", " + std::to_string(d.z) + ")";
}

std::string line_text(const Place& place) {
  if (!place.file.empty())
    return std::filesystem::path(place.file).filename().string() + ":" + std::to_string(place.line);
  return "line " + std::to_string(place.ptx_line) + " of the PTX";
}

namespace {

/// The variable that begins at an offset or last before it; none: null.
const program::SharedVariable* shared_variable(const program::Kernel& kernel,
                                               std::uint64_t offset) {
  const program::SharedVariable* before = nullptr;
  for (const program::SharedVariable& variable : kernel.shared_variables) {
    if (variable.offset_bytes > offset) continue;
    if (before == nullptr || variable.offset_bytes > before->offset_bytes) before = &variable;
  }
  return before;
}

/// "right after ", "8 bytes past the end of "
std::string past_the_end(std::uint64_t bytes) {
  return bytes == 0 ? "right after " : std::to_string(bytes) + " bytes past the end of ";
}

bool is_dynamic(const Warp& w, std::uint64_t offset) {
  return w.launch->request->dynamic_shared_bytes != 0 &&
         offset >= dynamic_shared_begin(*w.launch->kernel);
}

}  // namespace

std::string name_of_shared(const Warp& w, std::uint64_t offset) {
  if (is_dynamic(w, offset)) return "dynamic shared memory";
  const program::SharedVariable* const variable = shared_variable(*w.launch->kernel, offset);
  return variable == nullptr ? "" : variable_name(variable->name);
}

std::string describe_shared(const Warp& w, std::uint64_t offset) {
  const program::Kernel& kernel = *w.launch->kernel;
  const std::uint64_t dynamic = dynamic_shared_begin(kernel);
  const std::uint64_t dynamic_bytes = w.launch->request->dynamic_shared_bytes;
  const program::SharedVariable* const before = shared_variable(kernel, offset);
  const std::string all =
      "; the block has " +
      std::to_string(shared_bytes(kernel, w.launch->request->dynamic_shared_bytes)) + " bytes";
  if (is_dynamic(w, offset)) {
    const std::uint64_t inside = offset - dynamic;
    const std::string size = "dynamic shared memory (" + std::to_string(dynamic_bytes) + " bytes)";
    if (inside < dynamic_bytes) return "offset " + std::to_string(inside) + " of " + size;
    return "shared-memory offset " + std::to_string(offset) + ", " +
           past_the_end(inside - dynamic_bytes) + size + all;
  }
  if (before == nullptr) return "shared-memory offset " + std::to_string(offset) + all;
  const std::uint64_t inside = offset - before->offset_bytes;
  const std::string name = variable_name(before->name);
  const std::string size = std::to_string(before->size_bytes) + " bytes of shared memory";
  if (inside < before->size_bytes)
    return "offset " + std::to_string(inside) + " of " + name + " (" + size + ")";
  const std::uint64_t past = inside - before->size_bytes;
  return "shared-memory offset " + std::to_string(offset) + ", " + past_the_end(past) + name +
         " (" + size + ")" + all;
}

OtherAccess other_access(const Warp& w, const Race& race, const Step* step) {
  OtherAccess other;
  if (step != nullptr) other.place = place_of(w, step, 0);
  other.place.kernel = w.launch->kernel->name;
  other.place.block = w.launch->request->grid.index(Stamp::block(race.before));
  other.place.thread = w.launch->request->block.index(Stamp::thread(race.before));
  other.wrote = race.before_wrote;
  return other;
}

std::string describe_flight(const Warp& w, const WarpAccess& access, std::uint32_t lane,
                            const Place& place, const OtherAccess& copy) {
  const bool same = copy.place.file == place.file && copy.place.line == place.line;
  return (access.kind == AccessKind::kLoad ? "reads " : "writes ") + std::to_string(access.bytes) +
         " bytes at " + describe_shared(w, access.addresses[lane]) + ", to which thread " +
         triple(copy.place.thread) + " copies asynchronously" +
         (same ? "" : " at " + line_text(copy.place)) + "; nobody has waited for that copy";
}

std::string describe_race(const Warp& w, const WarpAccess& access, const Race& race,
                          const Place& place, const OtherAccess& other) {
  const bool writes = access.kind != AccessKind::kLoad;
  std::string text = access.kind == AccessKind::kAtomic ? "changes "
                     : writes                           ? "writes "
                                                        : "reads ";
  text += std::to_string(access.bytes) + (access.bytes == 1 ? " byte" : " bytes") + " at ";
  const std::uint64_t address = access.addresses[race.lane];
  if (access.space == StateSpace::kShared) {
    text += describe_shared(w, address);
  } else {
    text += hex(address);
    if (const auto held = w.launch->request->memory->find(address))
      text += ", in " + describe(*held);
  }
  text += ", which " + describe_other(w, race, other);
  text += race.before_wrote ? " wrote" : " read";
  if (other.place.line != 0 || other.place.ptx_line != 0) {
    const bool same = other.place.file == place.file && other.place.line == place.line &&
                      (place.line != 0 || other.place.ptx_line == place.ptx_line);
    text += same ? " at the same line" : " at " + line_text(other.place);
  }
  return text + "; nothing orders the two";
}

std::string sync_advice(std::string_view kind) {
  if (kind == "divergent barrier")
    return "move the barrier out of the branch, so that every thread of the block reaches it";
  if (kind == "barrier after exit")
    return "let threads without work skip the work, not the barrier: no return before the last "
           "__syncthreads()";
  if (kind == "invalid shuffle width")
    return "take the next power of two, and leave out the lanes that have no value";
  if (kind == "invalid barrier count") return "count all lanes of each warp that comes";
  return "name exactly the lanes that reach the call: 0xffffffff where the whole warp does, else "
         "what __ballot_sync of the condition said before the branch";
}

}  // namespace membound::vgpu::exec
