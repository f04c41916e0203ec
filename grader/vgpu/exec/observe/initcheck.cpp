// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Reads of memory that nobody has written, where something is made of them: a mark for each byte
/// of shared, local and global memory.
#include <bit>
#include <cstdint>
#include <cstring>

#include "grader/vgpu/exec/observe/kernel_checker.hpp"
#include "grader/vgpu/exec/observe/race_rows.hpp"
#include "grader/vgpu/exec/observe/undefined_values.hpp"
#include "grader/vgpu/exec/state/shuffle_source.hpp"
#include "grader/vgpu/program/module.hpp"
#include "grader/vgpu/program/opcode_table.hpp"

namespace membound::vgpu::exec {
namespace {

/// Has every byte been written?
bool all_written(const std::uint8_t* written, std::uint32_t bytes) {
  std::uint64_t flags = 0x0101010101010101u;
  switch (bytes) {
    case 4: {
      std::uint32_t word;
      std::memcpy(&word, written, 4);
      return word == 0x01010101u;
    }
    case 8:
      std::memcpy(&flags, written, 8);
      return flags == 0x0101010101010101u;
    case 16: {
      std::uint64_t upper;
      std::memcpy(&flags, written, 8);
      std::memcpy(&upper, written + 8, 8);
      return (flags & upper) == 0x0101010101010101u;
    }
    default:
      return std::memchr(written, 0, bytes) == nullptr;
  }
}

void set_written(std::uint8_t* written, std::uint32_t bytes) {
  constexpr std::uint64_t kOnes = 0x0101010101010101u;
  switch (bytes) {
    case 4:
      std::memcpy(written, &kOnes, 4);
      break;
    case 8:
      std::memcpy(written, &kOnes, 8);
      break;
    default:
      std::memset(written, 1, bytes);
      break;
  }
}

class Initcheck final : public KernelChecker {
 public:
  Initcheck(Launch& launch, CheckFindings& findings)
      : launch_(launch), findings_(findings), rows_(row_loops()), states_(launch) {}

  void block_begins(Block& block) override;
  [[nodiscard]] bool hears_accesses() const override { return true; }
  SameRead check(const WarpAccess& access, std::uint32_t lanes) override;
  void check_local(const WarpAccess& access) override;
  void enters(Warp& warp) override;
  void step(Warp& warp, const Step* step) override;
  void deserted_shuffle(Warp& warp, const Step* step, std::uint32_t lanes) override;
  void launch_ends() override;

 private:
  struct WarpState {
    UndefinedValues values;
    LocalBytes local;
    UndefinedOrigins local_origins;
    UndefinedSource copied;  ///< what an asynchronous copy reads: its lanes read such bytes
  };
  struct BlockState : ObserverNotes {
    std::vector<std::uint8_t> written;  ///< bytes of shared memory
    UndefinedOrigins origins;           ///< of those that are not
    std::vector<WarpState> warps;
  };
  /// Origins in local memory are of one lane each.
  static std::uint64_t local_place(std::uint32_t lane, std::uint64_t offset) {
    return std::uint64_t{lane} << 40 | offset;
  }
  [[nodiscard]] WarpState& state_of(const Warp& warp) const {
    return states_.of(*warp.block).warps[warp.index];
  }
  [[nodiscard]] bool all_defined(const WarpAccess& access, std::uint8_t* shadow, std::uint64_t base,
                                 std::uint32_t lanes);
  bool look_at_lanes(const WarpAccess& access, std::uint8_t* shadow, std::uint64_t base);
  template <typename Origin, typename Written>
  void load_lanes(const WarpAccess& access, const UndefinedSource& from, const Origin& origin,
                  const Written& written);
  void load(const WarpAccess& access, std::uint32_t lane, const std::uint8_t* written,
            std::uint32_t source);
  void store(const WarpAccess& access, std::uint32_t lane, std::uint8_t* written);
  void store_copied(const WarpAccess& access, std::uint32_t lane, std::uint8_t* written);
  void remember_origin(const WarpAccess& access, std::uint32_t lane, std::uint32_t offset,
                       std::uint32_t bytes, const program::Value& value);
  void note_words(const WarpAccess& access, std::uint32_t lane, std::uint64_t base);
  void watch(const WarpAccess& access);
  [[nodiscard]] bool is_the_librarys(const Warp& warp, const UndefinedSource& from) const;
  void report(Warp& warp, const UndefinedSource& from, const Step* at, std::uint32_t lane, Use use);

