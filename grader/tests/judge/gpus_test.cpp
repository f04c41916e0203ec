// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/judge/check_device.hpp"

#include <gmock/gmock.h>

namespace membound::judge {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

std::vector<GpuFacts> three_gpus() {
  return {{"NVIDIA H200", "GPU-a", 2, true},
          {"NVIDIA H200", "GPU-b", 5, true},
          {"NVIDIA H200", "GPU-c", 7, true}};
}

std::vector<std::string> uuids(const std::string& wanted) {
  const auto chosen = chosen_gpus(wanted, three_gpus());
  EXPECT_TRUE(chosen.ok());
  std::vector<std::string> found;
  if (chosen)
    for (const GpuFacts& gpu : *chosen) found.push_back(gpu.uuid);
  return found;
}

TEST(ChosenGpus, AreAllOrThoseThatAreNamed) {
  EXPECT_EQ(uuids("gpu"), (std::vector<std::string>{"GPU-a", "GPU-b", "GPU-c"}));
  EXPECT_EQ(uuids("gpu:1"), (std::vector<std::string>{"GPU-b"}));
  EXPECT_EQ(uuids("gpu:2,0"), (std::vector<std::string>{"GPU-c", "GPU-a"}));
}

TEST(ChosenGpus, WhatMeansNoGpuIsRefusedWithThoseThatAreThere) {
  for (const auto& [wanted, found] : {std::pair{"gpu:3", "there is no GPU 3"},
                                      {"gpu:", "holds no number"},
                                      {"gpu:0,", "holds no number"},
                                      {"gpu:0,0", "twice"},
                                      {"gpu:-1", "holds no number"},
                                      {"gpu:0;1", "other than a comma"},
                                      {"gpu:99999999999999999999", "holds no number"}}) {
    const auto chosen = chosen_gpus(wanted, three_gpus());
    ASSERT_FALSE(chosen) << wanted;
    EXPECT_THAT(chosen.error().found, HasSubstr(found)) << wanted;
    EXPECT_THAT(chosen.error().advice, HasSubstr("2 (NVIDIA H200)"));
  }
}

TEST(ChosenGpus, HaveALockAndAJailOfTheirOwn) {
  const std::vector<Device> devices = devices_of(three_gpus());
  ASSERT_EQ(devices.size(), 3u);
  EXPECT_EQ(devices[1].name, "gpu");
  EXPECT_EQ(devices[1].gpu_number, 5);
  EXPECT_EQ(devices[1].environment.at("CUDA_VISIBLE_DEVICES"), "GPU-b");
  EXPECT_NE(devices[0].lock_file, devices[1].lock_file);
}

TEST(ChosenGpus, TheOnlyOneNeedsNoNameAndExcludesWhoNamesIt) {
  const std::vector<Device> alone = devices_of({{"NVIDIA H200", "GPU-b", 0, false}});
  EXPECT_THAT(alone[0].environment, IsEmpty());
  EXPECT_EQ(alone[0].lock_file, devices_of(three_gpus())[1].lock_file);
}

}  // namespace
}  // namespace membound::judge
