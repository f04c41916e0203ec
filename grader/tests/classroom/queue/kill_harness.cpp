// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Kills a grader again and again, at random moments and at every named failpoint, lets the disk be
/// full at each of them, and proves after each kill and each finished batch that no verdict was
/// lost, doubled or changed and that the tables are byte for byte those of an undisturbed batch.
///
///   kill_harness KILLS [SEED]            prints a table; exit code 0: all held
///   kill_harness --victim FOLDER OUT     the grader that is killed: a real batch with quick jobs
#include <fcntl.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <map>
#include <random>
#include <thread>

#include "grader/base/failpoint.hpp"
#include "grader/tests/classroom/queue/fake_class.hpp"

namespace {

namespace fs = std::filesystem;
using namespace membound;
using namespace membound::queue;

constexpr int kStudents = 24;
constexpr int kWorkers = 2;
/// An undisturbed batch takes about this long, so that a random moment lies anywhere in it.
constexpr int kLongestUs = 120'000;

int victim(const fs::path& folder, const fs::path& out) {
  const course::Course course = fake_course(folder);
  BatchRequest request = fake_batch(folder, course, out);
  request.workers = kWorkers;
  // Random kills hit innocent jobs; that quarantine works is ledger_test's to show.
  request.ledger.quarantine_after = 1 << 30;
  request.audit = true;
  request.grade_one = [](const OneRequest& one) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const bool full = base::failpoint("job.compiled");
    OneOutcome outcome = fake_predicted(one);
    if (full) outcome.grade.end(course::GradeVerdict::kInfraError, "full", *one.lab);
    return outcome;
  };
  const auto summary = run_batch(request);
  if (!summary) {
    std::fprintf(stderr, "%s\n", base::to_string(summary.error()).c_str());
    return 3;
  }
  return 0;
}

std::string content(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// Files of a folder by name, half-written ones left out.
std::map<std::string, std::string> files_in(const fs::path& folder) {
  std::map<std::string, std::string> files;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with('.')) files[name] = content(entry->path());
  }
  return files;
}

/// What people and programs are given.
std::map<std::string, std::string> tables_of(const fs::path& out) {
  auto files = files_in(out / "students");
  files["grades.csv"] = content(out / "grades.csv");
  return files;
}

