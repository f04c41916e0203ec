// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/device_code/fatbin/program_file.hpp"

#include <elf.h>
#include <gmock/gmock.h>

#include <cstring>
#include <random>

namespace membound::fatbin {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

/// The smallest ELF file with a dynamic section that needs `library` and, if asked, a fat binary
/// section (empty: its targets are the fat binary reader's business).
std::string elf_file(const std::string& library, bool with_device_code) {
  const std::string strings = std::string("\0", 1) + library + std::string("\0", 1);
  const std::string names = std::string("\0.dynstr\0.dynamic\0.shstrtab\0.nv_fatbin\0", 39);
  Elf64_Dyn dynamic[2] = {};
  dynamic[0].d_tag = DT_NEEDED;
  dynamic[0].d_un.d_val = 1;
  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_shentsize = sizeof(Elf64_Shdr);
  const std::size_t count = with_device_code ? 5 : 4;
  Elf64_Shdr sections[5] = {};
  std::size_t at = sizeof header;
  const auto place = [&](Elf64_Shdr& section, std::uint32_t name, std::uint32_t type,
                         std::size_t size) {
    section.sh_name = name;
    section.sh_type = type;
    section.sh_offset = at;
    section.sh_size = size;
    at += size;
  };
  place(sections[1], 1, SHT_STRTAB, strings.size());
  place(sections[2], 9, SHT_DYNAMIC, sizeof dynamic);
  sections[2].sh_link = 1;
  place(sections[3], 18, SHT_STRTAB, names.size());
  place(sections[4], 28, SHT_PROGBITS, 0);
  header.e_shoff = at;
  header.e_shnum = static_cast<Elf64_Half>(count);
  header.e_shstrndx = 3;
  std::string file(reinterpret_cast<const char*>(&header), sizeof header);
  file += strings;
  file.append(reinterpret_cast<const char*>(dynamic), sizeof dynamic);
  file += names;
  file.append(reinterpret_cast<const char*>(sections), count * sizeof(Elf64_Shdr));
  return file;
}

TEST(Inspect, ASharedRuntimeIsNoObstacle) {
  const auto found = describe_program_bytes(elf_file("libcudart.so.13", true), "a.out");
  ASSERT_TRUE(found) << base::to_string(found.error());
  EXPECT_EQ(found->linkage, RuntimeLinkage::kShared);
  EXPECT_EQ(found->runtime_library, "libcudart.so.13");
  EXPECT_THAT(found->obstacle, IsEmpty());
}

TEST(Inspect, DeviceCodeWithoutASharedRuntimeMeansItIsInside) {
  const auto found = describe_program_bytes(elf_file("libc.so.6", true), "a.out");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->linkage, RuntimeLinkage::kStatic);
  EXPECT_THAT(found->obstacle, HasSubstr("-cudart shared"));
}

TEST(Inspect, AnOlderRuntimeIsNamed) {
  const auto found = describe_program_bytes(elf_file("libcudart.so.12", true), "a.out");
  ASSERT_TRUE(found);
  EXPECT_THAT(found->obstacle, HasSubstr("libcudart.so.12"));
}

TEST(Inspect, AProgramWithoutCudaSaysSo) {
  const auto found = describe_program_bytes(elf_file("libc.so.6", false), "ls");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->linkage, RuntimeLinkage::kNone);
}

TEST(Inspect, AScriptIsNoProgram) {
  const auto found = describe_program_bytes("#!/bin/sh\n", "run.sh");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().kind, base::ErrorKind::kInput);
}

TEST(Inspect, AMissingFileIsAnError) { EXPECT_FALSE(describe_program("/nonexistent/program")); }

TEST(Inspect, DamagedFilesNeverReadOutOfBounds) {
  const std::string good = elf_file("libcudart.so.13", true);
  std::mt19937 random(1);
  for (int round = 0; round < 5000; ++round) {
    std::string bad = good.substr(0, 8 + random() % (good.size() - 7));
    for (int hits = 0; hits < 4; ++hits)
      bad[5 + random() % (bad.size() - 5)] = static_cast<char>(random());
    (void)describe_program_bytes(bad, "damaged");
  }
}

}  // namespace
}  // namespace membound::fatbin
