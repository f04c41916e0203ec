// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/device_code/fatbin/machine_code.hpp"

#include <gmock/gmock.h>

#include "grader/tests/device_code/fatbin/fatbin_testing.hpp"

namespace membound::fatbin {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// Two words of an instruction, as nvcc 13.0 writes it for sm_90, and what it is.
struct Golden {
  const char* text;
  std::uint64_t low, high;
  MachineAccess access;
  MachineSpace space;
  int lane_bytes;
  bool guarded;
};

using enum MachineAccess;

constexpr Golden kGolden[] = {
    {"LDS.128 R12, [R7]", 0x00000000070c7984, 0x000e280000000c00, kLoad, MachineSpace::kShared, 16,
     false},
    {"@!P0 LDS R4, [R5]", 0x0000000005048984, 0x000e280000000800, kLoad, MachineSpace::kShared, 4,
     true},
    {"LD.E.U8 R0, desc[UR8][R4.64]", 0x0000000804007980, 0x0010a2000c101100, kLoad,
     MachineSpace::kGeneric, 1, false},
    {"LDG.E.U8 R3, desc[UR4][R2.64]", 0x0000000402037981, 0x000ea2000c1e1100, kLoad,
     MachineSpace::kGlobal, 1, false},
    {"STL.64 [R23], R8", 0x0000000817007387, 0x004fe80000100a00, kStore, MachineSpace::kLocal, 8,
     false},
    {"ST.E desc[UR4][R2.64], R7", 0x0000000702007985, 0x0001e4000c101904, kStore,
     MachineSpace::kGeneric, 4, false},
    {"LDGSTS.E.BYPASS.128.ZFILL [R9], …", 0x0000000102097fae, 0x0005e2000b941c46, kCopy,
     MachineSpace::kShared, 16, false},
    {"REDG.E.ADD.64.STRONG.GPU …", 0x000000020400798e, 0x001fe2000c10e584, kAtomic,
     MachineSpace::kGlobal, 0, false},
    {"ATOMS.POPC.INC.32 RZ, [R7+URZ]", 0x0000000007ff7f8c, 0x0001e2000d80003f, kAtomic,
     MachineSpace::kShared, 0, false},
};

TEST(MachineCode, KnowsWhichMemoryAnInstructionAccessesAndHowWide) {
  for (const Golden& golden : kGolden) {
    const auto found = memory_access(golden.low, golden.high);
    ASSERT_TRUE(found) << golden.text;
    EXPECT_EQ(found->access, golden.access) << golden.text;
    EXPECT_EQ(found->space, golden.space) << golden.text;
    EXPECT_EQ(found->lane_bytes, golden.lane_bytes) << golden.text;
    EXPECT_EQ(found->guarded, golden.guarded) << golden.text;
  }
}

TEST(MachineCode, OtherInstructionsAccessNoMemory) {
  EXPECT_FALSE(memory_access(0x0000000000007b1d, 0x000fec0000010000)) << "BAR.SYNC";
  EXPECT_FALSE(memory_access(0xfffffffc00fc7947, 0x000fc0000383ffff)) << "BRA";
}

TEST(MachineCode, BranchesGoForwardAndBack) {
  EXPECT_EQ(branch_distance(0x0000000400988947, 0x000fec0003800000), 0x750 - 0xf0);
  EXPECT_EQ(branch_distance(0xfffffff800ac8947, 0x000fea000383ffff), 0x200 - 0x750);
  EXPECT_EQ(branch_distance(0xfffffffc00fc7947, 0x000fc0000383ffff), -16) << "to itself";
  EXPECT_FALSE(branch_distance(0x00000000070c7984, 0x000e280000000c00)) << "LDS";
}

std::string code(std::initializer_list<std::uint64_t> words) {
  std::string bytes;
  for (const std::uint64_t word : words) append(bytes, word);
  return bytes;
}

/// LDS from line 7; LDS.128 from line 9, in a loop that line 12 closes; EXIT.
const std::string kCode = code({0x0000000005047984, 0x000e280000000800,    // 0x00 LDS
                                0x00000000070c7984, 0x000e280000000c00,    // 0x10 LDS.128
                                0xfffffffc00f88947, 0x000fea000383ffff,    // 0x20 @!P0 BRA 0x10
                                0x000000000000794d, 0x000fea0003800000});  // 0x30 EXIT

/// The line program for it.
std::string line_program(std::uint16_t version = 2) {
  std::string header;  // least advance, statements, line base, line range, opcode base, lengths;
                       // then no folders and no files
  for (const int byte : {1, 1, -5, 14, 10, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0})
    header += static_cast<char>(byte);
  std::string steps;
  for (const int byte : {0, 9, 2}) steps += static_cast<char>(byte);
  append(steps, std::uint64_t{0});                     // the address of the code
  for (const int byte : {3, 6,  1,                     // line 1 + 6
                         2, 16, 10 + 2 + 5,            // 16 bytes on, line 7 + 2 by one opcode
                         2, 16, 3,          3,    1,   // line 9 + 3
                         2, 16, 3,          0x7F, 1,   // line 12 - 1
                         2, 16, 0,          1,    1})  // the end
    steps += static_cast<char>(byte);
  std::string program;
  append(program, static_cast<std::uint32_t>(2 + 4 + header.size() + steps.size()));
  append(program, version);
  append(program, static_cast<std::uint32_t>(header.size()));
  return program + header + steps;
}
/// Where in it the address stands: behind two lengths, a version, the header and three bytes.
constexpr std::uint64_t kAddressAt = 4 + 2 + 4 + 16 + 3;

/// A cubin with the code above as kernel `k`.
std::string cubin(const std::string& lines, std::uint32_t flags = 0x6005a04) {
  std::string symbols(sizeof(Elf64_Sym), '\0');
  Elf64_Sym symbol{};
  symbol.st_shndx = 2;
  append(symbols, symbol);
  std::string place;
  append(place, Elf64_Rela{kAddressAt, ELF64_R_INFO(1, 2), 0});
  return elf({{".symtab", SHT_SYMTAB, symbols, 0, 0},
              {".text.k", SHT_PROGBITS, kCode, 0, 0},
              {".nv_debug_line_sass", SHT_PROGBITS, lines, 0, 0},
              {".rela.nv_debug_line_sass", SHT_RELA, place, 0, 1, 3}},
             flags);
}

MachineFunction only_function(const std::string& file) {
  const auto functions = read_machine_code(bytes_of(file));
  EXPECT_TRUE(functions.ok());
  EXPECT_THAT(*functions, SizeIs(1));
  return functions->empty() ? MachineFunction{} : functions->front();
}

TEST(MachineCode, TellsTheLinesOfThePtxThatItWasMadeFrom) {
  const MachineFunction function = only_function(cubin(line_program()));
  EXPECT_EQ(function.name, "k");
  EXPECT_TRUE(function.has_lines);
  EXPECT_THAT(function.accesses,
              ElementsAre(MachineMemory{kLoad, MachineSpace::kShared, 4, false, 0x00, 7},
                          MachineMemory{kLoad, MachineSpace::kShared, 16, false, 0x10, 9}));
  EXPECT_THAT(function.loops, ElementsAre(MachineLoop{0x10, 0x20, 12}));
}

TEST(MachineCode, HasNoLinesWhereTheTableIsOfAnotherKindOrCutOff) {
  EXPECT_FALSE(only_function(cubin("")).has_lines);
  EXPECT_FALSE(only_function(cubin(line_program(5))).has_lines) << "another DWARF";
  const std::string whole = line_program();
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
    const MachineFunction function = only_function(cubin(whole.substr(0, bytes)));
    EXPECT_THAT(function.accesses, SizeIs(2)) << bytes << " bytes of the table";
  }
}

TEST(MachineCode, OfAnotherArchitectureIsNotRead) {
  const auto functions = read_machine_code(bytes_of(cubin(line_program(), 0x6007804)));
  ASSERT_TRUE(functions.ok());
  EXPECT_THAT(*functions, IsEmpty()) << "sm_120";
}

TEST(MachineCode, OfNoCubinIsAnError) { EXPECT_FALSE(read_machine_code(bytes_of("no ELF")).ok()); }

}  // namespace
}  // namespace membound::fatbin
