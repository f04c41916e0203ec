// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/slurm/slurm.hpp"

#include <algorithm>
#include <fstream>

#include "grader/base/process.hpp"

namespace membound::slurm {
namespace {

constexpr double kAnswerSeconds = 30;  // a busy controller takes seconds; a dead one never answers

base::Error no_answer(const std::string& command, const std::string& output) {
  return {base::ErrorKind::kMachine, command,
          output.empty() ? "no answer" : output.substr(0, output.find('\n')),
          "an answer of Slurm's controller", advice_for(output)};
}

/// What the command printed; an error when it failed.
base::Result<std::string> run_command(const std::vector<std::string>& arguments) {
  base::ProcessRequest request;
  request.arguments = arguments;
  request.timeout_seconds = kAnswerSeconds;
  const auto outcome = base::run_process(request);
  if (!outcome) return outcome.error();
  if (outcome->timed_out || outcome->exit_code != 0)
    return no_answer(arguments.front(), outcome->output);
  return outcome->output;
}

/// See Snapshot::forgotten. Empty also where it cannot be known; the next look may tell.
std::vector<Trouble> forgotten_nodes() {
  const auto used = run_command(
      {"sinfo", "--noheader", "--Node", "--all", "--Format=NodeList:|,CPUsState:|,GresUsed:|"});
  const auto lists = run_command(
      {"squeue", "--noheader", "--all",
       "--states=RUNNING,COMPLETING,CONFIGURING,SUSPENDED,STOPPED,RESIZING,SIGNALING,STAGE_OUT",
       "--format=%N"});
  if (!used || !lists) return {};
  std::string busy;
  // "n[1-3],m7" as names; without an argument it would ask the environment.
  for (std::size_t start = 0; start < lists->size();) {
    const std::size_t end = std::min(lists->find('\n', start), lists->size());
    if (end > start) busy += (busy.empty() ? "" : ",") + lists->substr(start, end - start);
    start = end + 1;
  }
  if (!busy.empty()) {
    const auto names = run_command({"scontrol", "show", "hostnames", busy});
    if (!names) return {};
    busy = *names;
  }
  std::vector<Trouble> found = forgotten_from(*used, busy);
  if (found.empty()) return found;
  // Where others' jobs are hidden, a node that works for them looks forgotten.
  const auto config = run_command({"scontrol", "show", "config"});
  return config && !hides_jobs(*config) ? found : std::vector<Trouble>{};
}

}  // namespace

int Snapshot::alive() const {
  return static_cast<int>(
      std::count_if(tasks.begin(), tasks.end(), [](const Task& task) { return task.alive(); }));
}

base::Status check_available() {
  const auto answer = run_command({"sinfo", "--noheader", "--format=%P"});
  if (!answer) return answer.error();
  return base::Done{};
}

base::Result<std::string> submit(const Array& array) {
  const std::filesystem::path script = array.folder / (array.name + ".sh");
  // Slurm keeps a copy of its own: the file need not survive anything.
  if (!(std::ofstream(script) << script_text(array)).flush())
    return base::Error{base::ErrorKind::kMachine,
                       script.string(),
                       "cannot be written",
                       "a folder that this machine and the nodes can write to",
                       {}};
  std::vector<std::string> command = {
      "sbatch",
      "--parsable",
      "--requeue",
      "--job-name=" + array.name,
      "--array=" + array_text(array.tasks, array.at_once),
      "--time=" + std::to_string(array.minutes),
      "--output=" + (array.folder / (array.name + "-%a.log")).string(),
      "--open-mode=append"};
  if (array.memory_mb > 0) command.push_back("--mem=" + std::to_string(array.memory_mb));
  command.insert(command.end(), array.options.begin(), array.options.end());
  command.push_back(script.string());
  auto answer = run_command(command);
  if (!answer) return answer.error();
  // "12" or "12;cluster", on a line of its own behind warnings.
  while (!answer->empty() && answer->back() == '\n') answer->pop_back();
  std::string id = answer->substr(answer->rfind('\n') + 1);
  id.resize(std::min(id.size(), id.find(';')));
  if (id.empty() || id.find_first_not_of("0123456789") != std::string::npos)
    return no_answer("sbatch", *answer);
  return id;
}

base::Result<Snapshot> poll(const std::string& job) {
  Snapshot snapshot;
  const auto queue = run_command(
      {"squeue", "--noheader", "--array", "--states=all", "--jobs=" + job, "--format=%i|%T|%r|%N"});
  // Some minutes after its end Slurm does not know a job any more; that is no failure.
  if (queue)
    snapshot.tasks = tasks_from(*queue);
  else if (queue.error().found.find("Invalid job id") == std::string::npos)
    return queue.error();
  snapshot.troubles = troubles_of(job, snapshot.tasks);
  const auto nodes = run_command({"sinfo", "--noheader", "--Node", "--format=%N|%T|%E"});
  if (!nodes) return nodes.error();
  for (Trouble& trouble : node_troubles_from(*nodes))
    snapshot.troubles.push_back(std::move(trouble));
  if (any_waits_for_room(snapshot.tasks)) snapshot.forgotten = forgotten_nodes();
  return snapshot;
}

std::filesystem::path log_file(const std::filesystem::path& folder, const std::string& name,
                               int task) {
  return folder / (name + "-" + std::to_string(task) + ".log");
}

void cancel(const std::string& job) { static_cast<void>(run_command({"scancel", job})); }

}  // namespace membound::slurm