  Launch& launch_;
  CheckFindings& findings_;
  const RowLoops& rows_;
  PerBlock<BlockState> states_;
  const UndefinedValues::Used used_ = [this](Warp& warp, const UndefinedSource& from,
                                             const Step* at, std::uint32_t lane,
                                             Use use) { report(warp, from, at, lane, use); };
};

void Initcheck::block_begins(Block& block) {
  BlockState& state = states_.obtain(block);
  state.written.assign(launch_.shared_bytes, 0);
  state.origins.clear();
  state.warps.resize(block.warps.size());
  for (WarpState& warp : state.warps) {
    warp.values.clear();
    warp.local.clear();
    warp.local_origins.clear();
    warp.copied = {};
  }
}

/// What the blocks that are left out have written nobody knows.
void Initcheck::launch_ends() {
  if (launch_.sample.leaves_out_some()) launch_.request->memory->mark_all_initialised();
}

/// A callee's frame holds its arguments, and nothing else that it has written.
void Initcheck::enters(Warp& w) {
  WarpState& state = state_of(w);
  state.values.forget(w.frame);
  const program::Function& function = *launch_.code[w.frame->function].function;
  state.local.set(w.mask, w.frame->local_base, function.frame_bytes, 0);
  for (const program::FrameField& field : function.signature.fields)
    state.local.set(w.mask, w.frame->local_base + field.offset_bytes, field.size_bytes, 1);
}

void Initcheck::step(Warp& w, const Step* s) { state_of(w).values.step(w, s, used_); }

/// From here on the warp tells every step.
void Initcheck::watch(const WarpAccess& access) {
  Warp& w = *access.warp;
  if (w.watched) return;
  w.watched = w.interrupted = true;
  w.stop = access.step + 1;
}

void Initcheck::deserted_shuffle(Warp& w, const Step* s, std::uint32_t lanes) {
  WarpState& state = state_of(w);
  UndefinedSource from{s, ptx::StateSpace::kNone, 4, lanes};
  for (std::uint32_t i = 0; i < 32; ++i) from.addresses[i] = shuffle_source(w, s, i).lane;
  const std::uint32_t source = state.values.add_source(from);
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1)
    state.values.taint(w, s->extra->in->d[0], static_cast<std::uint32_t>(std::countr_zero(rest)),
                       ~std::uint64_t{0}, source);
  watch({&w, s});
}

SameRead Initcheck::check(const WarpAccess& access, std::uint32_t lanes) {
  const memory::AddressSpace& space = *launch_.request->memory;
  const bool shared = access.space == ptx::StateSpace::kShared;
  if (!shared && space.initialised_shadow() == nullptr) return SameRead::kUnmissed;
  std::uint8_t* const shadow =
      shared ? states_.of(*access.warp->block).written.data() : space.initialised_shadow();
  const std::uint64_t base = shared ? 0 : space.shared_window();
  if (all_defined(access, shadow, base, lanes)) return SameRead::kUnmissed;
  return look_at_lanes(access, shadow, base) ? SameRead::kUnmissed : SameRead::kMatters;
}

/// The common cases. True: nothing is left to do.
bool Initcheck::all_defined(const WarpAccess& access, std::uint8_t* shadow, std::uint64_t base,
                            std::uint32_t lanes) {
  const memory::AddressSpace& space = *launch_.request->memory;
  const std::uint64_t window = space.window_bytes();
  // What a watched warp stores, or an asynchronous copy, may be undefined.
  const bool is_copy = access.step->extra->in->opcode == program::Opcode::kCpAsync;
  const bool plain_store =
      access.kind == AccessKind::kStore &&
      (is_copy ? state_of(*access.warp).copied.lanes == 0 : !access.warp->watched);
  if (access.shape == LanePattern::kRow && (base == 0 || access.addresses[0] - base < window)) {
    std::uint8_t* bytes = shadow + (access.addresses[0] - base);
    const std::uint32_t count = 32 * access.bytes;
    if (base != 0 && (plain_store || access.kind != AccessKind::kStore) &&
        space.whole_pages_written(access.addresses[0] - base, count))
      return true;
    if (base != 0 && access.kind == AccessKind::kStore) note_words(access, 0, base);
    if (plain_store) {
      set_written(bytes, count);
      return true;
    }
    if (access.kind == AccessKind::kLoad && rows_.all_set(bytes, count)) return true;
  }
  if (access.bytes == 4 && base == 0 && access.kind == AccessKind::kLoad) {
    if (lanes == 0xFFFFFFFFu && rows_.all_set_words(shadow, access.addresses)) return true;
    std::uint32_t missing = 0;
    for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
      std::uint32_t flags;
      std::memcpy(&flags, shadow + access.addresses[std::countr_zero(rest)], 4);
      missing |= flags ^ 0x01010101u;
    }
    return missing == 0;
  }
  return false;
}

