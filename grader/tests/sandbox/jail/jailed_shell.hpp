// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A shell in a jail, and a look at what a run may have left on the machine.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "grader/sandbox/jail/bubblewrap.hpp"
#include "grader/sandbox/jail/cgroup.hpp"
#include "grader/sandbox/jail/jail.hpp"

namespace membound::jail {

/// Skips its tests on a machine that can make no jail, and says why.
class JailedShell : public testing::Test {
 protected:
  void SetUp() override {
    if (!probe().untrusted_ok()) GTEST_SKIP() << probe().describe();
  }

  static JailOutcome shell(const std::string& text, JailRequest request = {}) {
    request.arguments = {"/bin/sh", "-c", text};
    const auto outcome = run(request);
    EXPECT_TRUE(outcome) << base::to_string(outcome.error());
    return outcome ? *outcome : JailOutcome{};
  }

  /// Processes of jails (whoever made them) and of ours but this one, the number of mounts, and our
  /// control groups.
  static std::set<std::string> leftovers() {
    std::set<std::string> all;
    std::error_code error;
    const std::string self = std::to_string(getpid());
    for (std::filesystem::directory_iterator entry("/proc", error), end; entry != end;
         entry.increment(error)) {
      std::ifstream status(entry->path() / "status");
      std::string name, parent, uid;
      for (std::string line; std::getline(status, line);) {
        if (line.starts_with("Name:")) name = line;
        if (line.starts_with("PPid:")) parent = line;
        if (line.starts_with("Uid:")) uid = line;
      }
      if (parent == "PPid:\t" + self || uid.starts_with("Uid:\t6"))
        all.insert("process " + entry->path().filename().string() + " " + name);
    }
    std::ifstream mounts("/proc/self/mountinfo");
    std::size_t count = 0;
    for (std::string line; std::getline(mounts, line);) ++count;
    all.insert("mounts " + std::to_string(count));
    const CgroupPlaces& places = machine_setup().cgroups;
    for (const auto& folder : {places.memory, places.processes, places.cpu}) {
      if (folder.empty()) continue;
      for (std::filesystem::directory_iterator entry(folder, error), end; entry != end;
           entry.increment(error))
        if (entry->path().filename().string().starts_with("membound-" + self))
          all.insert(entry->path());
    }
    return all;
  }

  /// What is there by now and was not before; what another grader's jails have ended is not told.
  static std::set<std::string> left_since(const std::set<std::string>& before) {
    std::set<std::string> left;
    const std::set<std::string> now = leftovers();
    std::set_difference(now.begin(), now.end(), before.begin(), before.end(),
                        std::inserter(left, left.end()));
    return left;
  }
};

}  // namespace membound::jail
