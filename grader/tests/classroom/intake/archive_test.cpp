// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/intake/archive.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <random>

#include "grader/tests/classroom/intake/archive_maker.hpp"

namespace membound::intake {
namespace {

/// What reading gave: contents and problems by path.
struct Seen {
  std::map<std::string, std::string> contents, problems;
  std::map<std::string, std::int64_t> times;
  std::string refused;
};

Seen see(const std::string& bytes, const ArchiveLimits& limits = {}) {
  Seen seen;
  const MemberVisitor visitor{[](const Member&) { return true; },
                              [&](const Member& member, std::string content) {
                                const std::string path = member.path.text();
                                if (member.path.problem) {
                                  seen.problems[path] = *member.path.problem;
                                } else {
                                  seen.contents[path] = std::move(content);
                                  seen.times[path] = member.time;
                                }
                              }};
  const auto read = read_archive_bytes(bytes, "a.zip", limits, visitor);
  if (!read) seen.refused = read.error().found;
  return seen;
}

class EveryFormat : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Archive, EveryFormat,
                         testing::Values("zip", "tar", "tar.gz", "tar.xz", "tar.zst", "tar.bz2"));

TEST_P(EveryFormat, GivesTheContentsOfItsMembers) {
  Seen seen = see(make_archive(GetParam(), {{"a/kernel.cu", "one"}, {"b/kernel.cu", ""}}));
  EXPECT_EQ(seen.refused, "");
  EXPECT_EQ(seen.contents,
            (std::map<std::string, std::string>{{"a/kernel.cu", "one"}, {"b/kernel.cu", ""}}));
}

TEST_P(EveryFormat, CutOffItIsRefused) {
  std::mt19937 random(3);
  std::string noise(20000, '\0');
  for (char& c : noise) c = static_cast<char>(random());
  const std::string whole = make_archive(GetParam(), {{"kernel.cu", noise}});
  Seen seen = see(whole.substr(0, whole.size() / 2));
  EXPECT_NE(seen.refused, "");
}

TEST_P(EveryFormat, IsWrittenAnewWithoutSomeMembers) {
  const TemporaryFolder folder;
  const std::filesystem::path file =
      folder.write(std::string("class.") + GetParam(),
                   make_archive(GetParam(), {{.path = "ada/kernel.cu", .content = "one", .time = 7},
                                             {.path = "Zo\xc3\xab/kernel.cu", .content = "two"},
                                             {.path = "list.yml", .content = "ada, Zo\xc3\xab"}}));
  const auto date = std::filesystem::last_write_time(file);
  const auto none = [](const SafePath&) { return false; };
  const auto same = [](const SafePath&, const std::string& text) { return std::optional(text); };
  EXPECT_EQ(*rewrite_archive(file, none, same), 0U);
  const auto done = rewrite_archive(
      file, [](const SafePath& path) { return path.parts[0] == "Zo\xc3\xab"; },
      [](const SafePath& path, const std::string&) {
        return path.parts[0] == "list.yml" ? std::optional<std::string>("ada") : std::nullopt;
      });
  ASSERT_TRUE(done) << base::to_string(done.error());
  EXPECT_EQ(*done, 2U);
  EXPECT_EQ(std::filesystem::last_write_time(file), date);
  std::ifstream stream(file, std::ios::binary);
  Seen seen = see({std::istreambuf_iterator<char>(stream), {}});
  EXPECT_EQ(seen.refused, "");
  EXPECT_EQ(seen.contents,
            (std::map<std::string, std::string>{{"ada/kernel.cu", "one"}, {"list.yml", "ada"}}));
  EXPECT_EQ(seen.times["ada/kernel.cu"], 7);
}

TEST_P(EveryFormat, StaysAsItWasWhereItCannotBeWrittenAnew) {
  const TemporaryFolder folder;
  std::string bytes = make_archive(GetParam(), {{"a.cu", std::string(9000, 'x')}, {"b.cu", "y"}});
  bytes.resize(bytes.size() / 3);
  const std::filesystem::path file = folder.write(std::string("class.") + GetParam(), bytes);
  EXPECT_FALSE(rewrite_archive(
      file, [](const SafePath&) { return true; },
      [](const SafePath&, const std::string& text) { return std::optional(text); }));
  EXPECT_EQ(std::filesystem::file_size(file), bytes.size());
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

// No bytes crash the reader or make it wait, whatever it makes of them.
TEST_P(EveryFormat, AnyDamageIsReadOrRefused) {
  const std::string whole =
      make_archive(GetParam(), {{"kernel.cu", std::string(500, 'x')}, {"b", "y"}});
  std::mt19937 random(20261121);
  for (int round = 0; round < 400; ++round) {
    std::string bytes = whole;
    for (int i = 0; i < 1 + round % 8; ++i)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    if (round % 3 == 0) bytes.resize(random() % bytes.size());
    for (const auto& [path, content] : see(bytes).contents)
      EXPECT_LE(content.size(), ArchiveLimits{}.file_bytes);
  }
}

TEST(Archive, KeepsTheTimeOfAMember) {
  EXPECT_EQ(see(make_archive("tar", {{.path = "k", .content = "x", .time = 1700000000}})).times,
            (std::map<std::string, std::int64_t>{{"k", 1700000000}}));
}

TEST(Archive, LinksPipesAndDevicesAreNeverContent) {
  Seen seen =
      see(make_archive("tar", {{.path = "kernel.cu", .type = AE_IFLNK, .link = "/etc/passwd"},
                               {.path = "pipe.cu", .type = AE_IFIFO},
                               {.path = "device.cu", .type = AE_IFCHR},
                               {.path = "real", .content = "x"},
                               {.path = "hard.cu", .hardlink = "real"}}));
  EXPECT_EQ(seen.problems["kernel.cu"], "it is a symbolic link");
  EXPECT_EQ(seen.problems["pipe.cu"], "it is a pipe");
  EXPECT_EQ(seen.problems["device.cu"], "it is a device");
  EXPECT_EQ(seen.problems["hard.cu"], "it is a hard link");
  EXPECT_EQ(seen.contents.size(), 1u);
}

TEST(Archive, PathsThatLeaveItAreRefused) {
  Seen seen = see(make_archive("tar", {{"../kernel.cu", "x"}, {"/abs/kernel.cu", "x"}}));
  EXPECT_EQ(seen.contents.size(), 0u);
  EXPECT_EQ(seen.problems["kernel.cu"], "its path leaves the archive (\"..\")");
  EXPECT_EQ(seen.problems["abs/kernel.cu"], "its path is absolute");
}

TEST(Archive, NamesBeyondAsciiComeThrough) {
  for (const char* kind : {"zip", "tar"})
    EXPECT_EQ(see(make_archive(kind, {{"Zo\xc3\xab/\xe5\xad\xa6.cu", "x"}}))
                  .contents.count("Zo\xc3\xab/\xe5\xad\xa6.cu"),
              1u)
        << kind;
}

TEST(Archive, ABombIsRefusedByItsRatio) {
  Seen seen = see(make_archive("tar.gz", {{"zeros", std::string(40 << 20, '\0')}}));
  EXPECT_EQ(seen.refused, "an archive that unpacks to more than 200 times its size");
}

TEST(Archive, TooManyBytesAreRefused) {
  ArchiveLimits limits;
  limits.bytes = 1000;
  EXPECT_EQ(
      see(make_archive("zip", {{"a", std::string(600, 'x')}, {"b", std::string(600, 'y')}}), limits)
          .refused,
      "an archive with more than 1000 bytes when unpacked");
}

TEST(Archive, TooManyMembersAreRefused) {
  ArchiveLimits limits;
  limits.entries = 2;
  EXPECT_EQ(see(make_archive("zip", {{"a", "1"}, {"b", "2"}, {"c", "3"}}), limits).refused,
            "an archive with more than 2 members");
}

TEST(Archive, AMemberLargerThanWantedComesWithoutContent) {
  ArchiveLimits limits;
  limits.file_bytes = 10;
  Seen seen = see(make_archive("zip", {{"a.cu", std::string(11, 'x')}, {"b.cu", "y"}}), limits);
  EXPECT_EQ(seen.problems["a.cu"], "it has 11 bytes; at most 10 are read");
  EXPECT_EQ(seen.contents["b.cu"], "y");
}

TEST(Archive, TextIsNoArchive) { EXPECT_NE(see("this is no archive").refused, ""); }

}  // namespace
}  // namespace membound::intake