/// True: every lane found what was written.
bool Initcheck::look_at_lanes(const WarpAccess& access, std::uint8_t* shadow, std::uint64_t base) {
  const memory::AddressSpace& space = *launch_.request->memory;
  const std::uint64_t window = space.window_bytes();
  const program::Instruction& in = *access.step->extra->in;
  WarpState& state = state_of(*access.warp);
  const bool is_copy = in.opcode == program::Opcode::kCpAsync;
  UndefinedSource from{access.step, access.space, access.bytes};
  for (std::uint32_t rest = access.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
    const std::uint64_t index = access.addresses[lane] - base;
    from.addresses[lane] = base == 0 ? index : access.addresses[lane];
    if (base != 0 && index >= window) continue;  // host memory
    const bool whole = base != 0 && space.whole_pages_written(index, access.bytes);
    if (access.kind == AccessKind::kStore) {
      if (base != 0 && !whole) note_words(access, lane, base);
      if (is_copy && ((state.copied.lanes >> lane) & 1) != 0)
        store_copied(access, lane, shadow + index);
      else if (access.warp->watched && !is_copy)
        store(access, lane, shadow + index);
      else if (!whole)
        set_written(shadow + index, access.bytes);
    } else if (!whole && !all_written(shadow + index, access.bytes)) {
      from.lanes |= 1u << lane;
    }
  }
  if (is_copy) state.copied = access.kind == AccessKind::kLoad ? from : UndefinedSource{};
  if (is_copy || access.kind == AccessKind::kStore) return from.lanes == 0;
  if (access.kind == AccessKind::kAtomic) {
    // An exchange that nobody asks for the old value is a store.
    const bool reads = in.opcode == program::Opcode::kMbarrier ||
                       in.as<program::AtomicAccess>().operation != program::Atomic::kExch ||
                       !in.has(program::kResultUnused);
    for (std::uint32_t rest = access.mask; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
      const std::uint64_t index = access.addresses[lane] - base;
      if (base != 0 && index >= window) continue;
      const bool missing = ((from.lanes >> lane) & 1) != 0;
      if (missing && reads) report(*access.warp, from, access.step, lane, Use::kAtomic);
      if (missing) set_written(shadow + index, access.bytes);
    }
    return from.lanes == 0;
  }
  if (from.lanes == 0) return true;
  const UndefinedOrigins& origins = states_.of(*access.warp->block).origins;
  load_lanes(
      access, from,
      [&](std::uint32_t lane) {
        return base == 0 ? origins.find(access.addresses[lane], access.bytes) : nullptr;
      },
      [&](std::uint32_t lane) { return shadow + (access.addresses[lane] - base); });
  watch(access);
  return false;
}