class Harness {
 public:
  Harness(std::string program, unsigned seed) : program_(std::move(program)), random_(seed) {
    std::string pattern = (fs::temp_directory_path() / "membound-kill-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    make_fake_class(folder_, kStudents);
    out_ = folder_ / "out";
    setenv("SOURCE_DATE_EPOCH", "1795241893", 1);
  }
  ~Harness() {
    if (!keep_) fs::remove_all(folder_);
  }
  Harness(const Harness&) = delete;
  Harness& operator=(const Harness&) = delete;

  int run(int kills) {
    if (start("", folder_ / "clean", -1) != 0) return fail("the undisturbed batch failed");
    expected_ = tables_of(folder_ / "clean");
    int round = 0;
    while (kills_ < kills && !failed_) {
      const auto points = base::failpoints();
      // Half of the kills at named points, the others at random moments.
      if (base::has_failpoints() && round % 2 == 0)
        at_point(std::string(points[static_cast<std::size_t>(round / 2) % points.size()]), false);
      else
        at_random();
      if (base::has_failpoints() && round % 10 == 0)
        at_point(std::string(points[static_cast<std::size_t>(round / 10) % points.size()]), true);
      ++round;
    }
    if (!failed_) finish_batch();
    if (!failed_) tiny_disk();
    std::printf(
        "kills %d (random %d, at failpoints %d), full disk %d, batches finished and "
        "compared %d, results checked %ld, tiny tmpfs %s: %s\n",
        kills_, random_kills_, point_kills_, full_, batches_, checked_, tmpfs_.c_str(),
        failed_ ? "FAILED" : "no verdict lost, doubled or changed");
    return failed_ ? 1 : 0;
  }

 private:
  int fail(const std::string& why) {
    std::fprintf(stderr, "%s\n", why.c_str());
    failed_ = true;
    return 1;
  }

  /// Starts a victim; kills it after `delay_us` unless that is negative. Returns its exit code, or
  /// minus the signal that ended it.
  int start(const std::string& point, const fs::path& out, int delay_us) {
    const pid_t child = fork();
    if (child == 0) {
      if (!point.empty()) setenv("MEMBOUND_FAILPOINT", point.c_str(), 1);
      const int nowhere = open("/dev/null", O_WRONLY);
      if (delay_us >= 0 || !point.empty()) dup2(nowhere, 2);
      execl(program_.c_str(), program_.c_str(), "--victim", folder_.c_str(), out.c_str(), nullptr);
      _exit(127);
    }
    if (delay_us >= 0) {
      usleep(static_cast<useconds_t>(delay_us));
      kill(child, SIGKILL);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
  }

  void at_point(const std::string& name, bool full) {
    const int pass = 1 + static_cast<int>(random_() % 6);
    const std::string point =
        full ? name + "=full" : name + (pass > 1 ? ":" + std::to_string(pass) : "");
    const int ended = start(point, out_, -1);
    if (ended == -SIGKILL) {
      ++kills_;
      ++point_kills_;
    }
    if (full) ++full_;
    after(ended);
  }

  void at_random() {
    const int ended = start("", out_, static_cast<int>(random_() % kLongestUs));
    if (ended == -SIGKILL) {
      ++kills_;
      ++random_kills_;
    }
    after(ended);
  }

  /// What was decided before stays as it is; what is finished is compared.
  void after(int ended) {
    const auto now = files_in(out_ / "results");
    for (const auto& [name, text] : results_) {
      const auto found = now.find(name);
      if (found == now.end())
        fail("results/" + name + " was lost");
      else if (found->second != text)
        fail("results/" + name + " was changed");
    }
    checked_ += static_cast<long>(now.size());
    results_ = now;
    if (ended == 0) compare();
  }

  void compare() {
    ++batches_;
    const auto found = ledger::verify(out_);
    if (!found) {
      fail("cannot verify: " + base::to_string(found.error()));
    } else {
      for (const std::string& problem : found->problems) fail(problem);
      const auto clean = ledger::verify(folder_ / "clean");
      if (!clean || found->verdicts != clean->verdicts || found->audits != clean->audits)
        fail(std::to_string(found->verdicts) + " verdicts and " + std::to_string(found->audits) +
             " audits: some are doubled or missing");
    }
    if (tables_of(out_) != expected_) {
      fail("the tables are not those of the undisturbed batch, which are left in " +
           folder_.string());
      keep_ = true;
    }
    if (failed_) return;
    fs::remove_all(out_);
    results_.clear();
  }

  void finish_batch() {
    if (const int ended = start("", out_, -1); ended != 0)
      fail("the last batch does not finish: " + std::to_string(ended));
    else
      after(ended);
  }

  /// A file system that is really full, at whatever step that happens, and then larger.
  void tiny_disk() {
    const fs::path disk = folder_ / "disk";
    fs::create_directories(disk);
    for (int kilobytes = 16; kilobytes <= 256 && !failed_; kilobytes += 12) {
      const std::string size = "size=" + std::to_string(kilobytes) + "k";
      if (mount("tmpfs", disk.c_str(), "tmpfs", 0, size.c_str()) != 0) {
        tmpfs_ = "not tried (no right to mount)";
        return;
      }
      const fs::path whole_disk_out = out_;
      out_ = disk / "out";
      const int ended = start("none", out_, -1);
      tmpfs_runs_ += ended == 0 ? 0 : 1;
      mount("tmpfs", disk.c_str(), "tmpfs", MS_REMOUNT, "size=64m");
      finish_batch();
      out_ = whole_disk_out;
      umount(disk.c_str());
    }
    tmpfs_ = std::to_string(tmpfs_runs_) + " times full, then finished";
  }

  std::string program_;
  std::mt19937 random_;
  fs::path folder_, out_;
  std::map<std::string, std::string> expected_, results_;
  int kills_ = 0, random_kills_ = 0, point_kills_ = 0, full_ = 0, batches_ = 0, tmpfs_runs_ = 0;
  long checked_ = 0;
  std::string tmpfs_ = "not tried";
  bool failed_ = false, keep_ = false;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc == 4 && std::string(argv[1]) == "--victim") return victim(argv[2], argv[3]);
  if (argc < 2) {
    std::fprintf(stderr, "kill_harness KILLS [SEED]\n");
    return 2;
  }
  const unsigned seed = argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 20261121U;
  return Harness(fs::read_symlink("/proc/self/exe").string(), seed).run(std::atoi(argv[1]));
}
