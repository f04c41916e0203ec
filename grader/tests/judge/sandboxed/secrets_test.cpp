// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The process that runs a submission never holds the right answer, unless the submission works it
/// out. The submission here is right for small matrices and writes nothing for the timed ones; from
/// outside, the memory of each process is searched for a stretch of the timed run's expected
/// output, all the time while it runs.
#include <atomic>
#include <csignal>
#include <cstring>
#include <set>
#include <thread>

#include "grader/base/values.cuh"
#include "grader/harness/cases/data.hpp"
#include "grader/tests/judge/sandboxed/processes.hpp"
#include "grader/tests/judge/sandboxed/sandboxed_fixture.hpp"

namespace membound::judge {
namespace {

namespace fs = std::filesystem;
using harness::Seeds;

constexpr int kSize = 2048;  // rows and columns of the timed matrix on the virtual GPU
constexpr int kStage = 1;

/// The reference's first stage, except that it leaves large matrices alone.
std::string idle_when_timed(const fs::path& reference) {
  std::ifstream file(reference);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::string head = "transpose_row_per_thread(T* out, const T* in, int rows, int cols) {";
  const auto place = text.find(head);
  MEMBOUND_CHECK(place != std::string::npos);
  text.insert(place + head.size(), "\n  if (rows == " + std::to_string(kSize) + ") return;\n");
  return text;
}

/// Elements 0 to 15 of row 5 of the expected output: column 5 of the input.
std::string expected_stretch(std::uint64_t case_seed, const Seeds& seeds) {
  const std::uint64_t input_seed = seeds.derive(case_seed, 0);
  std::string bytes;
  for (unsigned long long row = 0; row < 16; ++row) {
    const float value = base::fill_value<float>(base::Fill::kUniform, input_seed, row * kSize + 5);
    bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  return bytes;
}

/// Searches processes of `program` in a thread until stopped; remembers who held the bytes. Those
/// of tests beside this one are left alone where `which` says so: a search of them all takes too
/// long.
class Searcher {
 public:
  enum class Which { kAll, kOurOwn };
  Searcher(fs::path program, std::string wanted, Which which = Which::kAll)
      : thread_([this, program = std::move(program), wanted = std::move(wanted), which] {
          while (!stop_) {
            for (const int pid : processes_of(program)) {
              if (which == Which::kOurOwn && !is_our_own(pid)) continue;
              const std::string line = command_line(pid);
              if (line.empty()) continue;
              seen.insert(line);
              if (holders.contains(line)) continue;
              // Stopped while it is searched: what it holds for a moment only is found, too.
              kill(pid, SIGSTOP);
              if (memory_holds(pid, wanted)) holders.insert(line);
              kill(pid, SIGCONT);
            }
            usleep(15'000);
          }
        }) {}
  void stop() {
    stop_ = true;
    thread_.join();
  }

  // Command lines, which tell the runners apart by their socket's number. Read after stop().
  std::set<std::string> seen, holders;

 private:
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

int socket_number(const std::string& line) {
  const std::string option = std::string("--socket") + '\0';
  const auto place = line.find(option);
  return place == std::string::npos ? -1 : std::atoi(line.c_str() + place + option.size());
}

class Secrets : public Sandboxed {
 protected:
  void SetUp() override {
    request_ = request_for(
        "03-transpose", kernel_of(idle_when_timed(source() / "solutions/03-transpose/kernel.cu")));
    request_.stages = {kStage};
    request_.more_arguments = {"--size", std::to_string(kSize) + "x" + std::to_string(kSize)};
  }
  CheckRequest request_;
};

// The switch-off test: this is what the next one protects from.
TEST_F(Secrets, OneProcessHoldsTheExpectedOutputBesideTheSubmission) {
  const std::uint64_t case_seed = Seeds().derive(request_.seed, 0);
  Searcher searcher(build() / "labs/03-transpose/test", expected_stretch(case_seed, Seeds()),
                    Searcher::Which::kOurOwn);
  const course::Result result = run(request_);
  searcher.stop();
  ASSERT_EQ(result.stages.size(), 1U);
  EXPECT_EQ(course::to_string(result.stages[0].verdict), "wrong");
  EXPECT_FALSE(searcher.holders.empty());
}

TEST_F(Secrets, ASubmissionsRunnerNeverHoldsTheExpectedOutput) {
  sandbox(request_);
  // A copy: its name tells these runners from those of other tests.
  const fs::path runner = folder_.path() / "membound_runner";
  fs::copy_file(request_.sandbox->runner, runner);
  request_.sandbox->runner = runner;
  const Seeds seeds(*harness::parse_seed_key(request_.sandbox->seed_key));
  const std::uint64_t case_seed = seeds.derive(seeds.derive(request_.seed, kStage), 0);
  Searcher searcher(runner, expected_stretch(case_seed, seeds));
  const course::Result result = run(request_);
  searcher.stop();
  ASSERT_EQ(result.stages.size(), 1U);
  EXPECT_EQ(course::to_string(result.stages[0].verdict), "wrong");
  ASSERT_EQ(searcher.seen.size(), 2U);
  // The reference's runner, whose socket was made first, does hold it: the search is able to find.
  ASSERT_EQ(searcher.holders.size(), 1U);
  int least = socket_number(*searcher.seen.begin());
  for (const std::string& line : searcher.seen) least = std::min(least, socket_number(line));
  EXPECT_EQ(socket_number(*searcher.holders.begin()), least);
}

/// A key as it stands in memory.
std::string bytes_of_key(const harness::SeedKey& key) {
  return {reinterpret_cast<const char*>(key.data()), sizeof key};
}

// Of a launch that is timed by some of its blocks a runner draws the inputs, so that it holds their
// seeds. It touches little of 2 GiB, which makes looking at all of it quick; of larger sizes there
// is more to look at than its deadline allows.
TEST_F(Sandboxed, NoRunnerHoldsTheKeyThatAllSeedsFollowFrom) {
  CheckRequest request =
      request_for("01-reverse-array", source() / "solutions/01-reverse-array/kernel.cu");
  request.stages = {3};
  request.more_arguments = {"--gtest_filter=-*.PositionsBeyond32Bits"};
  sandbox(request);
  const fs::path runner = folder_.path() / "membound_runner";
  fs::copy_file(request.sandbox->runner, runner);
  request.sandbox->runner = runner;
  const std::string key = bytes_of_key(*harness::parse_seed_key(request.sandbox->seed_key));
  Searcher in_runners(runner, key), in_judge(build() / "labs/01-reverse-array/test", key);
  const course::Result result = run(request);
  in_runners.stop();
  in_judge.stop();
  ASSERT_EQ(result.stages.size(), 1U);
  EXPECT_EQ(course::to_string(result.stages[0].verdict), "passed");
  EXPECT_EQ(in_runners.seen.size(), 2U);
  EXPECT_TRUE(in_runners.holders.empty());
  EXPECT_FALSE(in_judge.holders.empty()) << "the search is able to find";
}

}  // namespace
}  // namespace membound::judge