/// Words as long as an element of the store: so long a member of a struct may be.
void Initcheck::note_words(const WarpAccess& access, std::uint32_t lane, std::uint64_t base) {
  if (std::has_single_bit(access.bytes) && access.bytes <= 16)
    launch_.request->memory->note_stored_words(access.addresses[lane] - base, access.bytes);
}

/// What an asynchronous copy read undefined is undefined where it is written.
void Initcheck::store_copied(const WarpAccess& access, std::uint32_t lane, std::uint8_t* written) {
  std::memset(written, 0, access.bytes);
  BlockState& block = states_.of(*access.warp->block);
  const UndefinedSource& copied = block.warps[access.warp->index].copied;
  if (access.space == ptx::StateSpace::kShared)
    block.origins.stored(access.addresses[lane], access.bytes,
                         origin_of(*access.warp, copied, lane));
}

/// The lanes of `from` got undefined values: each from where `origin(lane)` says, if from anywhere,
/// else from this access. `written(lane)`: the flags of its bytes.
template <typename Origin, typename Written>
void Initcheck::load_lanes(const WarpAccess& access, const UndefinedSource& from,
                           const Origin& origin, const Written& written) {
  for (std::uint32_t left = from.lanes; left != 0;) {
    const UndefinedOrigin* const first = origin(static_cast<std::uint32_t>(std::countr_zero(left)));
    UndefinedSource source = from;
    source.lanes = 0;
    source.was_stored = first != nullptr;
    if (first != nullptr) {
      source.step = first->step;
      source.space = first->space;
      source.bytes = first->bytes;
    }
    for (std::uint32_t rest = left; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
      const UndefinedOrigin* const mine = origin(lane);
      if ((mine == nullptr) != (first == nullptr) || (mine != nullptr && mine->step != first->step))
        continue;
      source.lanes |= 1u << lane;
      if (mine == nullptr) continue;
      source.addresses[lane] = mine->address;
      source.threads[lane] = mine->thread;
    }
    const std::uint32_t number = state_of(*access.warp).values.add_source(source);
    for (std::uint32_t rest = source.lanes; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
      load(access, lane, written(lane), number);
    }
    left &= ~source.lanes;
  }
}

/// Each element of a vector is a register of its own.
void Initcheck::load(const WarpAccess& access, std::uint32_t lane, const std::uint8_t* written,
                     std::uint32_t source) {
  const program::Instruction& in = *access.step->extra->in;
  const std::uint32_t bytes = access.bytes / in.vector;
  for (std::uint32_t v = 0; v < in.vector; ++v) {
    std::uint64_t bits = 0;
    for (std::uint32_t b = 0; b < bytes; ++b)
      if (written[v * bytes + b] == 0) bits |= std::uint64_t{0xFF} << (8 * (b % 8));
    if (bits == 0) continue;
    // The sign fills what is above; 16 bytes are told from each other no further.
    const bool widened = bytes < 8 && ((bits >> (8 * bytes - 1)) & 1) != 0;
    if (widened) bits |= ~std::uint64_t{0} << (8 * bytes - 1);
    UndefinedValues& values = state_of(*access.warp).values;
    values.taint(*access.warp, in.d[v], lane, bytes > 8 ? ~std::uint64_t{0} : bits, source);
  }
}

/// An undefined value goes to `offset` bytes after the lane's address.
void Initcheck::remember_origin(const WarpAccess& access, std::uint32_t lane, std::uint32_t offset,
                                std::uint32_t bytes, const program::Value& value) {
  BlockState& block = states_.of(*access.warp->block);
  WarpState& warp = block.warps[access.warp->index];
  const std::uint64_t place = access.addresses[lane] + offset;
  const UndefinedOrigin origin =
      origin_of(*access.warp, warp.values.source(*access.warp, value), lane);
  if (access.space == ptx::StateSpace::kShared) block.origins.stored(place, bytes, origin);
  if (access.space == ptx::StateSpace::kLocal)
    warp.local_origins.stored(local_place(lane, place), bytes, origin);
}

