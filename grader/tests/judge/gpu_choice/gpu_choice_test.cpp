// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>

#include "grader/base/files.hpp"
#include "grader/judge/check_device.hpp"

namespace membound::judge {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// What the driver says where the stand-in is told this.
GpuAnswer told(const std::string& driver, const std::string& cards,
               const std::filesystem::path& build = MEMBOUND_BUILD_DIR) {
  setenv("STAND_IN_DRIVER", driver.c_str(), 1);
  setenv("STAND_IN_GPUS", cards.c_str(), 1);
  const base::ScratchFolder devices("devices");
  std::ofstream(devices.path() / "nvidiactl") << "";
  return ask_gpu(build, devices.path());
}

std::vector<Device> chosen(const std::string& wanted, const GpuAnswer& answer) {
  const auto devices = choose_devices(wanted, MEMBOUND_BUILD_DIR, {}, answer);
  EXPECT_TRUE(devices.ok()) << base::to_string(devices.error());
  return devices ? *devices : std::vector<Device>();
}

constexpr const char* k470 = "470.57.02 11040";
constexpr const char* k525 = "525.60.13 12000";
constexpr const char* k550 = "550.54.15 12040";
constexpr const char* k580 = "580.65.06 13000";

struct Row {
  const char* driver;
  const char* card;
  const char* device;
  const char* words;  ///< that are printed; empty: none
};

constexpr Row kRows[] = {
    {k580, "Tesla T4;75;40;15828;15000;0;0", "gpu", ""},
    {k550, "Tesla T4;75;40;15828;15000;0;0", "vgpu:t4",
     "Tesla T4 cannot serve: driver 550.54.15 for CUDA 12.4, and driver 580 or newer (CUDA 13.0) "
     "is needed; vgpu:t4 takes its place"},
    {k470, "NVIDIA GeForce RTX 3080;86;68;10240;9900;0;0", "vgpu:rtx-3090",
     "NVIDIA GeForce RTX 3080 cannot serve: driver 470.57.02 for CUDA 11.4, and driver 580 or "
     "newer (CUDA 13.0) is needed; vgpu:rtx-3090 takes its place"},
    {k525, "NVIDIA GeForce RTX 4090;89;128;25393;24900;0;0", "vgpu:rtx-4090",
     "NVIDIA GeForce RTX 4090 cannot serve: driver 525.60.13 for CUDA 12.0, and driver 580 or "
     "newer (CUDA 13.0) is needed; vgpu:rtx-4090 takes its place"},
    {k580, "Tesla V100-PCIE-32GB;70;80;34079;33000;0;0", "vgpu:v100",
     "Tesla V100-PCIE-32GB cannot serve: compute capability 7.0, and 7.5 or newer (Turing and "
     "later) is needed; vgpu:v100 takes its place"},
    {k470, "Tesla P100-PCIE-16GB;60;56;17071;16900;0;0", "vgpu:gtx-1080-ti",
     "Tesla P100-PCIE-16GB cannot serve: compute capability 6.0, and 7.5 or newer (Turing and "
     "later) is needed; vgpu:gtx-1080-ti takes its place"},
    {k525, "NVIDIA GeForce GTX 980;52;16;4236;4000;0;0", "vgpu:gtx-980",
     "NVIDIA GeForce GTX 980 cannot serve: compute capability 5.2, and 7.5 or newer (Turing and "
     "later) is needed; vgpu:gtx-980 takes its place"},
    {k580, "NVIDIA H100 80GB HBM3;90;132;85017;84000;2;0", "vgpu:h100",
     "NVIDIA H100 80GB HBM3 cannot serve: compute mode Prohibited, and mode Default is needed; "
     "vgpu:h100 takes its place"},
    {k580, "NVIDIA A100-PCIE-40GB;80;108;42298;1050;0;3", "vgpu:a100",
     "NVIDIA A100-PCIE-40GB cannot serve: 1.1 GB of 42.3 GB are free, and 2.7 GB is needed; "
     "vgpu:a100 takes its place"},
    {k580, "NVIDIA H200;90;132;150110;149000;3;1", "vgpu:h200",
     "NVIDIA H200 cannot serve: compute mode Exclusive_Process and another program on it, and mode "
     "Default is needed; vgpu:h200 takes its place"},
    {k580, "NVIDIA H200;90;132;150110;149000;3;0", "gpu", ""},
    {k580, "NVIDIA GeForce RTX 5090;120;170;33676;33000;0;0", "gpu", ""}};

TEST(ChoiceOfGpus, IsTheGpuOrTheNearestModel) {
  for (const Row& row : kRows) {
    const std::vector<Device> devices = chosen("", told(row.driver, row.card));
    ASSERT_EQ(devices.size(), 1u) << row.card;
    EXPECT_EQ(devices[0].name, row.device) << row.card;
    EXPECT_EQ(devices[0].instead, row.words) << row.card;
  }
}

TEST(ChoiceOfGpus, PassesOverThoseThatCannotServe) {
  const std::string cards =
      "NVIDIA GeForce GTX 980;52;16;4236;4000;0;0\nNVIDIA GeForce RTX 3090;86;82;25438;25000;0;0";
  const GpuAnswer answer = told(k580, cards);
  const std::vector<Device> devices = chosen("", answer);
  ASSERT_EQ(devices.size(), 1u);
  EXPECT_EQ(devices[0].environment.at("CUDA_VISIBLE_DEVICES"), answer.gpus[1].uuid);
  EXPECT_THAT(devices[0].instead, HasSubstr("GTX 980 cannot serve: compute capability 5.2"));
  EXPECT_THAT(chosen("gpu:1", answer).front().instead, IsEmpty());
}

TEST(ChoiceOfGpus, OneThatIsNamedAndCannotServeIsAnErrorWithItsMend) {
  const GpuAnswer answer = told(k470, "Tesla T4;75;40;15828;15000;0;0");
  const auto devices = choose_devices("gpu", MEMBOUND_BUILD_DIR, {}, answer);
  ASSERT_FALSE(devices.ok());
  EXPECT_EQ(devices.error().where, "--device gpu");
  EXPECT_THAT(devices.error().found, HasSubstr("driver 470.57.02 for CUDA 11.4"));
  EXPECT_EQ(
      devices.error().advice,
      "install driver 580 or newer, or ask whoever runs this machine to; or --device vgpu:t4");
}

TEST(ChoiceOfGpus, NothingIsSaidWhereThereIsNoGpu) {
  const base::ScratchFolder devices("devices");
  const GpuAnswer answer = ask_gpu(MEMBOUND_BUILD_DIR, devices.path());
  EXPECT_FALSE(answer.answers);
  const std::vector<Device> found = chosen("", answer);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].name, "vgpu:h200");
  EXPECT_THAT(found[0].instead, IsEmpty());
}

TEST(ChoiceOfGpus, ProgramsThatWereBuiltElsewhereAreForTheVirtualGpu) {
  const base::ScratchFolder build("build");
  std::ofstream(build.path() / "machine") << "x86_64";
  const GpuAnswer answer = told(k580, "Tesla T4;75;40;15828;15000;0;0", build.path());
  EXPECT_EQ(chosen("", answer).front().name, "vgpu:t4");
  EXPECT_THAT(chosen("", answer).front().instead,
              HasSubstr("test programs built elsewhere, and a build on this machine is needed"));
}

TEST(ChoiceOfGpus, ADriverThatDoesNotAnswerIsSaid) {
  const GpuAnswer answer = told(k580, "");
  EXPECT_THAT(chosen("", answer).front().instead,
              HasSubstr("the GPU cannot serve: the driver sees no GPU"));
}

}  // namespace
}  // namespace membound::judge
