// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/judge/workplace.hpp"

namespace membound::judge {

namespace fs = std::filesystem;

fs::path built_reference(const Workplace& place, const std::string& lab,
                         compilers::DeviceCompiler compiler) {
  return place.build / "labs" / lab / ("reference" + std::string(compilers::code_ending(compiler)));
}

fs::path reference_source(const Workplace& place, const std::string& lab) {
  return place.root / "solutions" / lab / "kernel.cu";
}

fs::path test_program(const Workplace& place, const std::string& lab,
                      const course::StageKind& kind) {
  return place.build / "labs" / lab / kind.test_program;
}

fs::path harness_kernels(const Workplace& place) {
  const fs::path stem = place.build / "grader" / "harness" / "harness";
  std::error_code ignored;
  for (const compilers::DeviceCompiler compiler :
       {compilers::DeviceCompiler::kNvcc, compilers::DeviceCompiler::kClang})
    if (fs::path file = stem.string() + std::string(compilers::code_ending(compiler));
        fs::exists(file, ignored))
      return file;
  return stem;
}

base::Error not_built(const fs::path& file) {
  return {base::ErrorKind::kMachine, file.string(), "is not built",
          "the lab's test program and reference answer, made by the build",
          "start with ./membound, which builds what is missing"};
}

}  // namespace membound::judge
