// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/selftest/intake_case.hpp"

#include <sys/stat.h>

#include <functional>
#include <map>
#include <system_error>

#include "grader/base/files.hpp"
#include "grader/classroom/intake/intake.hpp"
#include "grader/classroom/intake/store.hpp"
#include "grader/classroom/selftest/forged_date_case.hpp"
#include "grader/classroom/selftest/made_archive.hpp"

namespace membound::selftest {
namespace {

namespace fs = std::filesystem;

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
