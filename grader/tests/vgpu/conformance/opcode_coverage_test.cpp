// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Every opcode the virtual GPU executes is executed by a conformance case, and so was compared
/// with a real GPU: each row of opcodes.def, and for arithmetic each type class that row has a
/// handler for. What has a handler is asked of exec itself.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <set>
#include <string>
#include <string_view>

#include "grader/vgpu/exec/launch/prepare.hpp"
#include "grader/vgpu/program/opcode_table.hpp"

namespace membound::conformance {
namespace {

namespace program = vgpu::program;
using ptx::ScalarType;
using vgpu::exec::Variant;
using vgpu::program::Instruction;
using vgpu::program::Opcode;
using vgpu::program::OpcodeInfo;
using vgpu::program::Rounding;
using vgpu::program::Shape;
using vgpu::program::Unit;

constexpr ScalarType kArithmeticTypes[] = {
    ScalarType::kU16,  ScalarType::kU32,    ScalarType::kU64, ScalarType::kF16, ScalarType::kF16x2,
    ScalarType::kBf16, ScalarType::kBf16x2, ScalarType::kF32, ScalarType::kF64};

/// Signed, unsigned and untyped integers of a width are one class; the others are their own.
std::string class_of(ScalarType type) {
  switch (type) {
    case ScalarType::kB16:
    case ScalarType::kS16:
      return ".u16";
    case ScalarType::kB32:
    case ScalarType::kS32:
      return ".u32";
    case ScalarType::kB64:
    case ScalarType::kS64:
      return ".u64";
    default:
      return std::string(to_string(type));
  }
}

/// Rows that stand for nothing one can write, that fault with a message, that end the launch
/// (vgpu_programs.endings has them), or that need a target of its own and change nothing.
bool is_executable(const OpcodeInfo& row) {
  if (row.opcode == Opcode::kTrap || row.opcode == Opcode::kBrkpt) return false;
  if (row.opcode == Opcode::kSetmaxnreg) return false;
  return row.shape != Shape::kUnsupported && !row.name.starts_with('<');
}

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> list) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

/// Whether PTX has the row in this type; handlers, which trust the assembler, would take more.
bool exists(const OpcodeInfo& row, ScalarType type) {
  const bool half = type == ScalarType::kF16 || type == ScalarType::kF16x2 ||
                    type == ScalarType::kBf16 || type == ScalarType::kBf16x2;
  const bool real = type == ScalarType::kF32 || type == ScalarType::kF64;
  if (row.name == "set")
    return type != ScalarType::kF64 && type != ScalarType::kU16 && type != ScalarType::kU64;
  if (row.name == "mad") return !half;
  if (row.unit == Unit::kByType || row.unit == Unit::kSpecialFunction) return true;
  if (is_one_of(row.name, {"selp", "slct"})) return !half;
  if (half || real || row.name == "isspacep") return false;
  if (is_one_of(row.name, {"fns", "szext", "bmsk", "dp4a", "dp2a", "shf", "prmt", "lop3"}))
    return type == ScalarType::kU32;
  if (is_one_of(row.name, {"brev", "bfe", "bfi", "addc", "subc", "madc", "popc", "clz", "bfind"}))
    return type != ScalarType::kU16;
  return true;
}

bool is_arithmetic(const OpcodeInfo& row) {
  return row.unit == Unit::kByType || row.unit == Unit::kSpecialFunction ||
         row.unit == Unit::kInteger;
}

bool has_handler(Opcode opcode, ScalarType type, std::uint32_t flags, Rounding rounding) {
  Instruction in;
  in.opcode = opcode;
  in.type = in.type2 = type;
  in.flags = flags;
  in.rounding = rounding;
  in.mnemonic = program::info_of(opcode).name;
  return vgpu::exec::choose_handler(in, Variant::kGeneric) != vgpu::exec::unsupported_handler();
}

/// Whether some form of the opcode takes the type.
bool takes(Opcode opcode, ScalarType type) {
  for (const std::uint32_t flags :
       {0u, std::uint32_t{program::kApprox}, std::uint32_t{program::kHi},
        std::uint32_t{program::kCarryOut}}) {
    for (const Rounding rounding : {Rounding::kNone, Rounding::kRn}) {
      if (has_handler(opcode, type, flags, rounding)) return true;
      // Signed forms count for the class, too.
      const auto is_signed = type == ScalarType::kU16   ? ScalarType::kS16
                             : type == ScalarType::kU32 ? ScalarType::kS32
                             : type == ScalarType::kU64 ? ScalarType::kS64
                                                        : type;
      if (has_handler(opcode, is_signed, flags, rounding)) return true;
    }
  }
  return false;
}

/// Opcodes with and without their type class, of all programs.
std::set<std::string> executed() {
  const std::filesystem::path list =
      std::filesystem::temp_directory_path() / ("opcodes-" + std::to_string(::getpid()));
  for (const char* program : {MEMBOUND_CONFORMANCE_PROGRAMS}) {
    const std::string command = "MEMBOUND_OPCODES=" + list.string() +
                                " LD_LIBRARY_PATH=" MEMBOUND_VGPU_DIR " timeout 300 " +
                                std::string(MEMBOUND_CONFORMANCE_DIR "/") + program +
                                " > /dev/null 2>&1";
    EXPECT_EQ(std::system(command.c_str()), 0) << program;
  }
  std::set<std::string> names;
  std::ifstream file(list);
  for (std::string line; std::getline(file, line);) {
    const std::size_t dot = line.find('.');
    names.insert(line.substr(0, dot));
    if (dot == std::string::npos) continue;
    if (const auto type = ptx::scalar_type_of(line.substr(dot)))
      names.insert(line.substr(0, dot) + class_of(*type));
  }
  std::filesystem::remove(list);
  return names;
}

TEST(OpcodeCoverage, EveryRowAndTypeIsExecutedByACase) {
  const std::set<std::string> names = executed();
  std::string missing;
  for (const OpcodeInfo& row : program::all_opcodes()) {
    if (!is_executable(row)) continue;
    if (!names.contains(std::string(row.name))) missing += "\n  " + std::string(row.name);
    if (!is_arithmetic(row)) continue;
    for (const ScalarType type : kArithmeticTypes) {
      const std::string name = std::string(row.name) + std::string(to_string(type));
      if (exists(row, type) && takes(row.opcode, type) && !names.contains(name))
        missing += "\n  " + name;
    }
  }
  EXPECT_EQ(missing, "") << "opcodes that no conformance case executes";
}

}  // namespace
}  // namespace membound::conformance
