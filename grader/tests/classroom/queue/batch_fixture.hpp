// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A batch of a made-up class of 12, graded by a stand-in.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include "grader/classroom/queue/batch.hpp"
#include "grader/tests/classroom/queue/fake_class.hpp"

namespace membound::queue {

namespace fs = std::filesystem;

class BatchTest : public testing::Test {
 protected:
  BatchTest() {
    std::string pattern = (fs::temp_directory_path() / "membound-batch-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    make_fake_class(folder_, 12);
    course_ = fake_course(folder_);
    request_ = fake_batch(folder_, course_, folder_ / "out");
    request_.grade_one = [this](const OneRequest& one) {
      ++runs_;
      return fake_grade(one);
    };
    setenv("SOURCE_DATE_EPOCH", "1795241893", 1);
  }
  ~BatchTest() override { fs::remove_all(folder_); }

  BatchSummary run() {
    auto summary = run_batch(request_);
    EXPECT_TRUE(summary) << (summary ? "" : base::to_string(summary.error()));
    return summary ? std::move(*summary) : BatchSummary();
  }
  std::string csv() const {
    std::ifstream stream(folder_ / "out" / "grades.csv");
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  const course::Grade* grade(const BatchSummary& summary, const std::string& student) {
    for (const course::Grade& one : summary.grades.grades)
      if (one.student == student) return &one;
    ADD_FAILURE() << "no grade of " << student;
    return nullptr;
  }

  fs::path folder_;
  course::Course course_;
  BatchRequest request_;
  std::atomic<int> runs_ = 0;
};

}  // namespace membound::queue
