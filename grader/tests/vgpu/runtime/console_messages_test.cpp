// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/runtime/device/reports.hpp"

#include <gmock/gmock.h>

namespace membound::vgpu::runtime {
namespace {

using testing::HasSubstr;

TEST(Messages, ErrorsHaveTheRuntimesNamesAndTexts) {
  EXPECT_STREQ(messages::error_name(700), "cudaErrorIllegalAddress");
  EXPECT_STREQ(messages::error_text(700), "an illegal memory access was encountered");
  EXPECT_STREQ(messages::error_text(0), "no error");
  EXPECT_STREQ(messages::error_name(12345), "unrecognized error code");
}

TEST(Messages, AFaultSaysWhatWhereAndWho) {
  exec::Fault fault;
  fault.kind = exec::FaultKind::kIllegalAddress;
  fault.place = {"_Z5scalePfi", "scale.cu", 12, 40, "ld.global.f32", {1, 0, 0}, {5, 0, 0}};
  fault.text = "4 bytes behind the end of allocation 2";
  const std::string text = messages::fault(fault);
  EXPECT_THAT(text, HasSubstr("scale(float*, int)"));
  EXPECT_THAT(text, HasSubstr("scale.cu:12"));
  EXPECT_THAT(text, HasSubstr("block (1, 0, 0), thread (5, 0, 0)"));
  EXPECT_THAT(text, HasSubstr("allocation 2"));
}

TEST(Messages, WithoutLineInformationItSaysHowToGetIt) {
  exec::Fault fault;
  fault.place.ptx_line = 40;
  EXPECT_THAT(messages::fault(fault), HasSubstr("-lineinfo"));
}

TEST(Messages, CodeThatCannotRunNamesTheKernelAndTheRemedy) {
  const base::Error error{base::ErrorKind::kInput, "a.out", "no PTX", "PTX", "nvcc -arch=sm_90"};
  const std::string text = messages::unusable_code("_Z5scalePfi", error);
  EXPECT_THAT(text, HasSubstr("scale(float*, int)"));
  EXPECT_THAT(text, HasSubstr("nvcc -arch=sm_90"));
}

TEST(Messages, ALeakSaysHowMuchAndByWhom) {
  memory::Allocation allocation;
  allocation.size_bytes = 256;
  allocation.serial = 3;
  allocation.info.name = "cudaMalloc";
  EXPECT_EQ(messages::leak(allocation),
            "leakcheck: 256 bytes of allocation 3 were never freed\n  made by cudaMalloc");
}

}  // namespace
}  // namespace membound::vgpu::runtime
