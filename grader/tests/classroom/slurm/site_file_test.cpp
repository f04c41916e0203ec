// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/slurm/slurm.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace membound::slurm {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Site site(const std::string& text) {
  auto read = read_site(text, "cluster.yml");
  EXPECT_TRUE(read) << base::to_string(read.error());
  return read ? *std::move(read) : Site{};
}

TEST(SiteFile, HoldsWhatABatchIsToBeGivenEachTime) {
  const Site found = site(
      "partition: gpu\n"
      "account: cs101\n"
      "gres: gpu:h200:1\n"
      "memory: 8G\n"
      "minutes: 30\n"
      "at_once: 4\n"
      "chunk: 8\n"
      "start_seconds: 300\n"
      "options: [--exclusive, --constraint=nvme]\n"
      "prolog:\n"
      "  - source /etc/profile.d/site.sh\n"
      "  - export TMPDIR=/scratch/$USER\n"
      "modules: [cuda/13.0, gcc/12]\n"
      "container: apptainer exec --nv /shared/course.sif\n");
  EXPECT_THAT(found.options, ElementsAre("--partition=gpu", "--account=cs101", "--gres=gpu:h200:1",
                                         "--mem=8G", "--exclusive", "--constraint=nvme"));
  EXPECT_THAT(found.prolog,
              ElementsAre("source /etc/profile.d/site.sh", "export TMPDIR=/scratch/$USER"));
  EXPECT_THAT(found.modules, ElementsAre("cuda/13.0", "gcc/12"));
  EXPECT_THAT(found.container, ElementsAre("apptainer", "exec", "--nv", "/shared/course.sif"));
  EXPECT_EQ(found.minutes, 30);
  EXPECT_EQ(found.at_once, 4);
  EXPECT_EQ(found.chunk, 8);
  EXPECT_EQ(found.start_seconds, 300);
}

TEST(SiteFile, EveryPartMayBeLeftOut) {
  const Site found = site("{}\n");
  EXPECT_TRUE(found.options.empty() && found.prolog.empty() && found.container.empty());
  EXPECT_FALSE(found.minutes || found.chunk);
}

TEST(SiteFile, OneLineMayStandInAListsPlace) {
  EXPECT_THAT(site("modules: cuda/13.0\n").modules, ElementsAre("cuda/13.0"));
  EXPECT_THAT(site("container: [apptainer, exec, my image.sif]\n").container,
              ElementsAre("apptainer", "exec", "my image.sif"));
}

TEST(SiteFile, WhatIsWrongIsNamedWithItsLine) {
  struct Row {
    const char* text;
    const char* where;
    const char* found;
  };
  for (const Row& row : {
           Row{"partition: gpu\naccont: x\n", "cluster.yml:2", "an unknown key \"accont\""},
           Row{"minutes: soon\n", "cluster.yml:1", "no such number \"soon\""},
           Row{"minutes: 0\n", "cluster.yml:1", "no such number"},
           Row{"partition: gpu big\n", "cluster.yml:1", "no single word"},
           Row{"partition: ''\n", "cluster.yml:1", "no single word"},
           Row{"options: [exclusive]\n", "cluster.yml:1", "no option of sbatch"},
           Row{"modules: {a: b}\n", "cluster.yml:1", "no list"},
           Row{"- partition\n", "cluster.yml:1", "is no list of"},
           Row{"partition: [\n", "cluster.yml:", ""},
           Row{"", "cluster.yml:", "is no list of"},
       }) {
    const auto read = read_site(row.text, "cluster.yml");
    ASSERT_FALSE(read) << row.text;
    EXPECT_THAT(read.error().where, HasSubstr(row.where)) << row.text;
    EXPECT_THAT(read.error().found, HasSubstr(row.found)) << row.text;
    EXPECT_NE(read.error().expected, "") << row.text;
  }
}

}  // namespace
}  // namespace membound::slurm
