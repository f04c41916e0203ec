// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A real Slurm for one test program, see cluster.sh.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>

namespace membound::slurm {

/// Started in its own folder, with ports of its own; gone when it is destroyed.
class Cluster {
 public:
  /// `start`: "start" for one node, "two" for two.
  explicit Cluster(const std::string& start = "start") {
    std::string pattern = std::filesystem::temp_directory_path() / "membound-slurm-XXXXXX";
    folder_ = mkdtemp(pattern.data());
    // Ports below the range of outgoing connections, apart for programs that run side by side.
    const int port = 17000 + 2 * (getpid() % 6000);
    EXPECT_EQ(control(start, std::to_string(port)), 0);
    setenv("SLURM_CONF", (folder_ / "slurm.conf").c_str(), 1);
  }
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;
  ~Cluster() {
    control("stop", "");
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }

  /// "controller" and "node" kill that daemon and start it again.
  int control(const std::string& verb, const std::string& argument) const {
    return run("bash '" MEMBOUND_CLUSTER_SCRIPT "' " + verb + " '" + folder_.string() + "' " +
               argument + " >/dev/null 2>&1");
  }

  static int run(const std::string& command) { return std::system(command.c_str()); }

 private:
  std::filesystem::path folder_;
};

/// Waits until `done`, at most a minute.
inline bool await(const std::function<bool()>& done) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!done()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return true;
}

}  // namespace membound::slurm
