// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/judge/sandboxed_run.hpp"

#include <gmock/gmock.h>

#include <fstream>

#include "grader/judge/check_device.hpp"
#include "grader/tests/judge/temporary_folder.hpp"

namespace membound::judge {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;

TEST(LibraryFolders, AreThoseOutsideOfTheSystemEachOnce) {
  EXPECT_THAT(library_folders("\tlinux-vdso.so.1 (0x00007ffd)\n"
                              "\tlibcudart.so.13 => /opt/cuda/lib64/libcudart.so.13 (0x00007f01)\n"
                              "\tlibother.so => /opt/cuda/lib64/libother.so (0x00007f02)\n"
                              "\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f03)\n"
                              "\tlibstdc++.so.6 => /usr/lib/libstdc++.so.6 (0x00007f04)\n"
                              "\tliblost.so => not found\n"
                              "\t/lib64/ld-linux-x86-64.so.2 (0x00007f05)\n"),
              ElementsAre("/opt/cuda/lib64"));
}

TEST(GpuNodes, AreTheControlNodesAndOneForEachGpu) {
  const TemporaryFolder folder;
  for (const char* name : {"nvidia0", "nvidia12", "nvidiactl", "nvidia-uvm", "nvidia-modeset",
                           "nvidia-caps", "null", "nvidia0x"})
    std::ofstream(folder.path() / name) << "";
  const std::vector<fs::path> all = {folder.path() / "nvidia-uvm", folder.path() / "nvidia0",
                                     folder.path() / "nvidia12", folder.path() / "nvidiactl"};
  EXPECT_EQ(gpu_nodes(folder.path()), all);
  EXPECT_THAT(gpu_nodes(folder.path(), 12), ElementsAre(all[0], all[2], all[3]));
  // One that is not there by this number: a container may count in another way.
  EXPECT_EQ(gpu_nodes(folder.path(), 3), all);
}

TEST(RunnerLimits, GrowWithTheStages) {
  EXPECT_EQ(runner_limits(6, 100).wall_seconds, 600);
  const Device device = virtual_gpu("h200", "");
  const DeviceKind& kind = *device.kind;
  SandboxOptions one, six;
  ASSERT_TRUE(kind.equip(one, device, 1, 100));
  ASSERT_TRUE(kind.equip(six, device, 6, 100));
  EXPECT_LT(one.limits.cpu_seconds, six.limits.cpu_seconds);
}

TEST(RunnerLimits, LetARunnerSpinWhileItWaitsForAGpu) {
  SandboxOptions sandbox;
  sandbox.runner = "/bin/true";
  ASSERT_TRUE(real_gpu().kind->equip(sandbox, real_gpu(), 2, 100));
  EXPECT_EQ(sandbox.limits.cpu_seconds, sandbox.limits.wall_seconds);
}

}  // namespace
}  // namespace membound::judge
