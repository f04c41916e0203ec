// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/queue/heartbeat.hpp"

#include <unistd.h>

#include <array>
#include <chrono>
#include <sstream>

#include "grader/base/files.hpp"
#include "grader/base/strings.hpp"
#include "grader/classroom/queue/chunks.hpp"

namespace membound::queue {
namespace {

constexpr const char* kAlive = "alive";
constexpr const char* kDone = "done";
constexpr const char* kFailed = "failed";

std::string host() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "?";
}

}  // namespace

std::filesystem::path beat_file(const std::filesystem::path& out, const std::string& job,
                                int task) {
  return slurm_folder(out) / "beats" / (job + "_" + std::to_string(task));
}

std::optional<Beat> read_beat(const std::filesystem::path& file) {
  const auto text = base::read_file(file);
  if (!text) return std::nullopt;
  Beat beat{*text};
  std::istringstream words(*text);
  std::string count, state;
  words >> count >> state >> beat.node;
  beat.ended = state == kDone || state == kFailed;
  if (state == kFailed) std::getline(words >> std::ws, beat.reason);
  return beat;
}

Heartbeat::Heartbeat(std::filesystem::path file, double seconds) : file_(std::move(file)) {
  write(kAlive);
  thread_ = std::thread([this, seconds] { keep_beating(seconds); });
}

Heartbeat::~Heartbeat() {
  {
    const std::lock_guard guard(mutex_);
    over_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Heartbeat::end(const std::string& reason) {
  const std::lock_guard guard(mutex_);
  if (over_) return;
  over_ = true;
  wake_.notify_one();
  // One line: readers take what stands behind the node.
  write(reason.empty() ? kDone
                       : std::string(kFailed) + " " + host() + " " +
                             base::printable(reason.substr(0, reason.find('\n'))));
}

void Heartbeat::write(const std::string& state) {
  const bool has_node = state.find(' ') != std::string::npos;
  // A folder that cannot be written to loses the results too, which says so.
  static_cast<void>(base::write_file(
      file_, std::to_string(++count_) + " " + state + (has_node ? "" : " " + host()) + "\n"));
}

void Heartbeat::keep_beating(double seconds) {
  std::unique_lock guard(mutex_);
  while (!wake_.wait_for(guard, std::chrono::duration<double>(seconds), [this] { return over_; }))
    write(kAlive);
}

}  // namespace membound::queue
