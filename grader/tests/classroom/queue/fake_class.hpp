// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A course and a class on disk for tests of grading that need no compiler and no device: a verdict
/// follows from the text alone, in no time.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "grader/base/digest.hpp"
#include "grader/classroom/queue/batch.hpp"

namespace membound::queue {

inline void write_text(const std::filesystem::path& file, const std::string& text) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << text;
}

/// Makes root/ (a course with the lab 01-quick, as if it were built) and in/ (students s000, s001,
/// …, of whom every seventh hands in the text of the one before, and every eleventh a pipe's name).
inline void make_fake_class(const std::filesystem::path& folder, int students) {
  const auto root = folder / "root";
  for (const char* file :
       {"labs/01-quick/lab.json", "labs/01-quick/kernel.cuh", "labs/01-quick/test",
        "labs/01-quick/reference.fatbin", "grader/harness/harness.fatbin", "vgpu/libcudart.so.13",
        "libexec/membound_runner", "forward/libcudart.so.13",
        "grader/harness/student/membound.cuh"})
    write_text(root / file, file);
  for (int i = 0; i < students; ++i) {
    char name[16];
    std::snprintf(name, sizeof name, "s%03d", i);
    const int text = i % 7 == 6 ? i - 1 : i;
    const char* const file = i % 11 == 10 ? "report.pdf" : "kernel.cu";
    write_text(folder / "in" / name / file,
               "__global__ void quick(int*);  // " + std::to_string(text) + "\n");
  }
}

inline course::Lab fake_lab(const std::filesystem::path& folder, const std::string& id) {
  course::Lab lab;
  lab.id = id;
  lab.folder = folder / "root" / "labs" / id;
  lab.stages.resize(1);
  lab.stages[0].number = 1;
  lab.stages[0].kernel = id.substr(3);
  lab.stages[0].points = 10;
  return lab;
}

inline course::Course fake_course(const std::filesystem::path& folder) {
  course::Course course;
  course.root = folder / "root";
  course.labs.push_back(fake_lab(folder, "01-quick"));
  return course;
}

/// Adds a lab as if it were built, whose kernel has the name after the number.
inline void add_fake_lab(const std::filesystem::path& folder, const std::string& id,
                         course::Course& course) {
  for (const char* file : {"lab.json", "kernel.cuh", "test", "reference.fatbin"})
    write_text(folder / "root" / "labs" / id / file, id + file);
  course.labs.push_back(fake_lab(folder, id));
}

/// PASS, FAIL_SLOW or FAIL_WRONG, with points and a ratio, by the submission's digest.
inline OneOutcome fake_grade(const OneRequest& request) {
  const std::string& digest = request.job->submission_sha256;
  const int number = std::stoi(digest.substr(0, 4), nullptr, 16);
  course::Result result;
  result.lab = request.lab->id;
  result.submission_sha256 = digest;
  result.seed = request.job->seed;
  result.device.name = "quick";
  course::StageResult stage;
  stage.lab = result.lab;
  stage.stage = 1;
  stage.verdict = number % 3 == 0   ? course::Verdict::kPassed
                  : number % 3 == 1 ? course::Verdict::kSlow
                                    : course::Verdict::kWrong;
  stage.correct = number % 3 != 2;
  stage.ratio = static_cast<double>(number) / 65536;
  stage.points = stage.correct ? number % 10 : 0;
  stage.max_points = 10;
  result.stages.push_back(stage);
  OneOutcome outcome;
  outcome.grade.digests = request.planned->digests;
  outcome.grade.limits_in_force = request.limits;
  outcome.grade.seed_key = request.job->seed_key;
  outcome.grade.take(std::move(result), *request.lab);
  outcome.grade.graded_at = now_text();
  return outcome;
}

/// The same as if a virtual GPU had predicted the ratios, and audits of it: of the passed texts
/// those whose digest's number is even are wrong where they are run whole.
inline OneOutcome fake_predicted(const OneRequest& request) {
  OneOutcome outcome = fake_grade(request);
  course::Grade& grade = outcome.grade;
  grade.device = "vgpu:quick";
  if (request.job->audited_stage == 0) return outcome;
  course::Result result = std::move(grade.result);
  course::StageResult& stage = result.stages.front();
  const int number = std::stoi(request.job->submission_sha256.substr(0, 4), nullptr, 16);
  const bool right = number % 2 != 0;
  stage.verdict = right ? course::Verdict::kPassed : course::Verdict::kWrong;
  stage.correct = right;
  if (!right) stage.findings.push_back({"failed-test", "out[7] is 1 instead of 2", "", "", "", 0});
  grade.audit = course::Audit{1, {{1, stage.verdict, right ? "" : "out[7] is 1 instead of 2", 0}}};
  grade.take(std::move(result), *request.lab);
  grade.device = "vgpu:quick";
  return outcome;
}

/// A batch over the class; `course` must outlive it.
inline BatchRequest fake_batch(const std::filesystem::path& folder, const course::Course& course,
                               const std::filesystem::path& out) {
  BatchRequest request;
  request.out = out;
  request.intake.sources = {folder / "in"};
  request.settings.course = &course;
  request.settings.place = {course.root, course.root, {}};
  request.settings.device = judge::virtual_gpu("h200", course.root);
  request.settings.version = "test";
  request.settings.trust_submissions = true;
  request.seed = 1;
  request.grade_one = fake_grade;
  return request;
}

}  // namespace membound::queue
