// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/selftest/forged_date_case.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <functional>
#include <map>
#include <system_error>

#include "grader/base/files.hpp"
#include "grader/classroom/intake/intake.hpp"
#include "grader/classroom/intake/late.hpp"
#include "grader/classroom/selftest/made_archive.hpp"

namespace membound::selftest {
namespace {

namespace fs = std::filesystem;

const std::string kKernel = "__global__ void reverse_direct(float*);\n";
constexpr std::int64_t kForged = 1793491200;   // 2026-11-01T00:00:00Z
constexpr std::int64_t kArrived = 1795608000;  // 2026-11-25T12:00:00Z

void set_time(const fs::path& file, std::int64_t time) {
  const timespec times[2] = {{time, 0}, {time, 0}};
  static_cast<void>(utimensat(AT_FDCWD, file.c_str(), times, 0));
}

/// An archive of one kernel of 1 November; it came on the 25th.
void arrive(const fs::path& file) {
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  { MadeArchive(file).file("kernel.cu", kKernel, 0644, kForged); }
  set_time(file, kArrived);
}

std::string bytes_of(const fs::path& file) {
  const auto text = base::read_file(file);
  std::error_code error;
  fs::remove(file, error);
  return text ? *text : "";
}

/// Writes what was handed in into the folder. Returns what the platform recorded, as a CSV; "" for
/// nothing, where the time of arrival must count.
using Forger = std::function<std::string(const fs::path& given)>;

const std::map<std::string, Forger>& forgers() {
  static const std::map<std::string, Forger> all = {
      {"date-in-tar",
       [](const fs::path& given) {
         arrive(given / "alice" / "work.tar.gz");
         return "";
       }},
      {"date-in-zip",
       [](const fs::path& given) {
         arrive(given / "alice.zip");
         return "";
       }},
      {"date-in-nested-archive",
       [](const fs::path& given) {
         arrive(given / "inner.tar.gz");
         const std::string inner = bytes_of(given / "inner.tar.gz");
         { MadeArchive(given / "alice.zip").file("inner.tar.gz", inner, 0644, kForged); }
         set_time(given / "alice.zip", kArrived);
         return "";
       }},
      {"date-in-canvas-export",
       [](const fs::path& given) {
         arrive(given / "doejane_4711_100_work.zip");
         return "";
       }},
      {"date-in-moodle-export",
       [](const fs::path& given) {
         arrive(given / "Jane Doe_123_assignsubmission_file_" / "work.zip");
         return "";
       }},
      {"date-in-class-archive",
       [](const fs::path& given) {
         arrive(given / "alice.zip");
         const std::string alice = bytes_of(given / "alice.zip");
         // The platform made the outer one: its members' dates are the platform's.
         MadeArchive export_file(given / "export.zip");
         export_file.file("alice.zip", alice, 0644, kArrived);
         export_file.file("bob.cu", kKernel, 0644, kArrived);
         return "";
       }},
      {"date-of-touched-file",
       [](const fs::path& given) {
         static_cast<void>(base::write_file(given / "alice" / "kernel.cu", kKernel));
         set_time(given / "alice" / "kernel.cu", kForged);
         return "id,lab,submitted_at\nalice,01-reverse-array,2026-11-25T12:00:00Z\n";
       }},
      {"date-of-commit",
       [](const fs::path& given) {
         for (const char* clone : {"lab1-octo", "lab1-cat"}) {
           static_cast<void>(base::write_file(given / clone / ".git" / "HEAD", "ref"));
           static_cast<void>(base::write_file(given / clone / "kernel.cu", kKernel));
           set_time(given / clone / "kernel.cu", kForged);
         }
         return "assignment_name,github_username,roster_identifier,submission_timestamp\n"
                "Lab 1,octo,s1,2026-11-25 12:00:00 UTC\nLab 1,cat,s2,2026-11-25 12:00:00 UTC\n";
       }},
  };
  return all;
}

}  // namespace

bool forges_a_date(const Case& one) { return forgers().contains(one.generator); }

base::Result<CaseOutcome> forged_date_case(const fs::path& scratch, const Case& one) {
  const fs::path folder = scratch / "intake" / fs::path(one.id).filename();
  std::error_code error;
  fs::remove_all(folder, error);
  fs::create_directories(folder / "given", error);
  const std::string record = forgers().at(one.generator)(folder / "given");

  intake::IntakeRequest request;
  request.sources = {folder / "given"};
  if (fs::exists(folder / "given" / "export.zip", error))
    request.sources = {folder / "given" / "export.zip"};
  course::Lab lab;
  lab.id = "01-reverse-array";
  lab.stages.resize(1);
  lab.stages[0].kernel = "reverse_direct";
  request.labs = {lab};
  request.lab = lab.id;
  request.out = folder / "out";
  if (!record.empty()) {
    auto times = intake::read_time_records(record, "times.csv", request.lab, request.labs);
    if (!times) return times.error();
    request.times = *std::move(times);
  }
  const auto taken = intake::take_in(request);
  CaseOutcome outcome;
  outcome.got = taken && !taken->submissions.empty() ? "SAFE" : "REFUSED";
  if (!taken) outcome.detail = taken.error().found;
  if (taken)
    for (const intake::Submission& submission : taken->submissions) {
      outcome.detail += submission.student + " " + intake::utc_text(submission.time) + "; ";
      if (submission.refused)
        outcome.got = "REFUSED";
      else if (submission.time != kArrived)
        outcome.got = "FORGED";
    }
  fs::remove_all(folder, error);
  return outcome;
}

}  // namespace membound::selftest