/// What is wholly undefined goes no further than global memory, nor does an element of a vector
/// that arithmetic made; elsewhere, and of what was only copied (the padding of a struct), memory
/// remembers what is undefined.
void Initcheck::store(const WarpAccess& access, std::uint32_t lane, std::uint8_t* written) {
  const program::Instruction& in = *access.step->extra->in;
  const std::uint32_t bytes = access.bytes / in.vector;
  UndefinedValues& values = state_of(*access.warp).values;
  for (std::uint32_t v = 0; v < in.vector; ++v) {
    const std::uint64_t bits = values.bits(*access.warp, in.s[1 + v], lane);
    for (std::uint32_t b = 0; b < bytes; ++b)
      written[v * bytes + b] = ((bits >> (8 * (b % 8))) & 0xFF) == 0 ? 1 : 0;
    if (bits != 0) remember_origin(access, lane, v * bytes, bytes, in.s[1 + v]);
  }
  if (access.space != ptx::StateSpace::kGlobal) return;
  const bool nothing = std::memchr(written, 1, access.bytes) == nullptr;
  for (std::uint32_t v = 0; v < in.vector; ++v) {
    const program::Value& value = in.s[1 + v];
    if (std::memchr(written + v * bytes, 1, bytes) != nullptr) continue;
    if (!nothing && !values.is_computed(*access.warp, value, lane)) continue;
    report(*access.warp, values.source(*access.warp, value), access.step, lane, Use::kOutput);
    set_written(written, access.bytes);
    return;
  }
}

void Initcheck::check_local(const WarpAccess& access) {
  WarpState& state = state_of(*access.warp);
  UndefinedSource from{access.step, access.space, access.bytes};
  for (std::uint32_t rest = access.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
    std::uint8_t* const written = state.local.at(lane, access.addresses[lane], access.bytes);
    from.addresses[lane] = access.addresses[lane];
    if (access.kind == AccessKind::kLoad && !all_written(written, access.bytes))
      from.lanes |= 1u << lane;
    else if (access.kind != AccessKind::kLoad && access.warp->watched)
      store(access, lane, written);
    else if (access.kind != AccessKind::kLoad)
      set_written(written, access.bytes);
  }
  if (from.lanes == 0) return;
  load_lanes(
      access, from,
      [&](std::uint32_t lane) {
        return state.local_origins.find(local_place(lane, access.addresses[lane]), access.bytes);
      },
      [&](std::uint32_t lane) {
        return state.local.at(lane, access.addresses[lane], access.bytes);
      });
  watch(access);
}

/// A kernel of CUB's or Thrust's that decides by a key past the last one, and drops what it
/// decided (set_operations.h), is no mistake of the program's. What it reads of global memory is.
bool Initcheck::is_the_librarys(const Warp& w, const UndefinedSource& from) const {
  if (from.space == ptx::StateSpace::kGlobal) return false;
  const FunctionCode& code = w.launch->code[from.step->extra->function];
  const program::SourceLine line =
      code.function->lines[static_cast<std::size_t>(from.step - code.begin)];
  const auto files = launch_.request->program->files();
  return line.line != 0 && line.file < files.size() && program::is_foreign_header(files[line.file]);
}

void Initcheck::report(Warp& w, const UndefinedSource& from, const Step* at, std::uint32_t lane,
                       Use use) {
  if (is_the_librarys(w, from)) return;
  findings_.add(w, {from.step, kind_of(from), nullptr},
                [&] { return describe_use(w, from, at, lane, use); });
}

}  // namespace

std::unique_ptr<KernelChecker> make_initcheck(Launch& launch, CheckFindings& findings) {
  return std::make_unique<Initcheck>(launch, findings);
}

}  // namespace membound::vgpu::exec
