// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A program as the virtual GPU runs it: kernels decoded to fixed-size instructions, global
/// variables with their initial bytes, all symbols of all linked PTX modules resolved, every
/// instruction told by a line of the user's own source.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "grader/base/result.hpp"
#include "grader/device_code/ptx/ast.hpp"
#include "grader/vgpu/memory/dim3.hpp"
#include "grader/vgpu/program/instruction.hpp"

namespace membound::vgpu::program {

/// `value` rounded up to a multiple of `alignment`.
[[nodiscard]] constexpr std::uint64_t align_up(std::uint64_t value, std::uint64_t alignment) {
  return alignment <= 1 ? value : (value + alignment - 1) / alignment * alignment;
}

/// The most bytes a frame, and the shared variables of a program, may have: the size of the windows
/// through which generic addresses see them. Sums are made in 64 bits and end here.
inline constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 24;

/// What a call takes of a GPU's stack besides local variables: the return address and a register
/// or two. Parameters go through registers there; here they lie in the frame and do not count.
inline constexpr std::uint32_t kCallBytes = 16;

/// Of each red zone between local variables, as red_zones.awk makes it. A GPU's stack has none.
inline constexpr std::uint32_t kRedZoneBytes = 256;

/// Where one kernel parameter lies in the parameter buffer.
struct Parameter {
  std::uint32_t offset_bytes = 0;
  std::uint32_t size_bytes = 0;
  std::uint32_t alignment_bytes = 1;
};

/// A place in the student's source, from `.loc`; `file` is an index into Program::files().
struct SourceLine {
  std::uint32_t file = 0;
  std::uint32_t line = 0;
  friend bool operator==(const SourceLine&, const SourceLine&) = default;
  friend auto operator<=>(const SourceLine&, const SourceLine&) = default;
};

/// A `__shared__` variable of fixed size.
struct SharedVariable {
  std::string name;  ///< mangled
  std::uint32_t offset_bytes = 0;
  std::uint32_t size_bytes = 0;
  friend bool operator==(const SharedVariable&, const SharedVariable&) = default;
};

/// One .entry: everything its launch needs to know beforehand.
struct Kernel {
  std::string name;  ///< mangled
  std::vector<Parameter> parameters;
  std::uint32_t parameter_bytes = 0;
  std::uint32_t static_shared_bytes = 0;
  std::uint32_t placed_shared_bytes =
      0;                             ///< its end here: larger where red zones lie between variables
  std::uint32_t local_bytes = 0;     ///< a lane's local memory in the entry itself
  std::uint64_t stack_bytes = 0;     ///< of its deepest calls, recursion left out: a driver sees to
                                     ///< them, whatever cudaLimitStackSize says
  std::uint32_t register_count = 0;  ///< 32-bit registers a lane; an estimate from live ranges
                                     ///< until the runtime overwrites it from the cubin
  std::uint32_t max_threads_per_block = 1024;  ///< .maxntid or .reqntid
  std::optional<Dim3> required_block = {};     ///< .reqntid
  std::uint32_t min_blocks_per_sm = 0;         ///< .minnctapersm
  std::uint64_t cluster_blocks = 1;            ///< .reqnctapercluster
  bool uses_dynamic_shared = false;            ///< refers to an .extern .shared array
  bool communicates_between_blocks = false;    ///< its blocks must run interleaved
  bool counts_arrivals = false;                ///< perhaps: it adds integers with a result
  bool uses_grid_sync = false;                 ///< reads the grid barrier's address
  bool orders_float_reductions = false;  ///< has float reductions and no global load after them
  bool takes_parameter_addresses = false;
  std::vector<std::uint32_t> reachable;               ///< functions it may call, itself first
  std::uint32_t function = 0;                         ///< index into Program::functions()
  std::vector<SharedVariable> shared_variables = {};  ///< of all that it reaches
};

/// Where dynamic shared memory begins here.
[[nodiscard]] constexpr std::uint32_t dynamic_shared_begin(const Kernel& kernel) {
  return static_cast<std::uint32_t>(align_up(kernel.placed_shared_bytes, 16));
}
/// What a block of the kernel has of it on a GPU.
[[nodiscard]] constexpr std::uint32_t shared_bytes(const Kernel& kernel,
                                                   std::uint32_t dynamic_bytes) {
  if (dynamic_bytes == 0) return kernel.static_shared_bytes;
  return static_cast<std::uint32_t>(align_up(kernel.static_shared_bytes, 16)) + dynamic_bytes;
}

/// A value all lanes of a launch can look up instead of computing it: an immediate, a kernel
/// parameter, an address fixed at link time, a special register that never changes.
struct Constant {
  enum class Kind : std::uint8_t {
    kLiteral,             ///< bits
    kParameter,           ///< `bits`: byte offset in the parameter buffer; read as `type`
    kParameterAddress,    ///< `bits`: byte offset; its device address
    kSpecial,             ///< index: a LaunchRegister
    kGlobal,              ///< index into Program::globals(), plus `bits`
    kDynamicShared,       ///< start of dynamic shared memory, plus `bits`
    kFunction,            ///< index into Program::functions(); its address
    kSharedWindow,        ///< generic address of shared memory's first byte, plus `bits`
    kSharedWindowDynamic  ///< the same for dynamic shared memory
  };
  Kind kind = Kind::kLiteral;
  ptx::ScalarType type = ptx::ScalarType::kB64;
  std::uint8_t slots = 2;  ///< 1: 32 lanes x 4 bytes, 2: x 8, 4: x 16 (low half first)
  std::uint32_t index = 0;
  std::uint64_t bits = 0;
  friend bool operator==(const Constant&, const Constant&) = default;
};

/// Special registers that are fixed for a launch (Constant::kSpecial).
enum class LaunchRegister : std::uint8_t {
  kNtidX,
  kNtidY,
  kNtidZ,
  kNctaidX,
  kNctaidY,
  kNctaidZ,
  kLaneId,
  kLaneMaskEq,
  kLaneMaskLt,
  kLaneMaskLe,
  kLaneMaskGt,
  kLaneMaskGe,
  kNwarpid,
  kNsmid,
  kGridId,
  kDynamicShared,
  kTotalShared,
  kAggregateShared,  ///< kTotalShared and what the system takes
  kZero,
  kOne,
  kEnvironment  ///< + number of the envreg
};

/// One value carried into or out of a call. With a `value`, it is a register (or constant) of the
/// caller, of up to 8 bytes; else `caller_offset` in its frame. 0 bytes: a result nobody wants.
struct ArgumentCopy {
  Value value = {};
  std::uint32_t caller_offset = 0;
  std::uint32_t callee_offset = 0;
  std::uint32_t size_bytes = 0;
};

/// Bytes and place of one call parameter in the callee's frame.
struct FrameField {
  std::uint32_t offset_bytes = 0;
  std::uint32_t size_bytes = 0;
  friend bool operator==(const FrameField&, const FrameField&) = default;
};

/// What a call passes and a function takes: results first, then parameters. Both sides lay it out
/// by themselves; a call whose layout is not the callee's is a fault.
struct Signature {
  std::size_t results = 0;
  std::vector<FrameField> fields = {};
  friend bool operator==(const Signature&, const Signature&) = default;
};

/// Functions the device runtime provides.
enum class Builtin : std::uint8_t {
  kNone,
  kPrintf,
  kMalloc,
  kFree,
  kAssertFail,
  kRedZone,  ///< of ours: no variable lies in these bytes of local memory; see red_zones.awk
  kUnknown
};

/// The details of one call instruction.
struct Call {
  Builtin builtin = Builtin::kNone;
  std::string callee = {};  ///< for messages
  Signature signature = {};
  std::vector<ArgumentCopy> arguments = {};
  std::vector<ArgumentCopy> results = {};
};

/// Whether the machine code of a function says what became of its accesses to shared memory.
enum class AccessesFrom : std::uint8_t { kPtx, kMachineCode };

/// One body of code: an entry or a device function. Branch targets are indices into `code`; the
/// last instruction is always a kRet, so that running off the end is a return.
struct Function {
  std::string name;
  std::vector<Instruction> code;
  std::vector<SourceLine> lines;       ///< parallel to `code`; see attribute_to_user_lines
  std::vector<SourceLine> call_sites;  ///< the same: where what was inlined is called
  std::vector<Constant> constants;
  std::vector<std::uint32_t> constant_slots;  ///< parallel: first slot of each
  std::uint32_t constant_slot_count = 0;
  std::vector<Call> calls;
  std::vector<std::vector<std::uint32_t>> branch_lists;
  std::uint32_t register_slots = 0;   ///< 128-byte slots (32 lanes x 4 bytes) of a frame
  std::uint32_t predicate_count = 0;  ///< 32-bit lane masks of a frame
  std::uint32_t frame_bytes = 0;      ///< a lane's locals and call parameters, 16-byte multiple
  std::uint32_t stack_bytes = 0;      ///< of a call on a GPU, as far as PTX tells: see kCallBytes
  std::uint32_t peak_registers = 0;   ///< most 32-bit values alive at once
  bool has_body = false;
  bool is_entry = false;                            ///< a kernel: nothing calls it
  Signature signature = {};                         ///< of a function that is no kernel
  AccessesFrom accesses_from = AccessesFrom::kPtx;  ///< see machine_accesses.hpp
};

/// A variable in device memory, one per .global or .const of the linked modules.
struct GlobalVariable {
  /// "At `offset_bytes` stands the address of `target` plus `addend`."
  struct Relocation {
    std::uint64_t offset_bytes = 0;
    std::string target;
    std::int64_t addend = 0;
    std::uint32_t size_bytes = 8;
    std::uint32_t shift_bits = 0;
    bool generic = true;
  };
  std::string name;
  std::uint64_t size_bytes = 0;
  std::uint64_t alignment_bytes = 1;
  bool is_constant = false;
  bool is_managed = false;
  std::vector<std::byte> initial;  ///< shorter than size_bytes: the rest is zero
  std::vector<Relocation> relocations;
  std::uint64_t device_address = 0;  ///< 0 until placed
};

/// Which passes of ptxas the clock takes into account: all, but where a developer looks what one of
/// them is good for (timing/mechanisms.def).
struct AssemblerPasses {
  bool unrolls = true;
  bool fuses = true;
  bool joins_vectors = true;
  bool batches_loads = true;  ///< false: each load is waited for alone
  bool aggregates_atomics = true;
  friend bool operator==(const AssemblerPasses&, const AssemblerPasses&) = default;
};

/// One or more linked PTX modules.
class Program {
 public:
  /// Resolves symbols over all modules and decodes every function. An unknown symbol is an error;
  /// an instruction the virtual GPU cannot run is not: it faults when it is executed.
  /// `shared_red_zone_bytes` (a multiple of 128, so that banks stay what they were) lie unused
  /// after each shared variable, where a kernel has several: whoever leaves one is not in the
  /// next.
  static base::Result<Program> link(std::span<const ptx::Module> modules,
                                    std::uint32_t shared_red_zone_bytes = 0,
                                    const AssemblerPasses& passes = {});

