// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// An oracle.cpp that no build has seen is compiled, with the constants of its lab's kernel.cuh.
#include "grader/judge/workplace.hpp"

#include <dlfcn.h>
#include <gmock/gmock.h>

#include "grader/base/files.hpp"

namespace membound::judge {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class OracleLibrary : public testing::Test {
 protected:
  OracleLibrary() {
    lab_.id = "15-own";
    lab_.tree = folder_.path() / "own";
    lab_.folder = lab_.tree / "labs" / lab_.id;
    write_contract(7);
    write_oracle("return;");
  }
  void write_contract(int value) {
    write("kernel.cuh", "#pragma once\n#include \"membound.cuh\"\ninline constexpr int kValue = " +
                            std::to_string(value) + ";\n");
  }
  void write_oracle(const std::string& last) {
    write("oracle.cpp",
          "#include \"oracle.hpp\"\n#include \"labs/15-own/kernel_constants.hpp\"\n"
          "using namespace membound::kernel_constants;\n"
          "static void right(int* out, const int* in, int n) {\n"
          "  for (int i = 0; i < n; ++i) out[i] = in[i];\n  " +
              last +
              "\n}\nMEMBOUND_ORACLE(right);\n"
              "extern \"C\" int value() { return kValue; }\n");
  }
  [[nodiscard]] base::Result<fs::path> make() const {
    return make_oracle({MEMBOUND_SOURCE_DIR, folder_.path() / "build", folder_.path() / "state"},
                       lab_);
  }
  /// What value() of the library returns; -1 where there is none.
  static int value_of(const fs::path& library) {
    void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    void* const function = handle == nullptr ? nullptr : dlsym(handle, "value");
    const int value = function == nullptr ? -1 : reinterpret_cast<int (*)()>(function)();
    if (handle != nullptr) dlclose(handle);
    return value;
  }

 private:
  void write(const std::string& name, const std::string& text) const {
    ASSERT_TRUE(base::write_file(lab_.folder / name, text));
  }
  base::ScratchFolder folder_{"oracle-library"};
  course::Lab lab_;
};

TEST_F(OracleLibrary, HasTheConstantsOfItsContract) {
  const auto first = make();
  ASSERT_TRUE(first) << base::to_string(first.error());
  EXPECT_EQ(value_of(*first), 7);
  EXPECT_EQ(*make(), *first) << "nothing has changed";
  write_contract(8);
  const auto second = make();
  ASSERT_TRUE(second) << base::to_string(second.error());
  EXPECT_EQ(value_of(*second), 8);
}

TEST_F(OracleLibrary, OneThatDoesNotCompileIsToldWithItsLine) {
  write_oracle("retrun;");
  const auto made = make();
  ASSERT_FALSE(made);
  EXPECT_THAT(base::to_string(made.error()), HasSubstr("labs/15-own/oracle.cpp:6:"));
}

}  // namespace
}  // namespace membound::judge
