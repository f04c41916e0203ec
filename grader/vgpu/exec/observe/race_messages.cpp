// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/exec/observe/race_checker.hpp"

#include <algorithm>
#include <bit>
#include <filesystem>
#include <optional>

#include "grader/base/demangle.hpp"
#include "grader/base/strings.hpp"
#include "grader/vgpu/exec/state/access.hpp"
#include "grader/vgpu/program/control_flow.hpp"
#include "grader/vgpu/program/opcode_table.hpp"

namespace membound::vgpu::exec {
namespace {

using memory::Epoch;
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
                      Epoch::thread(race.before) == w.index * 32 + race.lane;
  if (itself) return "another thread of the same warp";
  return "thread " + triple(other.place.thread) + " of " +
         (relation(w, race) == Relation::kGrid   ? "block " + triple(other.place.block)
          : relation(w, race) == Relation::kWarp ? "the same warp"
                                                 : "the same block");
}

}  // namespace

Relation relation(const Warp& w, const Race& race) {
  if (Epoch::block(race.before) != (w.block->linear & Epoch::kBlockMask)) return Relation::kGrid;
  return Epoch::warp(race.before) == w.index ? Relation::kWarp : Relation::kBlock;
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
  return bytes == 0 ? "right after " : base::counted(bytes, "byte") + " past the end of ";
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

std::uint64_t begin_of_shared(const Warp& w, std::uint64_t offset) {
  if (is_dynamic(w, offset)) return dynamic_shared_begin(*w.launch->kernel);
  const program::SharedVariable* const variable = shared_variable(*w.launch->kernel, offset);
  return variable == nullptr ? 0 : variable->offset_bytes;
}

std::string describe_shared(const Warp& w, std::uint64_t offset) {
  const program::Kernel& kernel = *w.launch->kernel;
  const std::uint64_t dynamic = dynamic_shared_begin(kernel);
  const std::uint64_t dynamic_bytes = w.launch->request->dynamic_shared_bytes;
  const program::SharedVariable* const before = shared_variable(kernel, offset);
  const std::string all =
      "; the block has " +
      base::counted(shared_bytes(kernel, w.launch->request->dynamic_shared_bytes), "byte");
  if (is_dynamic(w, offset)) {
    const std::uint64_t inside = offset - dynamic;
    const std::string size = "dynamic shared memory (" + base::counted(dynamic_bytes, "byte") + ")";
    if (inside < dynamic_bytes) return "offset " + std::to_string(inside) + " of " + size;
    return "shared-memory offset " + std::to_string(offset) + ", " +
           past_the_end(inside - dynamic_bytes) + size + all;
  }
  if (before == nullptr) return "shared-memory offset " + std::to_string(offset) + all;
  if (is_below_shared(offset)) {
    const auto& variables = kernel.shared_variables;
    const auto first = std::min_element(
        variables.begin(), variables.end(),
        [](const auto& a, const auto& b) { return a.offset_bytes < b.offset_bytes; });
    const std::uint64_t below = (std::uint64_t{1} << 32) - offset;
    return base::counted(below + first->offset_bytes, "byte") + " before " +
           variable_name(first->name) + ", the first array of shared memory" + all;
  }
  const std::uint64_t inside = offset - before->offset_bytes;
  const std::string name = variable_name(before->name);
  const std::string size = base::counted(before->size_bytes, "byte") + " of shared memory";
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
  other.place.block = w.launch->request->grid.index(Epoch::block(race.before));
  other.place.thread = w.launch->request->block.index(Epoch::thread(race.before));
  other.wrote = race.before_wrote;
  return other;
}

std::string describe_flight(const Warp& w, const WarpAccess& access, std::uint32_t lane,
                            const Place& place, const OtherAccess& copy) {
  const bool same = copy.place.file == place.file && copy.place.line == place.line;
  return (access.kind == AccessKind::kLoad ? "reads " : "writes ") +
         base::counted(access.bytes, "byte") + " at " + describe_shared(w, access.addresses[lane]) +
         ", to which thread " + triple(copy.place.thread) + " copies asynchronously" +
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

namespace {

using program::Instruction;
using program::Opcode;
using program::Order;

/// Whether other active lanes touch the very place of `lane`: then no barrier puts it right.
bool is_shared_by_lanes(const WarpAccess& access, std::uint32_t lane) {
  std::uint32_t same = 0;
  for (std::uint32_t rest = access.mask; rest != 0; rest &= rest - 1)
    same += access.addresses[std::countr_zero(rest)] == access.addresses[lane] ? 1 : 0;
  return same > 1;
}

/// The step's number in its function.
std::uint32_t index_of(const Launch& launch, const Step* step) {
  return static_cast<std::uint32_t>(step - launch.code[step->extra->function].begin);
}

bool is_barrier(const Instruction& in, Relation apart) {
  if (program::is_block_barrier(in)) return in.as<program::BlockBarrier>().counts_all;
  return apart == Relation::kWarp && (in.opcode == Opcode::kBar || in.opcode == Opcode::kBarrier);
}

/// May `to` run after `from` with no barrier between?
bool lacks_barrier(const Launch& launch, const Step* from, const Step* to, Relation apart) {
  const program::Function& function = *launch.code[from->extra->function].function;
  const auto ends = [&](const Instruction& in) { return is_barrier(in, apart); };
  return program::reached_from(function, index_of(launch, from), ends)[index_of(launch, to)];
}

/// "between lines 5 and 6", or where a loop comes from the later line to the earlier one again.
RaceAdvice missing_place(const Warp& w, const WarpAccess& access, const Race& race,
                         const Place& place, const OtherAccess& other) {
  const Step* const step = w.launch->origins[race.origin];
  if (place.line == 0 || other.place.line == 0 || place.line == other.place.line || step == nullptr)
    return {"between the two"};
  const bool is_later = place.line > other.place.line;
  const Step* const early = is_later ? step : access.step;
  const Step* const late = is_later ? access.step : step;
  const std::string first = std::to_string(std::min(place.line, other.place.line));
  const std::string last = std::to_string(std::max(place.line, other.place.line));
  if (early->extra->function != late->extra->function) return {"between the two"};
  const Relation apart = relation(w, race);
  if (!lacks_barrier(*w.launch, early, late, apart) && lacks_barrier(*w.launch, late, early, apart))
    return {"after line " + last + ", before the next iteration comes to line " + first, true};
  return {"between lines " + first + " and " + last};
}

bool is_load(const Step* step) { return step->extra->in->opcode == Opcode::kLd; }
bool is_store(const Step* step) { return step->extra->in->opcode == Opcode::kSt; }

/// Of a line that loads for one thread what it stores for another, in a loop whose rounds a barrier
/// separates: only the line's own two halves lack one.
bool lacks_barrier_in_the_line(const Warp& w, const WarpAccess& access, const Race& race) {
  const Step* const other = w.launch->origins[race.origin];
  if (other == nullptr || other->extra->function != access.step->extra->function) return false;
  const Step* const load = is_load(other) ? other : access.step;
  const Step* const store = is_load(other) ? access.step : other;
  const Relation apart = relation(w, race);
  return is_load(load) && is_store(store) && lacks_barrier(*w.launch, load, store, apart) &&
         !lacks_barrier(*w.launch, store, load, apart);
}

bool is_fence(const Instruction& in) {
  return in.opcode == Opcode::kMembar || in.opcode == Opcode::kFence;
}

std::string line_of(const Warp& w, const Step* step) {
  const Place place = place_of(w, step, 0);
  return place.line == 0 ? "line " + std::to_string(place.ptx_line) + " of the PTX"
                         : "line " + std::to_string(place.line);
}

bool is_plain_store(const Step* step) {
  const Instruction& in = *step->extra->in;
  return in.opcode == Opcode::kSt && in.order == Order::kWeak;
}

/// An exchange whose answer only decides whether its thread goes on: it asks for a lock.
bool asks_for_lock(const Step* step) {
  const Instruction& in = *step->extra->in;
  if (in.opcode != Opcode::kAtom || !in.only_decides) return false;
  const program::Atomic operation = in.as<program::AtomicAccess>().operation;
  return operation == program::Atomic::kCas || operation == program::Atomic::kExch;
}

/// What the lock around both accesses lacks; empty where there is none, or it lacks nothing.
std::string lock_advice(const Warp& w, const WarpAccess& access, const Race& race) {
  const Step* const other = w.launch->origins[race.origin];
  if (other == nullptr) return {};
  constexpr const char* kExchange = "give the lock back with atomicExch, after a __threadfence()";
  // Whoever asked in vain has not taken it, and is no `take`.
  if (is_plain_store(access.step) && asks_for_lock(other)) return kExchange;
  const auto [take, give_back] = race.lock;
  if (take == nullptr || give_back == nullptr) return {};
  if (take == access.step)
    return give_back == other && is_plain_store(other) ? kExchange : std::string();
  for (const Step* step : {access.step, other, give_back})
    if (step->extra->function != take->extra->function) return {};
  const program::Function& function = *w.launch->code[take->extra->function].function;
  const auto leads = [&](const Step* from, const Step* to, const program::PathEnd& ends) -> bool {
    return program::reached_from(function, index_of(*w.launch, from),
                                 ends)[index_of(*w.launch, to)];
  };
  for (const Step* guarded : {access.step, other})
    if (!leads(take, guarded, nullptr) || !leads(guarded, give_back, nullptr)) return {};
  const Order taken = take->extra->in->order, given = give_back->extra->in->order;
  const bool no_acquire = taken != Order::kAcquire && taken != Order::kAcqRel &&
                          (leads(take, access.step, is_fence) || leads(take, other, is_fence));
  const bool no_release =
      given != Order::kRelease && given != Order::kAcqRel &&
      (leads(access.step, give_back, is_fence) || leads(other, give_back, is_fence));
  if (!no_acquire && !no_release) return {};
  const std::string fence =
      access.space == ptx::StateSpace::kShared ? "__threadfence_block()" : "__threadfence()";
  std::string text = "the lock orders nothing by itself: put " + fence;
  if (no_acquire) text += " after " + line_of(w, take) + ", which takes it";
  if (no_acquire && no_release) text += ", and one";
  if (no_release) text += " before " + line_of(w, give_back) + ", which gives it back";
  if (is_plain_store(give_back)) text += " with a plain store where it needs atomicExch";
  return text;
}

}  // namespace

RaceAdvice race_advice(const Warp& w, const WarpAccess& access, const Race& race,
                       const Place& place, const OtherAccess& other) {
  const bool was_atomic = (race.before & Epoch::kAtomic) != 0;
  const bool is_atomic = access.kind == AccessKind::kAtomic;
  if (std::string lock = lock_advice(w, access, race); !lock.empty()) return {std::move(lock)};
  if (was_atomic != is_atomic && relation(w, race) == Relation::kGrid)
    return {"make both accesses atomic, or let a second kernel do what must come after"};
  const bool same_line = other.place.line == place.line;
  if (same_line && relation(w, race) != Relation::kGrid && is_shared_by_lanes(access, race.lane))
    return {
        "use an atomic operation (atomicAdd), or let each thread write to a place of its own: "
        "here many threads change one place, and no barrier keeps what each of them adds"};
  const bool is_volatile = access.step->extra->in->order == Order::kVolatile;
  const std::string no_order = is_volatile ? "; volatile orders nothing" : "";
  RaceAdvice where = missing_place(w, access, race, place, other);
  switch (relation(w, race)) {
    case Relation::kGrid:
      // One block reads in a line of its own what another one wrote: that is waited for, not added.
      if (!same_line && !(access.kind != AccessKind::kLoad && race.before_wrote))
        return {
            "let a second kernel do what must come after; where blocks wait for each other in one "
            "launch, put __syncthreads() and then __threadfence() after what a block writes, "
            "before it says so" +
            no_order};
      return {
          "use an atomic operation, or let each block write to a place of its own: blocks run "
          "in any order" +
          no_order};
    case Relation::kBlock:
      if (same_line && lacks_barrier_in_the_line(w, access, race))
        return {
            "a barrier is missing inside of this line: let each thread load into a variable of its "
            "own, then put __syncthreads(), where every thread reaches it, and store after that" +
            no_order};
      if (same_line)
        return {
            "put __syncthreads() between one iteration and the next, or give each thread an "
            "element of its own; where threads add to one place, use atomicAdd" +
            no_order};
      return {"put __syncthreads() " + where.text + ", where every thread reaches it" + no_order,
              where.is_of_next_iteration};
    case Relation::kWarp:
      break;
  }
  return {"put __syncwarp() (or __syncthreads()) " + where.text +
              ": since Volta the lanes of a warp need not run in step" +
              (is_volatile ? ", and volatile orders nobody" : ""),
          where.is_of_next_iteration};
}

}  // namespace membound::vgpu::exec
