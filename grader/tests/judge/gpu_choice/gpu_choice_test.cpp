// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>
#include <map>

#include "grader/base/files.hpp"
#include "grader/judge/check_device.hpp"
#include "grader/judge/check_request.hpp"
#include "grader/tests/judge/temporary_folder.hpp"

namespace membound::judge {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// What the driver says where the stand-in is told this.
GpuAnswer told(const std::string& driver, const std::string& cards) {
  setenv("STAND_IN_DRIVER", driver.c_str(), 1);
  setenv("STAND_IN_GPUS", cards.c_str(), 1);
  const base::ScratchFolder devices("devices");
  std::ofstream(devices.path() / "nvidiactl") << "";
  return ask_gpu(devices.path());
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
    {k550, "Tesla T4;75;40;15828;15000;0;0", "gpu", ""},
    {k525, "NVIDIA GeForce RTX 4090;89;128;25393;24900;0;0", "gpu", ""},
    {k580, "Tesla V100-PCIE-32GB;70;80;34079;33000;0;0", "gpu", ""},
    {k525, "Tesla P100-PCIE-16GB;60;56;17071;16900;0;0", "gpu", ""},
    {k550, "NVIDIA GeForce GTX 1080 Ti;61;28;11721;11000;0;0", "gpu", ""},
    {k470, "NVIDIA GeForce RTX 3080;86;68;10240;9900;0;0", "vgpu:rtx-3090",
     "NVIDIA GeForce RTX 3080 cannot serve: driver 470.57.02 for CUDA 11.4, and driver 525 or "
     "newer (CUDA 12.0) is needed; vgpu:rtx-3090 takes its place"},
    {k470, "Tesla P100-PCIE-16GB;60;56;17071;16900;0;0", "vgpu:gtx-1080-ti",
     "Tesla P100-PCIE-16GB cannot serve: driver 470.57.02 for CUDA 11.4, and driver 525 or newer "
     "(CUDA 12.0) is needed; vgpu:gtx-1080-ti takes its place"},
    {k525, "NVIDIA GeForce GTX 980;52;16;4236;4000;0;0", "vgpu:gtx-980",
     "NVIDIA GeForce GTX 980 cannot serve: compute capability 5.2, and 6.0 or newer (Pascal and "
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

struct CompilerRow {
  const char* driver;
  const char* card;
  std::vector<const char*> toolkits;  ///< versions of CUDA that are there, side by side
  const char* compiler;
  const char* words;  ///< why an nvcc that is there is not used; empty: none is passed over
  const char* architecture;
};

const CompilerRow kCompilerRows[] = {
    {k580, "NVIDIA H100 80GB HBM3;90;132;85017;84000;0;0", {"13.0"}, "nvcc 13.0.88", "", "90"},
    {k580, "NVIDIA H100 80GB HBM3;90;132;85017;84000;0;0", {}, "clang 14.0.6", "", "90"},
    {k550, "Tesla T4;75;40;15828;15000;0;0", {"12.4"}, "nvcc 12.4.88", "", "75"},
    {k550, "Tesla T4;75;40;15828;15000;0;0", {"13.0", "12.4"}, "nvcc 12.4.88", "", "75"},
    {k550,
     "Tesla T4;75;40;15828;15000;0;0",
     {"13.0"},
     "clang 14.0.6",
     "nvcc 13.0.88 makes code for drivers of CUDA 13, and this one is for CUDA 12.4",
     "75"},
    {k525, "NVIDIA GeForce RTX 4090;89;128;25393;24900;0;0", {"12.4"}, "nvcc 12.4.88", "", "89"},
    {k580, "Tesla V100-PCIE-32GB;70;80;34079;33000;0;0", {"12.4"}, "nvcc 12.4.88", "", "70"},
    {k580,
     "Tesla V100-PCIE-32GB;70;80;34079;33000;0;0",
     {"13.0"},
     "clang 14.0.6",
     "nvcc 13.0.88 makes no code for compute capability 7.0",
     "70"},
    {k525,
     "Tesla P100-PCIE-16GB;60;56;17071;16900;0;0",
     {"11.8"},
     "clang 14.0.6",
     "nvcc 11.8.88 is too old",
     "60"},
    {k550,
     "NVIDIA GeForce RTX 5090;120;170;33676;33000;0;0",
     {"13.0", "12.4"},
     "clang 14.0.6",
     "nvcc 13.0.88 makes code for drivers of CUDA 13, and this one is for CUDA 12.4, nvcc 12.4.88 "
     "makes no code for compute capability 12.0",
     "120"},
    {k580,
     "NVIDIA GeForce RTX 5090;120;170;33676;33000;0;0",
     {"12.4", "13.0"},
     "nvcc 13.0.88",
     "",
     "120"}};

/// Compilers that only tell of themselves.
compilers::CompilerPlaces with_compilers(const TemporaryFolder& folder,
                                         const std::vector<const char*>& toolkits) {
  const std::map<std::string, std::string> known = {
      {"11.8", "sm_60\\nsm_70\\nsm_90"},
      {"12.4", "sm_60\\nsm_70\\nsm_75\\nsm_89\\nsm_90"},
      {"13.0", "sm_75\\nsm_90\\nsm_120"}};
  compilers::CompilerPlaces places;
  places.system = folder.path() / "cuda";
  for (const std::string version : toolkits)
    folder.script("cuda-" + version + "/bin/nvcc",
                  "[ $1 = --list-gpu-code ] && printf '" + known.at(version) +
                      "\\n' && exit\necho 'release " + version + ", V" + version + ".88'");
  folder.script("bin/clang++", "echo 'Debian clang version 14.0.6'");
  places.path = (folder.path() / "bin").string();
  return places;
}

TEST(ChoiceOfGpus, TakesACompilerThatMakesCodeForCardAndDriver) {
  for (const CompilerRow& row : kCompilerRows) {
    const TemporaryFolder folder;
    const auto places = with_compilers(folder, row.toolkits);
    const Device device = chosen("", told(row.driver, row.card)).front();
    const auto compiler = compilers::find_any_compiler(places, device.target);
    ASSERT_TRUE(compiler) << row.card;
    EXPECT_EQ(compiler->name(), row.compiler) << row.card;
    EXPECT_EQ(compiler->passed_over, row.words) << row.card;
    EXPECT_EQ(architecture_for(device, compiler->kind), row.architecture) << row.card;
  }
}

TEST(ChoiceOfGpus, SaysWhyANamedCompilerMakesNoCodeForTheCard) {
  const TemporaryFolder folder;
  const Device device =
      chosen("", told(k580, "Tesla V100-PCIE-32GB;70;80;34079;33000;0;0")).front();
  const auto nvcc = compilers::find_compiler(compilers::DeviceCompiler::kNvcc,
                                             with_compilers(folder, {"13.0"}), device.target);
  ASSERT_FALSE(nvcc);
  EXPECT_EQ(nvcc.error().found,
            "not usable: nvcc 13.0.88 makes no code for compute capability 7.0");
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
      "install driver 525 or newer, or ask whoever runs this machine to; or --device vgpu:t4");
}

TEST(ChoiceOfGpus, NothingIsSaidWhereThereIsNoGpu) {
  const base::ScratchFolder devices("devices");
  const GpuAnswer answer = ask_gpu(devices.path());
  EXPECT_FALSE(answer.answers);
  const std::vector<Device> found = chosen("", answer);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].name, "vgpu:h200");
  EXPECT_THAT(found[0].instead, IsEmpty());
}

TEST(ChoiceOfGpus, ADriverThatDoesNotAnswerIsSaid) {
  const GpuAnswer answer = told(k580, "");
  EXPECT_THAT(chosen("", answer).front().instead,
              HasSubstr("the GPU cannot serve: the driver sees no GPU"));
}

}  // namespace
}  // namespace membound::judge
