// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A lab of this tree, checked on the virtual GPU in one process or in three.
#pragma once

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "grader/authoring/wrong_answer.hpp"
#include "grader/course/lab.hpp"
#include "grader/judge/judge.hpp"
#include "grader/tests/judge/temporary_folder.hpp"

namespace membound::judge {

class Sandboxed : public testing::Test {
 protected:
  static std::filesystem::path source() { return MEMBOUND_SOURCE_DIR; }
  static std::filesystem::path build() { return MEMBOUND_BUILD_DIR; }

  /// An ordinary check of all stages.
  CheckRequest request_for(const std::string& lab_id, const std::filesystem::path& kernel) {
    auto lab = course::read_lab(source() / "labs" / lab_id / "lab.json");
    MEMBOUND_CHECK(lab.ok());
    lab_ = *std::move(lab);
    CheckRequest request;
    request.place = {source(), build(), folder_.path()};
    request.lab = &*lab_;
    for (const course::Stage& stage : lab_->stages) request.stages.push_back(stage.number);
    request.submission = kernel;
    const auto compiler = compilers::find_any_compiler(compilers::compiler_places(source()));
    MEMBOUND_CHECK(compiler.ok());
    request.compiler = *compiler;
    request.architecture = MEMBOUND_ARCHITECTURE;
    request.device = virtual_gpu("h200", build());
    return request;
  }

  /// Turns it into a graded one. Without the jail, which has tests of its own and not every machine
  /// that runs these.
  static void sandbox(CheckRequest& request) {
    auto options = sandbox_options(request);
    MEMBOUND_CHECK(options.ok());
    request.sandbox = *std::move(options);
    request.sandbox->use_jail = false;
    request.sandbox->limits.wall_seconds = 600;
  }

  course::Result run(const CheckRequest& request) {
    auto result = check(request);
    EXPECT_TRUE(result.ok()) << base::to_string(result.error());
    return result ? *std::move(result) : course::Result{};
  }

  /// A submission of this text.
  std::filesystem::path kernel_of(const std::string& text) {
    const std::filesystem::path file = folder_.path() / "kernel.cu";
    std::ofstream(file) << text;
    return file;
  }

  /// The lab's wrong answer "5-counts-down-for-ever" as a whole file.
  std::filesystem::path wrong_answer(const std::string& lab_id, const std::string& name) {
    const auto answer = authoring::find_wrong_answer(source() / "solutions" / lab_id, name);
    MEMBOUND_CHECK(answer.ok());
    const auto file = authoring::write_kernel(*answer, folder_.path() / "wrong" / lab_id);
    MEMBOUND_CHECK(file.ok());
    return *file;
  }

  /// All of the lab's, in the order of stages and names.
  std::vector<std::filesystem::path> wrong_answers(const std::string& lab_id) {
    std::vector<std::filesystem::path> files;
    const auto answers = authoring::read_wrong_answers(source() / "solutions" / lab_id);
    MEMBOUND_CHECK(answers.ok());
    for (const auto& answer : *answers) files.push_back(wrong_answer(lab_id, answer.name));
    return files;
  }

  TemporaryFolder folder_;
  std::optional<course::Lab> lab_;
};

}  // namespace membound::judge