  [[nodiscard]] const Kernel* find_kernel(std::string_view mangled_name) const;
  [[nodiscard]] Kernel* find_kernel(std::string_view mangled_name);
  [[nodiscard]] std::span<const Kernel> kernels() const { return kernels_; }
  [[nodiscard]] std::span<const Function> functions() const { return functions_; }
  /// The function called `name` that has a body, or null.
  [[nodiscard]] Function* find_function(std::string_view mangled_name);
  [[nodiscard]] std::span<const GlobalVariable> globals() const { return globals_; }
  [[nodiscard]] std::span<const std::string> files() const { return files_; }
  [[nodiscard]] std::optional<std::size_t> find_global(std::string_view name) const;

  /// The runtime gives each global its device address before the first launch.
  void place_global(std::size_t index, std::uint64_t device_address);
  /// The initial bytes of a global, zero-filled to its size, addresses in initialisers filled in;
  /// call it when every global is placed.
  [[nodiscard]] std::vector<std::byte> initial_image(std::size_t index) const;

 private:
  friend class Linker;
  std::vector<Kernel> kernels_;
  std::vector<Function> functions_;
  std::vector<GlobalVariable> globals_;
  std::vector<std::string> files_;
  std::vector<ptx::Module> modules_;  // own the text that mnemonics point into
};

/// The address a function has as a value; small, so that it can never be a memory address.
[[nodiscard]] constexpr std::uint64_t function_address(std::uint32_t index) {
  return (std::uint64_t{index} + 1) * 16;
}

/// Whether a file is a header of the CUDA toolkit or of the grader, wherever they are installed.
[[nodiscard]] bool is_foreign_header(std::string_view file);

/// In place of each line of a foreign header that of the call; or, where the call stands in such a
/// header, too, of the last instruction before it that is the user's own. `files` is
/// Program::files().
void attribute_to_user_lines(Function& function, std::span<const std::string> files);

}  // namespace membound::vgpu::program
