// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/device/submission.hpp"

#include <gmock/gmock.h>

namespace membound::harness {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// As nvcc names them: reverse_direct(int*, int const*, long long) and
// template <typename T> transpose_tiled(T*, T const*, int, int).
constexpr const char* kReverse = "_Z14reverse_directPiPKix";
constexpr const char* kTiledFloat = "_Z15transpose_tiledIfEvPT_PKS0_ii";
constexpr const char* kTiledDouble = "_Z15transpose_tiledIdEvPT_PKS0_ii";
constexpr const char* kParameters = "(T*, T const*, int, int)";

std::vector<KernelName> names(const std::vector<const char*>& mangled) {
  std::vector<KernelName> all;
  for (const char* name : mangled) all.push_back(base::parse_function_name(name));
  return all;
}

KernelMatch find(const std::vector<const char*>& mangled, const std::string& base,
                 const std::string& instance, const std::string& parameters) {
  return find_kernel(names(mangled), base, instance, parameters);
}

TEST(Signature, APlainKernelIsTakenApart) {
  const KernelName name = base::parse_function_name(kReverse);
  EXPECT_EQ(name.base, "reverse_direct");
  EXPECT_EQ(name.instance, "");
  EXPECT_EQ(name.parameters, "(int*, int const*, long long)");
}

TEST(Signature, AnInstanceLosesItsReturnType) {
  const KernelName name = base::parse_function_name(kTiledFloat);
  EXPECT_EQ(name.base, "transpose_tiled");
  EXPECT_EQ(name.instance, "<float>");
  EXPECT_EQ(name.parameters, "(float*, float const*, int, int)");
}

TEST(Signature, AValueAsTemplateArgumentIsPartOfTheInstance) {
  const KernelName name = base::parse_function_name("_Z1fILi4EEvPf");  // void f<4>(float*)
  EXPECT_EQ(name.base, "f");
  EXPECT_EQ(name.instance, "<4>");
}

TEST(Signature, AnExternCNameIsAllBase) {
  const KernelName name = base::parse_function_name("membound_launch_of_reverse_direct");
  EXPECT_EQ(name.base, "membound_launch_of_reverse_direct");
  EXPECT_EQ(name.parameters, "");
}

TEST(Signature, NamesThatAreNoCppNamesDoNotBreakIt) {
  for (const char* name : {"", "_Z", "_Z9", "_ZZZZ", "__nv_static_1"})
    EXPECT_EQ(base::parse_function_name(name).base, name);
}

TEST(Signature, TIsReplacedOnlyWhereItStandsAlone) {
  EXPECT_EQ(instantiate_parameters("(T*, T const*, Type, int)", "<double>"),
            "(double*, double const*, Type, int)");
  EXPECT_EQ(instantiate_parameters("(T*, int)", ""), "(T*, int)");
}

TEST(Signature, ScratchIsTheLastParameter) {
  EXPECT_EQ(with_scratch("(float*, int)"), "(float*, int, void*)");
  EXPECT_EQ(with_scratch("()"), "(void*)");
}

TEST(Signature, ParameterTypesAreSplitAtTheirOwnCommas) {
  EXPECT_THAT(parameter_types("(float*, f<int, 2>, void (*)(int, int))"),
              ElementsAre("float*", "f<int, 2>", "void (*)(int, int)"));
  EXPECT_THAT(parameter_types("()"), ElementsAre());
}

TEST(Signature, ArgumentsFitWhenOnlyAConstIsMissing) {
  EXPECT_TRUE(arguments_fit({"float*", "float*", "int"}, "(float*, float const*, int)"));
  EXPECT_TRUE(arguments_fit({"float*", "float const*", "int"}, "(float*, float const*, int)"));
  EXPECT_FALSE(arguments_fit({"float const*"}, "(float*)"));
  EXPECT_FALSE(arguments_fit({"long"}, "(int)"));
  EXPECT_FALSE(arguments_fit({"int"}, "(int, int)"));
}

TEST(Signature, TheRightKernelIsFound) {
  const KernelMatch match = find({kReverse, kTiledFloat, kTiledDouble}, "transpose_tiled",
                                 "<double>", instantiate_parameters(kParameters, "<double>"));
  EXPECT_EQ(match.problem, KernelProblem::kNone);
  EXPECT_EQ(match.index, 2U);
}

TEST(Signature, AKernelInANamespaceIsFound) {
  const KernelMatch match = find({"_ZN12_GLOBAL__N_11fEPf"}, "f", "", "(float*)");
  EXPECT_EQ(match.problem, KernelProblem::kNone);
}

TEST(Signature, AMisspeltKernelIsMissingAndItsNearestNameSaid) {
  const KernelMatch match = find({"_Z14transpose_tileIfEvPT_"}, "transpose_tiled", "<float>",
                                 "(float*, float const*, int, int)");
  EXPECT_EQ(match.problem, KernelProblem::kMissing);
  EXPECT_THAT(match.error.found, HasSubstr("there is no kernel `transpose_tiled`"));
  EXPECT_THAT(match.error.advice, HasSubstr("`transpose_tile`"));
}

TEST(Signature, ALaunchFunctionIsNoKernelOfTheStudent) {
  const KernelMatch match = find({"membound_launch_of_f"}, "membound_launch_of_f", "", "(float*)");
  EXPECT_EQ(match.problem, KernelProblem::kMissing);
  EXPECT_THAT(match.error.found, HasSubstr("nor any other kernel"));
}

TEST(Signature, AKernelInExternCIsSaidToBeThat) {
  const KernelMatch match = find({"f"}, "f", "", "(float*)");
  EXPECT_EQ(match.problem, KernelProblem::kMissing);
  EXPECT_THAT(match.error.found, HasSubstr("`f` is extern \"C\""));
}

TEST(Signature, OtherParametersAreToldFoundAndExpected) {
  const KernelMatch match = find({kReverse}, "reverse_direct", "", "(int*, int const*, int)");
  EXPECT_EQ(match.problem, KernelProblem::kWrongSignature);
  EXPECT_THAT(match.error.found, HasSubstr("(int*, int const*, long long)"));
  EXPECT_EQ(match.error.expected, "reverse_direct(int*, int const*, int)");
}

TEST(Signature, AMissingInstanceIsToldWithThoseThatAreThere) {
  const KernelMatch match = find({kTiledFloat}, "transpose_tiled", "<double>",
                                 instantiate_parameters(kParameters, "<double>"));
  EXPECT_EQ(match.problem, KernelProblem::kMissing);
  EXPECT_THAT(match.error.found, HasSubstr("there is `transpose_tiled<float>`"));
}

TEST(Signature, APlainKernelInPlaceOfATemplateHasTheWrongSignature) {
  const KernelMatch match = find({"_Z15transpose_tiledPfPKfii"}, "transpose_tiled", "<float>",
                                 "(float*, float const*, int, int)");
  EXPECT_EQ(match.problem, KernelProblem::kWrongSignature);
}

}  // namespace
}  // namespace membound::harness
