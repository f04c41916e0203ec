// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/device_code/fatbin/fatbin.hpp"

#include <gmock/gmock.h>

#include <random>

#include "grader/device_code/fatbin/cubin.hpp"
#include "grader/tests/device_code/fatbin/fatbin_testing.hpp"

namespace membound::fatbin {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::string_view kPtx =
    "\n.version 9.0\n.target sm_90\n.address_size 64\n.visible .entry kernel() { ret; }\n";

std::vector<Entry> entries_of(const std::string& file) {
  auto entries = read(bytes_of(file), "test.fatbin");
  if (entries) return std::move(*entries);
  ADD_FAILURE() << to_string(entries.error());
  return {};
}

std::string error_of(const std::string& file) {
  const auto entries = read(bytes_of(file), "test.fatbin");
  return entries ? "" : to_string(entries.error());
}

class EachPacking : public ::testing::TestWithParam<Packing> {};

TEST_P(EachPacking, UnpacksToTheSameText) {
  const auto entries = entries_of(container(entry(1, 90, kPtx, GetParam(), "kernel.cu")));
  ASSERT_THAT(entries, SizeIs(1));
  EXPECT_EQ(entries[0].kind, EntryKind::kPtx);
  EXPECT_EQ(entries[0].text(), kPtx);
  EXPECT_EQ(entries[0].arch, 90u);
  EXPECT_EQ(entries[0].ptx_version_major, 9u);
  EXPECT_EQ(entries[0].name, "kernel.cu");
}

TEST_P(EachPacking, EveryTruncationIsAnErrorAndNoCrash) {
  const std::string whole = container(entry(1, 90, kPtx, GetParam()));
  for (std::size_t size = 1; size < whole.size(); ++size) {
    EXPECT_FALSE(read(bytes_of(whole.substr(0, size))).ok()) << size << " of " << whole.size();
  }
}

INSTANTIATE_TEST_SUITE_P(FatBinary, EachPacking,
                         ::testing::Values(Packing::kNone, Packing::kLz4, Packing::kZstd));

TEST(FatBinary, FinalZeroesOfATextAreDropped) {
  std::string text(kPtx);
  text.push_back('\0');
  EXPECT_EQ(entries_of(container(entry(1, 90, text)))[0].text(), kPtx);
}

TEST(FatBinary, HoldsEntriesForSeveralArchitectures) {
  const std::string cubin = small_cubin("kernel");
  const auto entries = entries_of(container(entry(1, 75, kPtx, Packing::kZstd) +
                                            entry(2, 90, cubin, Packing::kZstd) +
                                            entry(1, 90, kPtx, Packing::kLz4)));
  ASSERT_THAT(entries, SizeIs(3));
  EXPECT_EQ(entries[1].kind, EntryKind::kElf);
  EXPECT_EQ(entries[1].payload.size(), cubin.size());
}

TEST(FatBinary, ContainersMayFollowEachOtherWithPadding) {
  const std::string one = container(entry(1, 90, kPtx));
  EXPECT_THAT(entries_of(one + one + std::string(24, '\0')), SizeIs(2));
}

TEST(FatBinary, EntriesOfUnknownKindAreSkipped) {
  EXPECT_THAT(entries_of(container(entry(8, 90, "intermediate code") + entry(1, 90, kPtx))),
              SizeIs(1));
}

TEST(FatBinary, PlainPtxAndPlainCubinsAreRecognised) {
  EXPECT_EQ(entries_of(std::string(kPtx))[0].text(), kPtx);
  EXPECT_EQ(entries_of("// made by hand\n.version 9.0\n")[0].kind, EntryKind::kPtx);
  const auto cubin = entries_of(small_cubin("kernel"));
  EXPECT_EQ(cubin[0].kind, EntryKind::kElf);
  EXPECT_EQ(cubin[0].arch, 90u);
}

TEST(FatBinary, OtherBytesAreNamedForWhatTheyAre) {
  EXPECT_THAT(error_of("hello"), HasSubstr("neither a fat binary, a cubin nor PTX"));
  EXPECT_THAT(error_of(""), HasSubstr("neither a fat binary"));
  std::string host = small_cubin("kernel");
  host[18] = EM_X86_64;
  EXPECT_THAT(error_of(host), HasSubstr("an ELF file for another machine"));
  EXPECT_TRUE(is_program_without_device_code(std::as_bytes(std::span(host))));
  host += std::string(8 - host.size() % 8, '\0') + container(entry(1, 90, kPtx));
  EXPECT_FALSE(is_program_without_device_code(std::as_bytes(std::span(host))));
  std::string newer = container(entry(1, 90, kPtx));
  newer[4] = 7;
  EXPECT_THAT(error_of(newer), HasSubstr("version 7"));
}

TEST(FatBinary, DamagedCompressionIsAnError) {
  for (const Packing packing : {Packing::kLz4, Packing::kZstd}) {
    std::string file = container(entry(1, 90, kPtx, packing));
    file[16 + 56] = 1;  // claims one unpacked byte
    EXPECT_THAT(error_of(file), HasSubstr("damaged"));
  }
}

TEST(FatBinary, AClaimOfHugeSizeIsRefusedBeforeMemoryIsTaken) {
  std::string file = container(entry(1, 90, kPtx, Packing::kZstd));
  file[16 + 56 + 5] = 1;  // 2^40 bytes
  EXPECT_THAT(error_of(file), HasSubstr("when unpacked"));
  std::string lz4 = container(entry(1, 90, kPtx, Packing::kLz4));
  lz4[16 + 56 + 3] = 0x0f;  // 251 MiB, under the limit, but no LZ4 block of 80 bytes gets there
  EXPECT_THAT(error_of(lz4), HasSubstr("damaged LZ4"));
}

TEST(FatBinary, ASmallFileThatUnpacksToTooMuchIsRefused) {
  const std::string zeroes(std::size_t{300} << 20, '\0');
  EXPECT_THAT(error_of(container(entry(1, 90, zeroes, Packing::kZstd))),
              HasSubstr("at most 268435456 bytes"));
}

TEST(Choice, TakesTheNewestPtxThatIsNotTooNew) {
  const auto entries = entries_of(container(entry(1, 75, kPtx) + entry(1, 90, kPtx) +
                                            entry(1, 120, kPtx) + entry(2, 80, small_cubin("k"))));
  EXPECT_EQ((*choose_ptx(entries, 100, "t"))->arch, 90u);
  EXPECT_EQ((*choose_ptx(entries, 90, "t"))->arch, 90u);
  EXPECT_EQ((*choose_ptx(entries, 37, "t"))->arch, 75u) << "all are newer: the oldest";
  EXPECT_EQ(choose_cubin(entries, 90)->arch, 80u);
}

TEST(Choice, WithoutPtxTheAdviceIsTheOptionToAdd) {
  const auto entries = entries_of(container(entry(2, 90, small_cubin("k"))));
  const auto chosen = choose_ptx(entries, 90, "lab.fatbin");
  ASSERT_FALSE(chosen.ok());
  EXPECT_THAT(to_string(chosen.error()), HasSubstr("-gencode arch=compute_90,code=compute_90"));
  EXPECT_FALSE(choose_ptx({}, 90, "t").ok());
  EXPECT_EQ(choose_cubin({}, 90), nullptr);
}

struct TestWrapper {
  std::uint32_t magic = 0x466243B1;
  std::uint32_t version = 1;
  const void* data = nullptr;
  const void* const* prelinked = nullptr;
};

TEST(Wrapper, OfVersionOneHasOneContainer) {
  const std::string file = container(entry(1, 90, kPtx, Packing::kZstd));
  const TestWrapper wrapper{.data = file.data()};
  const auto modules = read_wrapper(&wrapper);
  ASSERT_TRUE(modules.ok());
  ASSERT_THAT(*modules, SizeIs(1));
  EXPECT_EQ((*modules)[0][0].text(), kPtx);
}

TEST(Wrapper, OfVersionTwoListsTheContainersOfEverySourceFile) {
  const std::string first = container(entry(1, 90, kPtx, Packing::kZstd));
  const std::string second = container(entry(1, 90, kPtx));
  const std::string linked = container(entry(2, 90, small_cubin("kernel")));
  const void* const list[] = {first.data(), second.data(), nullptr};
  const TestWrapper wrapper{.version = 2, .data = linked.data(), .prelinked = list};
  const auto modules = read_wrapper(&wrapper);
  ASSERT_TRUE(modules.ok());
  ASSERT_THAT(*modules, SizeIs(3));
  EXPECT_EQ((*modules)[1][0].kind, EntryKind::kPtx);
  EXPECT_EQ((*modules)[2][0].kind, EntryKind::kElf);
}

TEST(Wrapper, WithoutItsMagicIsRefused) {
  const TestWrapper wrapper{.magic = 1};
  EXPECT_FALSE(read_wrapper(&wrapper).ok());
  EXPECT_FALSE(read_wrapper(nullptr).ok());
}

TEST(Image, OfEveryFormTellsItsOwnLength) {
  const std::string file = container(entry(1, 90, kPtx));
  const std::string cubin = small_cubin("kernel");
  const TestWrapper wrapper{.data = file.data()};
  for (const void* image :
       {static_cast<const void*>(file.data()), static_cast<const void*>(kPtx.data()),
        static_cast<const void*>(&wrapper)}) {
    const auto modules = read_image(image);
    ASSERT_TRUE(modules.ok());
    EXPECT_EQ((*modules)[0][0].text(), kPtx);
  }
  const auto modules = read_image(cubin.data());
  ASSERT_TRUE(modules.ok());
  EXPECT_EQ((*modules)[0][0].payload.size(), cubin.size());
  EXPECT_FALSE(read_image("no image").ok());
  EXPECT_FALSE(read_image("").ok());
  EXPECT_FALSE(read_image(nullptr).ok());
}

TEST(Cubin, TellsWhatAKernelNeeds) {
  const std::string file = small_cubin("kernel");
  const auto kernels = read_cubin(bytes_of(file));
  ASSERT_TRUE(kernels.ok());
  ASSERT_THAT(*kernels, SizeIs(1));
  const CubinKernel& kernel = (*kernels)[0];
  EXPECT_EQ(kernel.name, "kernel");
  EXPECT_EQ(kernel.registers, 18u);
  EXPECT_EQ(kernel.local_bytes, 40u);
  EXPECT_EQ(kernel.shared_bytes, 128u);
  EXPECT_EQ(kernel.reserved_shared_bytes, 1024u);
  EXPECT_EQ(kernel.barriers, 1u);
  EXPECT_EQ(kernel.max_threads, 64u);
  EXPECT_EQ(kernel.parameter_bytes, 12u);
  EXPECT_EQ(kernel.parameter_offsets, (std::vector<std::uint32_t>{0, 8}));
  EXPECT_EQ(kernel.parameter_sizes, (std::vector<std::uint32_t>{8, 4}));
}

TEST(Cubin, OfTheOlderAbiHasItsArchitectureInTheLowByte) {
  std::string file = elf({}, 0x00500550 | 80);
  file[EI_ABIVERSION] = 7;
  EXPECT_EQ(*cubin_arch(bytes_of(file)), 0x50u);
}

TEST(Cubin, TruncatedFilesAreErrors) {
  const std::string whole = small_cubin("kernel");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(read_cubin(bytes_of(whole.substr(0, size))).ok()) << size;
  }
}

/// Seeded damage: every answer is a list of entries or an error, and every cubin among them too.
TEST(Mutations, DamagedFilesGiveEntriesOrAnError) {
  const std::string original =
      container(entry(1, 75, kPtx, Packing::kZstd, "a.cu") + entry(2, 90, small_cubin("kernel")) +
                entry(1, 90, kPtx, Packing::kLz4));
  std::mt19937 random(7);
  int accepted = 0;
  for (int i = 0; i < 5000; ++i) {
    std::string file = original;
    for (int edit = 0; edit <= i % 4; ++edit) {
      file[random() % file.size()] = static_cast<char>(random());
    }
    const auto entries = read(bytes_of(file));
    if (!entries) continue;
    ++accepted;
    for (const Entry& each : *entries) {
      if (each.kind == EntryKind::kElf) {
        const auto kernels = read_cubin(each.payload);
        EXPECT_TRUE(kernels.ok() || !kernels.error().found.empty());
      }
    }
  }
  EXPECT_GT(accepted, 100);
}

}  // namespace
}  // namespace membound::fatbin
