// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The syntax tree of one PTX module, with every name already resolved to a dense index, and the
/// scalar types and state spaces of PTX.
///
/// What the decoder may rely on, because the parser has checked it:
///  - every register operand has a number below Function::register_count, and scopes `{ }` are
///    taken care of: two registers that share a name in different scopes have different numbers;
///  - every name in an operand or an address is a Reference to something that exists;
///  - bodies are flat: a scope is a pair of statements kScopeBegin and kScopeEnd.
/// All std::string_view and std::span members point into storage that the Module shares with its
/// copies; they live as long as any copy does.
/// Source: PTX ISA 9.0, chapters "Syntax", "State Spaces, Types, and Variables", "Directives".
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace membound::ptx {

/// A fundamental PTX type, or one of the packed and opaque ones a declaration may name.
enum class ScalarType : std::uint8_t {
  kNone,  ///< no type given
  kB8,
  kB16,
  kB32,
  kB64,
  kB128,
  kU8,
  kU16,
  kU32,
  kU64,
  kS8,
  kS16,
  kS32,
  kS64,
  kF16,
  kF16x2,
  kBf16,
  kBf16x2,
  kTf32,
  kE4m3x2,  ///< two floats of 1+4+3 bits
  kE5m2x2,  ///< two floats of 1+5+2 bits
  kF32,
  kF64,
  kPred,
  kTexref,
  kSamplerref,
  kSurfref
};

/// Where a variable lives.
enum class StateSpace : std::uint8_t {
  kNone,  ///< generic, or not given
  kReg,
  kConst,
  kGlobal,
  kLocal,
  kParam,
  kShared
};

/// Bytes one value takes in memory; 8 for the opaque reference types, 1 for a predicate, 0 for
/// none.
[[nodiscard]] std::uint32_t size_bytes(ScalarType type);

/// Whether it is a floating-point type, packed pairs included.
[[nodiscard]] bool is_float(ScalarType type);

/// The spelling with its dot: ".u32"; "" for none.
[[nodiscard]] std::string_view to_string(ScalarType type);

/// The spelling with its dot: ".shared"; "" for none.
[[nodiscard]] std::string_view to_string(StateSpace space);

/// The type spelled `text` (with its dot), or nothing.
[[nodiscard]] std::optional<ScalarType> scalar_type_of(std::string_view text);

/// The state space spelled `text` (with its dot; ".const[2]" is not one word), or nothing.
[[nodiscard]] std::optional<StateSpace> state_space_of(std::string_view text);

/// A place in the PTX text, both counted from 1; line 0 means "none".
struct Position {
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

/// "No such index" for every index in this header.
inline constexpr std::uint32_t kNoIndex = 0xFFFFFFFFu;

/// What a name in an operand stands for.
enum class ReferenceKind : std::uint8_t {
  kNone,             ///< no name: an address that is only a number
  kRegister,         ///< index: register number in the function
  kSpecialRegister,  ///< index unused; name is "%tid.x", "%laneid", "%clock64" … with its component
  kReturn,           ///< index into Function::returns
  kParameter,        ///< index into Function::parameters
  kVariable,         ///< index into Function::variables (.local, .shared, .param of a call, …)
  kGlobal,           ///< index into Module::globals
  kFunction,         ///< index into Module::functions: the first declaration of that name
  kLabel,            ///< index into Function::labels
  kPrototype,        ///< index into Function::prototypes
  kTargets           ///< index into Function::targets (a .branchtargets or .calltargets list)
};

/// A resolved name.
struct Reference {
  ReferenceKind kind = ReferenceKind::kNone;
  std::uint32_t index = kNoIndex;
  std::string_view name = {};  ///< as written, without a component for ordinary registers
};

/// The shape of one operand.
enum class OperandKind : std::uint8_t {
  kRegister,  ///< %r1, a register declared without %, !%p1, %v.x; also %tid.x: see reference.kind
  kInteger,   ///< 42, -1, 0x7f, (1 << 4), WARP_SZ: `bits` holds the 64-bit two's complement value
  kFloat32,   ///< 0f3F800000: the low 32 bits of `bits`
  kFloat64,   ///< 0d3FF0000000000000 or 1.0: all of `bits`
  kSymbol,    ///< variable, function, label, prototype, target list; `bits` holds an added offset
  kAddress,   ///< [reference + bits]; an absolute address has reference.kind kNone
  kVector,    ///< {a, b, c, d}: children
  kPair,      ///< a|b: two children (the second may be kSink)
  kList,      ///< (a, b): children; arguments or results of a call
  kTuple,     ///< [a, {x, y}] or [a, b, {x}]: children; textures, surfaces, tensor maps
  kSink       ///< _
};

/// One operand. Cheap to copy; children lie in the module's storage.
struct Operand {
  OperandKind kind = OperandKind::kSink;
  bool negated = false;      ///< `!p`
  bool is_unsigned = false;  ///< kInteger written with a U suffix or beyond the signed range
  Reference reference = {};  ///< kRegister, kSymbol, kAddress
  std::uint64_t bits = 0;    ///< value or offset, see OperandKind
  std::string_view component =
      {};  ///< ".x" … ".w", ".b0", ".h1" after an ordinary register, else ""
  std::span<const Operand> children = {};
  Position position = {};
};

/// Where the CUDA source of the following instructions is: one `.loc`.
struct SourceLocation {
  std::uint32_t file = 0;  ///< File::index, not a position in Module::files
  std::uint32_t line = 0;  ///< from 1; 0 when the compiler had none
  std::uint32_t column = 0;
  std::string_view function_name =
      {};                             ///< mangled name of the inlined function, "" when not inlined
  std::uint32_t inlined_at_file = 0;  ///< the call site, one level up; 0 when not inlined
  std::uint32_t inlined_at_line = 0;
  std::uint32_t inlined_at_column = 0;
};

/// One instruction, `@!%p1 ld.global.v2.f32 {%f1, %f2}, [%rd1+8];`.
struct Instruction {
  std::string_view opcode = {};  ///< "ld"
  std::span<const std::string_view> suffixes =
      {};  ///< ".global", ".v2", ".f32"; "::" stays inside one
  std::span<const Operand> operands = {};
  std::string_view mnemonic = {};     ///< "ld.global.v2.f32", as written
  std::uint32_t guard = kNoIndex;     ///< register number of the predicate, or kNoIndex
  bool guard_negated = false;         ///< `@!p`
  std::uint32_t location = kNoIndex;  ///< index into Function::locations
  Position position = {};             ///< of the opcode in the PTX text

  /// True when `suffix` (".cc") is among the suffixes.
  [[nodiscard]] bool has_suffix(std::string_view suffix) const;
};

/// What one entry of a body is.
enum class StatementKind : std::uint8_t {
  kInstruction,  ///< index into Function::instructions
  kLabel,        ///< index into Function::labels
  kRegisters,    ///< index into Function::registers
  kVariable,     ///< index into Function::variables
  kLocation,     ///< index into Function::locations
  kPragma,       ///< index into Function::pragmas
  kPrototype,    ///< index into Function::prototypes
  kTargets,      ///< index into Function::targets
  kScopeBegin,   ///< {
  kScopeEnd      ///< }
};

/// One entry of a body, in the order of the text.
struct Statement {
  StatementKind kind = StatementKind::kInstruction;
  std::uint32_t index = kNoIndex;
};

/// `.reg .b32 %r<100>;` declares %r0 … %r99 (count 100, numbered); `.reg .pred p;` one register p.
/// Register number of member i is `first + i`.
struct RegisterGroup {
  ScalarType type = ScalarType::kNone;
  std::uint8_t vector_width = 1;  ///< 2 or 4 for `.reg .v4 .f32 v`; the number still counts once
  std::string_view name = {};     ///< "%r" or "p"
  bool numbered = false;
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

/// Who may see a module-level name.
enum class Linkage : std::uint8_t { kInternal, kVisible, kExtern, kWeak, kCommon };

/// One place of an initialiser that holds an address (or a part of one) instead of a number.
struct Relocation {
  std::uint64_t offset_bytes = 0;  ///< from the start of the variable
  std::uint32_t size_bytes = 8;    ///< bytes written: 8, or 1 for one byte picked by a mask
  std::uint32_t shift_bits = 0;  ///< `0xFF00(sym)`: the value is shifted right by 8 before storing
  Reference target = {};         ///< kGlobal or kFunction
  std::int64_t addend = 0;
  bool generic = false;  ///< `generic(sym)`: the address in the generic space
};

/// A variable, a parameter or a return value.
struct Variable {
  std::string_view name = {};
  StateSpace space = StateSpace::kNone;
  Linkage linkage = Linkage::kInternal;
  ScalarType type = ScalarType::kNone;
  std::uint8_t vector_width = 1;      ///< 2 or 4 for `.v2`, `.v4`
  std::uint32_t alignment_bytes = 0;  ///< as declared, else that of the element
  bool is_array = false;
  std::vector<std::uint64_t> dimensions = {};  ///< empty for a scalar; a leading `[]` is 0
  std::uint64_t size_bytes = 0;                ///< whole variable; 0 for `.extern .shared x[]`
  bool is_managed = false;                     ///< `.attribute(.managed)`
  bool has_initial = false;
  std::vector<std::byte> initial =
      {};  ///< size_bytes long when has_initial; zero where an address goes
  std::vector<Relocation> relocations = {};
  bool is_pointer = false;  ///< kernel parameter with `.ptr`
  StateSpace pointer_space = StateSpace::kNone;
  std::uint32_t pointer_alignment_bytes = 0;
  std::uint32_t register_number = kNoIndex;  ///< a `.reg` parameter of a .func
  Position position = {};
};

/// A label, and where it stands.
struct Label {
  std::string_view name = {};
  std::uint32_t statement = kNoIndex;  ///< index into Function::body
  std::uint32_t instruction =
      kNoIndex;  ///< index of the next instruction; == instructions.size() at the end
  Position position = {};
};

/// `.callprototype`: the shape of an indirect call.
struct Prototype {
  std::string_view name = {};
  std::vector<Variable> returns = {};
  std::vector<Variable> parameters = {};
  bool is_noreturn = false;
  Position position = {};
};

/// `.branchtargets` (labels) or `.calltargets` (functions).
struct Targets {
  std::string_view name = {};
  bool are_calls = false;
  std::vector<Reference> references = {};
  Position position = {};
};

/// `.maxntid 128, 1, 1`, `.noreturn`, … between a function's header and its body, or `.pragma`.
struct Directive {
  std::string_view name = {};  ///< with its dot
  std::vector<std::uint64_t> values = {};
  std::vector<std::string_view> texts = {};  ///< strings, without quotes
};

/// A kernel (.entry) or a device function (.func), defined or only declared.
struct Function {
  std::string_view name = {};
  bool is_entry = false;
  bool has_body = false;  ///< false for a prototype
  Linkage linkage = Linkage::kInternal;
  std::vector<Variable> returns = {};
  std::vector<Variable> parameters = {};
  std::vector<Directive> directives = {};
  Position position = {};

  std::vector<Statement> body = {};
  std::vector<Instruction> instructions = {};
  std::vector<Label> labels = {};
  std::vector<RegisterGroup> registers = {};  ///< ascending by `first`, without gaps
  std::vector<Variable> variables = {};
  std::vector<SourceLocation> locations = {};
  std::vector<Directive> pragmas = {};
  std::vector<Prototype> prototypes = {};
  std::vector<Targets> targets = {};
  std::uint32_t register_count = 0;

  /// The directive called `directive_name` (".maxntid"), or null.
  [[nodiscard]] const Directive* find_directive(std::string_view directive_name) const;
  /// The declaration that register `number` belongs to; `number` must be below register_count.
  [[nodiscard]] const RegisterGroup& group_of(std::uint32_t number) const;
};

/// `.file 1 "kernel.cu"`.
struct File {
  std::uint32_t index = 0;
  std::string_view name = {};
};

/// `.alias foo, bar`: foo is another name of the function bar.
struct Alias {
  std::string_view name = {};
  std::string_view target = {};
};

/// Owns the text and everything the views and spans of a tree point to. Opaque.
class Storage;

/// One PTX module. Copies share their storage.
struct Module {
  std::uint32_t version_major = 0, version_minor = 0;  ///< of the PTX language
  std::string_view target = {};                        ///< "sm_90", "sm_90a"
  std::vector<std::string_view> target_options = {};   ///< "texmode_unified", "debug", …
  std::uint32_t address_size_bits = 64;
  std::vector<Variable> globals =
      {};  ///< .global, .const and module-level .shared; declarations too
  std::vector<Function> functions =
      {};  ///< in the order of the text; a prototype and its definition both
  std::vector<File> files = {};
  std::vector<Alias> aliases = {};
  std::vector<Directive> pragmas = {};
  std::shared_ptr<const Storage> storage = {};

  /// The definition called `name`, else its first declaration, else null.
  [[nodiscard]] const Function* find_function(std::string_view name) const;
  /// The name of file `index` of the `.file` directives, or "".
  [[nodiscard]] std::string_view file_name(std::uint32_t index) const;
};

}  // namespace membound::ptx
