// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/sandbox/jail/unjailed.hpp"

#include <algorithm>
#include <system_error>

#include "grader/base/files.hpp"
#include "grader/base/process.hpp"

namespace membound::jail {
namespace {

namespace fs = std::filesystem;

/// Turns paths of the inside into those of the outside.
class Outside {
 public:
  Outside(const JailRequest& request, const fs::path& scratch) : bindings_(request.bindings) {
    bindings_.push_back({scratch, request.scratch, true});
    // The program starts elsewhere.
    for (Binding& binding : bindings_) binding.outside = fs::absolute(binding.outside);
  }

  [[nodiscard]] std::string path(const std::string& inside) const {
    for (const Binding& binding : bindings_) {
      const std::string start = binding.inside.string();
      if (inside == start) return binding.outside.string();
      if (inside.starts_with(start + "/"))
        return binding.outside.string() + inside.substr(start.size());
    }
    return inside;
  }
  /// A path, a list of paths with ':' between, or any other text.
  [[nodiscard]] std::string text(const std::string& inside) const {
    std::string all;
    for (std::size_t start = 0;;) {
      const std::size_t end = std::min(inside.find(':', start), inside.size());
      all += path(inside.substr(start, end - start));
      if (end == inside.size()) return all;
      all += ':';
      start = end + 1;
    }
  }

 private:
  std::vector<Binding> bindings_;
};

std::map<std::string, std::string> collected(const JailRequest& request, const fs::path& scratch) {
  std::map<std::string, std::string> files;
  for (const fs::path& name : request.collected) {
    std::error_code ignored;  // a pipe would keep us waiting
    if (!fs::is_regular_file(scratch / name, ignored)) continue;
    if (auto text = base::read_file(scratch / name)) files[name] = *std::move(text);
  }
  return files;
}

}  // namespace

base::Result<JailOutcome> run_unjailed(const JailRequest& request) {
  const base::ScratchFolder scratch("unjailed");
  if (scratch.path().empty())
    return base::Error{base::ErrorKind::kMachine, "the folder for temporary files",
                       "no folder can be made in it", "a folder for a program's files",
                       "check $TMPDIR and that the disk is not full"};
  const Outside outside(request, scratch.path());
  base::ProcessRequest plain;
  for (const std::string& argument : request.arguments)
    plain.arguments.push_back(outside.text(argument));
  for (const auto& [name, value] : request.environment)
    plain.environment[name] = outside.text(value);
  plain.folder = outside.path(request.folder.string());
  plain.timeout_seconds = request.limits.wall_seconds;
  plain.output_limit_bytes = request.limits.output_bytes;
  plain.stop = request.stop;
  plain.keep_going = request.keep_going;
  plain.descriptors = request.descriptors;
  auto ended = base::run_process(plain);
  if (!ended) return ended.error();

  JailOutcome outcome;
  outcome.exit_code = ended->exit_code;
  outcome.signal = ended->signal;
  outcome.stopped = ended->stopped;
  outcome.output = std::move(ended->output);
  outcome.seconds = ended->seconds;
  outcome.files = collected(request, scratch.path());
  if (ended->timed_out) outcome.limit = LimitHit::kWall;
  // Whoever wrote too much did so before time was up.
  if (ended->output_cut) outcome.limit = LimitHit::kOutput;
  if (outcome.limit != LimitHit::kNone) outcome.exit_code = -1;
  return outcome;
}

}  // namespace membound::jail
