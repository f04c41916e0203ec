// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/selftest/run_case.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <system_error>

#include <archive.h>
#include <archive_entry.h>

#include "grader/base/files.hpp"
#include "grader/classroom/intake/course_rules.hpp"
#include "grader/classroom/intake/entries.hpp"
#include "grader/classroom/intake/intake.hpp"

namespace membound::selftest {
namespace {

/// Writes one file: a zip by that ending, else a tar.gz.
class MadeArchive {
 public:
  explicit MadeArchive(const std::filesystem::path& file);

  /// `time`: seconds since 1970, what the member says of its date.
  void file(const std::string& name, const std::string& text, unsigned mode = 0644,
            std::int64_t time = 0);
  void zeros(const std::string& name, std::size_t bytes);
  void symlink(const std::string& name, const std::string& to);
  void hard_link(const std::string& name, const std::string& to);
  void fifo(const std::string& name);

 private:
  void entry(const std::string& name, unsigned type, unsigned mode, std::size_t size,
             const std::string& link, const std::string& hard, std::int64_t time = 0);
  std::unique_ptr<archive, decltype(&archive_write_free)> writer_;
};

MadeArchive::MadeArchive(const std::filesystem::path& file)
    : writer_(archive_write_new(), archive_write_free) {
  if (file.extension() == ".zip") {
    archive_write_set_format_zip(writer_.get());
  } else {
    archive_write_set_format_pax_restricted(writer_.get());
    archive_write_add_filter_gzip(writer_.get());
  }
  archive_write_open_filename(writer_.get(), file.c_str());
}

void MadeArchive::file(const std::string& name, const std::string& text, unsigned mode,
                       std::int64_t time) {
  entry(name, AE_IFREG, mode, text.size(), "", "", time);
  archive_write_data(writer_.get(), text.data(), text.size());
}

void MadeArchive::zeros(const std::string& name, std::size_t bytes) {
  entry(name, AE_IFREG, 0644, bytes, "", "");
  const std::string block(std::size_t{1} << 20, '\0');
  for (std::size_t done = 0; done < bytes; done += block.size())
    archive_write_data(writer_.get(), block.data(), block.size());
}

void MadeArchive::symlink(const std::string& name, const std::string& to) {
  entry(name, AE_IFLNK, 0777, 0, to, "");
}

void MadeArchive::hard_link(const std::string& name, const std::string& to) {
  entry(name, AE_IFREG, 0644, 0, "", to);
}

void MadeArchive::fifo(const std::string& name) { entry(name, AE_IFIFO, 0644, 0, "", ""); }

void MadeArchive::entry(const std::string& name, unsigned type, unsigned mode, std::size_t size,
                        const std::string& link, const std::string& hard, std::int64_t time) {
  const std::unique_ptr<archive_entry, decltype(&archive_entry_free)> head(archive_entry_new(),
                                                                           archive_entry_free);
  archive_entry_set_pathname(head.get(), name.c_str());
  archive_entry_set_filetype(head.get(), type);
  archive_entry_set_perm(head.get(), mode);
  archive_entry_set_size(head.get(), static_cast<la_int64_t>(size));
  if (time != 0) archive_entry_set_mtime(head.get(), time, 0);
  if (!link.empty()) archive_entry_set_symlink(head.get(), link.c_str());
  if (!hard.empty()) archive_entry_set_hardlink(head.get(), hard.c_str());
  archive_write_header(writer_.get(), head.get());
}

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

/// Whether the case's generator is one of these.
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

constexpr const char* kHonest = "// reverse_direct: an honest submission\n";
constexpr const char* kSecret = "MEMBOUND-TEST-SECRET";
constexpr std::size_t kBombBytes = std::size_t{300} << 20;
/// More than is read of a file, and little enough to let it go off.
constexpr std::size_t kSmallBombBytes = std::size_t{24} << 20;

/// Where a case is tried: archives in `given`, a secret beside it.
struct Site {
  fs::path folder;
  [[nodiscard]] fs::path given() const { return folder / "given"; }
  [[nodiscard]] fs::path out() const { return folder / "out"; }
  [[nodiscard]] fs::path secret() const { return folder / "secret.cu"; }
  [[nodiscard]] fs::path archive() const { return given() / "student.tar.gz"; }
};

using Generator = std::function<void(const Site&)>;

const std::map<std::string, Generator>& generators() {
  static const std::map<std::string, Generator> all = {
      {"symlink",
       [](const Site& site) { MadeArchive(site.archive()).symlink("kernel.cu", site.secret()); }},
      {"symlinked-folder",
       [](const Site& site) {
         fs::create_directories(site.given() / "student");
         fs::create_symlink(site.secret(), site.given() / "student" / "kernel.cu");
       }},
      {"dot-dot",
       [](const Site& site) {
         MadeArchive archive(site.archive());
         archive.file("../../escaped.cu", kHonest);
         archive.file("kernel.cu", kHonest);
       }},
      {"fifo", [](const Site& site) { MadeArchive(site.archive()).fifo("kernel.cu"); }},
      {"fifo-in-folder",
       [](const Site& site) {
         fs::create_directories(site.given() / "student");
         mkfifo((site.given() / "student" / "kernel.cu").c_str(), 0644);
       }},
      {"setuid",
       [](const Site& site) { MadeArchive(site.archive()).file("kernel.cu", kHonest, 04755); }},
      {"hard-link",
       [](const Site& site) { MadeArchive(site.archive()).hard_link("kernel.cu", site.secret()); }},
      {"bomb",
       [](const Site& site) { MadeArchive(site.archive()).zeros("kernel.cu", kBombBytes); }},
      {"small-bomb",
       [](const Site& site) { MadeArchive(site.archive()).zeros("kernel.cu", kSmallBombBytes); }},
      {"many-members",
       [](const Site& site) {
         MadeArchive archive(site.archive());
         for (int i = 0; i < 20000; ++i) archive.file("f" + std::to_string(i) + ".cu", kHonest);
       }},
      {"control-characters",
       [](const Site& site) {
         MadeArchive archive(site.archive());
         archive.file("\033[2J\xe2\x80\xaekernel.cu", kHonest);
       }},
      {"control-characters-outside",
       [](const Site& site) {
         MadeArchive archive(site.given() / "student\033[2J\xe2\x80\xae.tar.gz");
         archive.file("kernel.cu", kHonest);
       }},
      {"option-name",
       [](const Site& site) {
         MadeArchive(site.archive())
             .file("-Xcompiler --version;touch escaped; @flags kernel.cu", kHonest);
       }},
      {"formula-name",
       [](const Site& site) {
         MadeArchive archive(site.given() / "=cmd|' -C calc'!A0<script>.tar.gz");
         archive.file("kernel.cu", kHonest);
       }},
      {"twin-names",
       [](const Site& site) {
         MadeArchive archive(site.archive());
         archive.file("KERNEL.cu", std::string(kHonest) + kSecret);
         archive.file("kernel.cu", kHonest);
       }},
      {"swapped-later",
       [](const Site& site) {
         fs::create_directories(site.given() / "student");
         (void)base::write_file(site.given() / "student" / "kernel.cu", kHonest);
       }},
  };
  return all;
}

course::Lab only_lab() {
  course::Lab lab;
  lab.id = "01-reverse-array";
  lab.stages.resize(1);
  lab.stages[0].number = 1;
  lab.stages[0].kernel = "reverse_direct";
  return lab;
}

/// Everything in the site but what belongs there.
bool escaped(const Site& site) {
  std::error_code error;
  for (fs::recursive_directory_iterator entry(site.folder, error), end; !error && entry != end;
       entry.increment(error))
    if (entry->path().filename().string().find("escaped") != std::string::npos) return true;
  return false;
}

bool has_control(const std::string& text) {
  for (const char one : text)
    if (static_cast<unsigned char>(one) < 0x20 || one == 0x7F) return true;
  return text.find("\xe2\x80\xae") != std::string::npos;
}

/// What is in the store of a submission that is to be graded.
std::string judge_taken(const std::string& text) {
  if (text == kHonest) return "SAFE";
  return text.size() > intake::ArchiveLimits{}.file_bytes ? "FILLED" : "LEAK";
}

std::string judge_intake(const Site& site, const intake::Intake& taken, std::string& detail) {
  std::string got = "REFUSED";
  const intake::Store store(site.out());
  for (const intake::Submission& one : taken.submissions) {
    for (const std::string& text : {one.student, one.name, one.origin, one.note})
      if (has_control(text)) return "LEAK";
    detail += one.refused.value_or("taken") + "; ";
    if (one.refused) continue;
    const auto text = store.get(one.sha256);
    got = text ? judge_taken(*text) : "LEAK";
    if (got != "SAFE") return got;
  }
  return escaped(site) ? "ESCAPED" : got;
}

}  // namespace

base::Result<CaseOutcome> intake_case(const fs::path& scratch, const Case& one) {
  if (forges_a_date(one)) return forged_date_case(scratch, one);
  const auto generator = generators().find(one.generator);
  if (generator == generators().end())
    return base::Error{base::ErrorKind::kInput, one.id, "no generator " + one.generator, "", ""};
  Site site{scratch / "intake" / fs::path(one.id).filename()};
  std::error_code error;
  fs::create_directories(site.given(), error);
  const auto written = base::write_file(site.secret(), std::string(kSecret) + " reverse_direct\n");
  if (!written) return written.error();
  generator->second(site);
  intake::IntakeRequest request;
  request.sources = {site.given()};
  request.labs = {only_lab()};
  request.lab = request.labs[0].id;
  request.out = site.out();
  request.limits = {};
  const auto taken = intake::take_in(request);
  CaseOutcome outcome;
  if (!taken) {
    outcome.got = "REFUSED";
    outcome.detail = taken.error().found;
  } else {
    if (one.generator == "swapped-later")
      (void)base::write_file(site.given() / "student" / "kernel.cu", kSecret);
    outcome.got = judge_intake(site, *taken, outcome.detail);
  }
  fs::remove_all(site.folder, error);
  return outcome;
}

}  // namespace membound::selftest
