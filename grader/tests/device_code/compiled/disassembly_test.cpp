// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What machine_code.cpp reads of cubins that nvcc made, beside what nvdisasm prints of them. Where
/// there is no nvdisasm, machine_code_test.cpp alone holds the opcodes.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>

#include "grader/device_code/fatbin/machine_code.hpp"

namespace membound::fatbin {
namespace {

std::string output_of(const std::string& command) {
  std::string output;
  FILE* const pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return output;
  char part[4096];
  for (std::size_t n = 0; (n = std::fread(part, 1, sizeof part, pipe)) > 0;) output.append(part, n);
  return ::pclose(pipe) == 0 ? output : "";
}

/// "LDS 16 @120 line 33", an instruction a line, by function.
using Listing = std::map<std::string, std::string>;

std::string row(const std::string& name, unsigned lane_bytes, unsigned offset, unsigned line) {
  std::ostringstream text;
  text << name << ' ' << lane_bytes << " @" << std::hex << offset << std::dec << " line " << line
       << '\n';
  return text.str();
}

const char* name_of(const MachineMemory& memory) {
  constexpr const char* kLoads[] = {"LD", "LDG", "LDS", "LDL"};
  constexpr const char* kStores[] = {"ST", "STG", "STS", "STL"};
  constexpr const char* kAtomics[] = {"ATOM", "ATOMG", "ATOMS", ""};
  const auto space = static_cast<std::size_t>(memory.space);
  switch (memory.access) {
    case MachineAccess::kLoad:
      return kLoads[space];
    case MachineAccess::kStore:
      return kStores[space];
    case MachineAccess::kAtomic:
      return kAtomics[space];
    case MachineAccess::kCopy:
      return "LDGSTS";
  }
  return "";
}

Listing read_by_us(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  const auto functions = read_machine_code(std::as_bytes(std::span(bytes)), path);
  EXPECT_TRUE(functions.ok());
  Listing all;
  for (const MachineFunction& function : *functions)
    for (const MachineMemory& each : function.accesses)
      all[function.name] += row(name_of(each), each.lane_bytes, each.offset_bytes, each.ptx_line);
  return all;
}

/// Bytes a lane by a load's or store's suffixes: "E.U8", "128".
unsigned lane_bytes(const std::string& suffixes) {
  std::istringstream in(suffixes);
  for (std::string word; std::getline(in, word, '.');) {
    if (word == "U8" || word == "S8") return 1;
    if (word == "U16" || word == "S16") return 2;
    if (word == "64") return 8;
    if (word == "128") return 16;
  }
  return 4;
}

/// A quick look: most lines are of other instructions, and a regular expression is slow.
bool may_access_memory(const std::string& text) {
  for (const char* part : {"LD", "ST", "ATOM", "RED"})
    if (text.find(part) != std::string::npos) return true;
  return false;
}

Listing read_by_nvdisasm(const std::string& path) {
  static const std::regex kFunction(R"(\s*\.section\s+\.text\.([\w$.]+),.*)");
  static const std::regex kLine(R"(.*File "\.nv_debug_ptx_txt", line (\d+).*)");
  static const std::regex kInstruction(
      R"(\s*/\*([0-9a-f]+)\*/\s+(?:@!?U?P\w+ )?(LD|LDG|LDS|LDL|ST|STG|STS|STL|ATOM|ATOMG|ATOMS|REDG|RED|LDGSTS)((?:\.\w+)*) .*)");
  std::istringstream in(output_of("nvdisasm -gp -c '" + path + "' 2>&1"));
  Listing all;
  std::string function, text;
  unsigned line = 0;
  for (std::smatch match; std::getline(in, text);) {
    if (text.find(".section") != std::string::npos && std::regex_match(text, match, kFunction)) {
      function = match[1];
      line = 0;
    } else if (text.find("//##") != std::string::npos && std::regex_match(text, match, kLine)) {
      line = static_cast<unsigned>(std::stoul(match[1]));
    } else if (may_access_memory(text) && std::regex_match(text, match, kInstruction)) {
      std::string name = match[2];
      if (name.starts_with("RED")) name = "ATOMG";
      const unsigned bytes = name.starts_with("ATOM") ? 0 : lane_bytes(match[3]);
      all[function] +=
          row(name, bytes, static_cast<unsigned>(std::stoul(match[1], nullptr, 16)), line);
    }
  }
  return all;
}

class CubinOf : public ::testing::TestWithParam<const char*> {};

TEST_P(CubinOf, EveryAccessIsAsNvdisasmPrintsIt) {
  if (output_of("command -v nvdisasm").empty()) GTEST_SKIP() << "there is no nvdisasm";
  const std::string path = std::string(MEMBOUND_COMPILED "/") + GetParam();
  const Listing expected = read_by_nvdisasm(path), found = read_by_us(path);
  ASSERT_FALSE(expected.empty());
  for (const auto& [function, rows] : expected)
    EXPECT_EQ(found.contains(function) ? found.at(function) : "", rows) << function;
  EXPECT_EQ(found.size(), expected.size());
}

INSTANTIATE_TEST_SUITE_P(Nvcc, CubinOf, ::testing::Values(MEMBOUND_COMPILED_CUBINS),
                         [](const auto& each) {
                           std::string name = each.param;
                           return name.substr(0, name.find('.'));
                         });

}  // namespace
}  // namespace membound::fatbin
