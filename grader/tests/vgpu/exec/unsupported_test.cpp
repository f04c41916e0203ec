// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// An instruction the virtual GPU lacks: the launch ends, and the text says which it was, where it
/// stands and what it would take.
#include <gmock/gmock.h>

#include "grader/tests/vgpu/exec/machine_fixture.hpp"

namespace membound::vgpu::exec {
namespace {

using testing::HasSubstr;

struct Lacking {
  const char* name;
  const char* instruction;
  const char* named;  ///< the mnemonic in the text
  const char* takes;  ///< what it would take
};

void PrintTo(const Lacking& each, std::ostream* to) { *to << each.name; }

class UnsupportedTest : public testing::TestWithParam<Lacking> {};

TEST_P(UnsupportedTest, IsNamedWithItsPlaceAndWhatItWouldTake) {
  const std::string ptx =
      ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k()\n{\n"
      ".reg .pred %p<4>; .reg .b16 %rs<4>; .reg .b32 %r<20>; .reg .b64 %rd<8>; .reg .f32 "
      "%f<20>;\n" +
      std::string(GetParam().instruction) + "\nret;\n}\n";
  Machine machine(ptx);
  const LaunchReport report = machine.run("k", {1, 1, 1}, {32, 1, 1});
  ASSERT_TRUE(report.fault);
  EXPECT_EQ(report.fault->kind, FaultKind::kUnsupportedInstruction);
  EXPECT_THAT(report.fault->text, HasSubstr(GetParam().named));
  EXPECT_THAT(report.fault->text, HasSubstr("is not supported by the virtual GPU"));
  EXPECT_THAT(report.fault->text, HasSubstr(GetParam().takes));
  EXPECT_EQ(report.fault->place.kernel, "k");
  EXPECT_EQ(report.fault->place.ptx_line, 7u);
}

constexpr Lacking kLacking[] = {
    {"TensorCores",
     "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f0,%f1,%f2,%f3}, {%r0,%r1,%r2,%r3}, "
     "{%r4,%r5}, {%f4,%f5,%f6,%f7};",
     "mma.sync.aligned.m16n8k8", "tensor cores' fragment layouts"},
    {"BulkCopies",
     "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%r0], [%rd0, "
     "{%r1}], [%r2];",
     "cp.async.bulk.tensor", "tensor memory accelerator"},
    {"CopiesToOtherBlocks",
     "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r0], "
     "[%rd0], %r1, [%r2], %rs0;",
     "cp.async.bulk", "compute_80"},
    {"ClusterAddresses", "mapa.shared::cluster.u32 %r0, %r1, %r2;", "mapa.shared::cluster.u32",
     "thread block clusters"},
    {"ClusterBarriers", "barrier.cluster.arrive;", "barrier.cluster.arrive",
     "thread block clusters"},
    {"ReservedSharedMemory", "mov.u32 %r0, %reserved_smem_offset_1;", "mov.u32",
     "tiles of more than 32 threads"},
    {"SeveralGpus", "multimem.ld_reduce.global.add.u32 %r0, [%rd0];", "multimem.ld_reduce",
     "several GPUs"},
    {"ScalarVideo", "vadd.u32.u32.u32 %r0, %r1, %r2;", "vadd.u32", "SIMD intrinsics"},
    {"SeparateSamplers", "tex.2d.v4.f32.f32 {%f0,%f1,%f2,%f3}, [%rd0, %rd1, {%f4,%f5}];",
     "tex.2d.v4.f32.f32", "a sampler apart from its texture"},
};

INSTANTIATE_TEST_SUITE_P(Ptx, UnsupportedTest, testing::ValuesIn(kLacking),
                         [](const auto& each) { return std::string(each.param.name); });

/// What nvcc makes of kernel<<<…>>> in device code.
TEST(UnsupportedCall, OfALaunchInAKernelIsNamedAsDynamicParallelism) {
  for (const char* callee :
       {"cudaLaunchDeviceV2", "cudaGetParameterBufferV2", "__cuda_syscall_cudaLaunchDevice"}) {
    Machine machine(".version 9.0\n.target sm_90\n.address_size 64\n.extern .func " +
                    std::string(callee) + "();\n.visible .entry k()\n{\ncall " + callee +
                    ";\nret;\n}\n");
    const LaunchReport report = machine.run("k", {1, 1, 1}, {32, 1, 1});
    ASSERT_TRUE(report.fault) << callee;
    EXPECT_EQ(report.fault->kind, FaultKind::kUnsupportedInstruction);
    EXPECT_THAT(report.fault->text,
                HasSubstr("dynamic parallelism; call of '" + std::string(callee) + "'"));
    EXPECT_THAT(report.fault->text, HasSubstr("Launch from the host, or run it on a GPU"));
  }
}

}  // namespace
}  // namespace membound::vgpu::exec
