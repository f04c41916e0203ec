// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/cases/timed_case.hpp"

#include <gmock/gmock.h>

namespace membound::harness {
namespace {

TEST(KernelArguments, KeepTheirValuesAndTypes) {
  float* const d_out = nullptr;
  const float* const d_in = nullptr;
  KernelArguments arguments = kernel_arguments(d_out, d_in, 7, 8LL);
  EXPECT_THAT(arguments.types(),
              testing::ElementsAre("float*", "float const*", "int", "long long"));
  EXPECT_EQ(*static_cast<int*>(arguments.addresses()[2]), 7);
  EXPECT_EQ(*static_cast<long long*>(arguments.addresses()[3]), 8);
}

TEST(KernelArguments, ACopyOwnsItsValues) {
  KernelArguments first = kernel_arguments(1);
  KernelArguments second = first;
  *static_cast<int*>(second.addresses()[0]) = 2;
  EXPECT_EQ(*static_cast<int*>(first.addresses()[0]), 1);
}

TEST(KernelArguments, FindAPointerByItsValue) {
  int a = 0, b = 0;
  const auto number = reinterpret_cast<std::uintptr_t>(&b);  // same bits, but no pointer
  KernelArguments arguments = kernel_arguments(number, &a, &b);
  EXPECT_EQ(arguments.index_of_pointer(&b), 2U);
  EXPECT_EQ(arguments.index_of_pointer(&arguments), arguments.size());
}

}  // namespace
}  // namespace membound::harness
