// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/base/failpoint.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <string>

#include "grader/base/result.hpp"

namespace membound::base {
namespace {

/// Three for each kind of file that is written durably (see files.cpp), and those between
/// the steps of a batch.
constexpr std::array<std::string_view, 26> kNames = {
    "key.begin",        "key.written",    "key.renamed",    "store.begin",
    "store.written",    "store.renamed",  "plan.begin",     "plan.written",
    "plan.renamed",     "ledger.created", "ledger.planned", "ledger.reconciled",
    "job.before_lease", "job.leased",     "job.compiled",   "job.judged",
    "result.begin",     "result.written", "result.renamed", "ledger.before_commit",
    "ledger.committed", "report.begin",   "report.written", "report.renamed",
    "ledger.swept",     "batch.done"};

#ifdef MEMBOUND_FAILPOINTS

/// What MEMBOUND_FAILPOINT asks for.
struct Wanted {
  std::string name;
  int passes = 1;
  bool full = false;
};

Wanted read_wish() {
  Wanted wanted;
  const char* const text = std::getenv("MEMBOUND_FAILPOINT");
  if (text == nullptr) return wanted;
  wanted.name = text;
  if (const auto place = wanted.name.find("=full"); place != std::string::npos) {
    wanted.full = true;
    wanted.name.erase(place);
  }
  if (const auto place = wanted.name.find(':'); place != std::string::npos) {
    wanted.passes = std::max(1, std::atoi(wanted.name.c_str() + place + 1));
    wanted.name.erase(place);
  }
  return wanted;
}

#endif

}  // namespace

std::span<const std::string_view> failpoints() { return kNames; }

bool has_failpoints() {
#ifdef MEMBOUND_FAILPOINTS
  return true;
#else
  return false;
#endif
}

bool failpoint([[maybe_unused]] std::string_view name) {
#ifdef MEMBOUND_FAILPOINTS
  const Wanted wanted = read_wish();
  static std::atomic<int> passed = 0;
  MEMBOUND_CHECK(std::find(kNames.begin(), kNames.end(), name) != kNames.end());
  if (wanted.name != name || ++passed != wanted.passes) return false;
  if (!wanted.full) kill(getpid(), SIGKILL);
  errno = ENOSPC;
  return true;
#else
  return false;
#endif
}

namespace {

#ifdef MEMBOUND_FAILPOINTS
constexpr bool kHasSwitches = true;
#else
constexpr bool kHasSwitches = false;
#endif

}  // namespace

bool has_switches() { return kHasSwitches; }

bool switched_off(std::string_view defence) {
  if (!kHasSwitches) return false;
  const char* const value = std::getenv("MEMBOUND_SWITCH_OFF");
  if (value == nullptr) return false;
  const std::string list = "," + std::string(value) + ",";
  return list.find("," + std::string(defence) + ",") != std::string::npos;
}

}  // namespace membound::base
