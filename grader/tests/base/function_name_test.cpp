// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/base/demangle.hpp"

#include <gtest/gtest.h>

namespace membound::base {
namespace {

TEST(FunctionName, IsWhatTheAuthorWrote) {
  EXPECT_EQ(short_function_name("_Z3addPKiS0_Pii"), "add");
  EXPECT_EQ(demangled("_Z3addPKiS0_Pii"), "add(int const*, int const*, int*, int)");
}

TEST(FunctionName, OfExternCStaysAsItIs) {
  EXPECT_EQ(short_function_name("add"), "add");
  EXPECT_EQ(short_function_name("i"), "i") << "not the type whose mangled name this is";
  EXPECT_EQ(demangled("add"), "add");
}

TEST(FunctionName, LosesReturnTypeInstanceAndParametersOfATemplate) {
  EXPECT_EQ(short_function_name("_Z9transposeIfEvPT_PKS0_i"), "transpose");
  EXPECT_EQ(short_function_name("_Z3stiILi3EEvPAT__i"), "sti");     // void sti<3>(int (*) [3])
  EXPECT_EQ(short_function_name("_Z3runIZ2govEUliE_EvT_"), "run");  // of a lambda in go()
}

TEST(FunctionName, LosesNamespacesAlsoThoseWithoutAName) {
  EXPECT_EQ(short_function_name("_ZN2ns2teINS_5scaleEEEvPT_"), "te");
  EXPECT_EQ(short_function_name("_ZN37_GLOBAL__N__95db8df3_8_names_cu_plain2anEPi"), "an");
}

TEST(FunctionName, ThatIsCutShortIsShownWhole) {
  EXPECT_EQ(short_function_name("_Z3ad"), "_Z3ad");
  EXPECT_EQ(short_function_name("_Z"), "_Z");
  EXPECT_EQ(short_function_name(""), "");
}

}  // namespace
}  // namespace membound::base
