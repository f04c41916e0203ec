// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/judge/state.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <system_error>

#include "grader/base/files.hpp"
#include "grader/course/json_io.hpp"

namespace membound::judge {
namespace {

using nlohmann::json;

std::filesystem::path file_of(const std::filesystem::path& folder, const std::string& lab,
                              int stage) {
  return folder / lab / (std::to_string(stage) + ".json");
}

}  // namespace

StageState StateFolder::read(const std::string& lab, int stage) const {
  const auto text = base::read_file(file_of(folder_, lab, stage));
  if (!text) return {};
  try {
    const json in = json::parse(*text);
    StageState state;
    if (in.contains("last") && !in["last"].is_null())
      state.last = in["last"].get<course::StageResult>();
    course::read_field(in, "checked_at", state.checked_at);
    course::read_field(in, "submission_sha256", state.submission_sha256);
    course::read_field(in, "best_points", state.best_points);
    course::read_field(in, "ever_passed", state.ever_passed);
    course::read_field(in, "hints_used", state.hints_used);
    course::read_field(in, "predicted", state.predicted);
    return state;
  } catch (const json::exception&) {
    return {};
  }
}

base::Status StateFolder::write(const std::string& lab, int stage, const StageState& state) const {
  json out = {{"last", nullptr},
              {"checked_at", state.checked_at},
              {"submission_sha256", state.submission_sha256},
              {"best_points", state.best_points},
              {"ever_passed", state.ever_passed},
              {"hints_used", state.hints_used}};
  if (state.last) out["last"] = *state.last;
  if (state.predicted) out["predicted"] = *state.predicted;
  return base::write_file(file_of(folder_, lab, stage), course::dump_safely(out) + "\n");
}

base::Status StateFolder::remember(const course::Result& result) const {
  for (const course::StageResult& stage : result.stages) {
    StageState state = read(stage.lab, stage.stage);
    state.last = stage;
    for (course::Timing& timing : state.last->timings) {
      timing.student_ns.clear();
      timing.reference_ns.clear();
    }
    // Pictures are a page's: a check that makes none remembers the same.
    for (course::KernelProfile& profile : state.last->profiles) {
      profile.accesses.clear();
      profile.traced_block = {};
      profile.traced_warp = 0;
      profile.traced_label.clear();
    }
    state.checked_at = result.created_at;
    state.submission_sha256 = result.submission_sha256;
    state.best_points = std::max(state.best_points, stage.points);
    state.ever_passed = state.ever_passed || stage.passed();
    const auto written = write(stage.lab, stage.stage, state);
    if (!written) return written.error();
  }
  return base::Done{};
}

void StateFolder::forget(const std::string& lab) const {
  std::error_code ignored;
  std::filesystem::remove_all(folder_ / lab, ignored);
}

void StateFolder::forget(const std::string& lab, int stage) const {
  std::error_code ignored;
  std::filesystem::remove(file_of(folder_, lab, stage), ignored);
}

}  // namespace membound::judge
