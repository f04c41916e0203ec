// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/slurm/slurm.hpp"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <sstream>

#include "grader/base/process.hpp"
#include "grader/base/result.hpp"
#include "grader/base/strings.hpp"

namespace membound::slurm {
namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::vector<std::vector<std::string_view>> rows_of_three(std::string_view text) {
  std::vector<std::vector<std::string_view>> rows;
  for (const std::string_view line : split(text, '\n'))
    if (auto fields = split(line, '|'); fields.size() >= 3) rows.push_back(std::move(fields));
  return rows;
}

/// For a shell: nothing inside single quotes means anything, but the quote itself.
std::string in_quotes(std::string_view argument) {
  std::string text = "'";
  for (const char c : argument) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

/// "gpu:fake:2(IDX:0-1)", "gpu:fake:1", "gpu:2"; not "gpu:fake:0(IDX:N/A)" or "(null)".
bool gres_in_use(std::string_view gres) {
  gres = gres.substr(0, gres.find('('));
  const auto colon = gres.rfind(':');
  if (colon == std::string_view::npos) return false;
  int count = 0;
  const auto number = gres.substr(colon + 1);
  return std::from_chars(number.data(), number.data() + number.size(), count).ec == std::errc() &&
         count > 0;
}

/// Reasons for which a task waits until somebody acts. Source: Slurm's "Job Reason Codes".
struct StuckReason {
  std::string_view part;
  std::string_view fix;
};
constexpr std::array<StuckReason, 12> kStuckReasons = {{
    {"held", "scontrol release "},
    {"JobHeld", "scontrol release "},
    {"BadConstraints", "no node has what was asked for: check --slurm-option"},
    {"PartitionTimeLimit",
     "the partition allows less time for a task: give --minutes less, or ask for another one with "
     "--slurm-option=--partition=…"},
    {"PartitionDown", "ask for another one: `sinfo -o '%P %a'` lists those that are up"},
    {"PartitionInactive", "ask for another one: `sinfo -o '%P %a'` lists those that are up"},
    {"PartitionNodeLimit", "no node of the partition fits: ask for another one"},
    {"AssocGrp", "the account has used up what it may: ask who runs the cluster"},
    {"Reservation", "the reservation is not there: check --slurm-option"},
    {"PartitionConfig", "no node of the partition fits: ask for another one with --slurm-option"},
    {"InvalidAccount", "Slurm refuses the account: give one with --slurm-option=--account=…"},
    {"InvalidQOS", "Slurm refuses the quality of service: give one with --slurm-option=--qos=…"},
}};

/// What sbatch says when it refuses. Source: Slurm's slurm_errno.c, 22.05 and 24.11.
constexpr std::array<StuckReason, 10> kRefusals = {{
    {"generic resource", "no node has such a GPU: `sinfo -o %G` lists what --gres may ask for"},
    {"gres", "no node has such a GPU: `sinfo -o %G` lists what --gres may ask for"},
    {"invalid partition", "`sinfo -o %P` lists the partitions; --slurm-option=--partition=NAME"},
    {"account",
     "`sacctmgr show associations user=$USER` lists yours; --slurm-option=--account=NAME"},
    {"qos",
     "`sacctmgr show associations user=$USER format=qos` lists yours; "
     "--slurm-option=--qos=NAME"},
    {"time limit", "the partition allows less time for a task: give --minutes less"},
    {"Memory specification",
     "no node has that much memory: ask for less with --slurm-option=--mem=…"},
    {"node configuration",
     "no node has all of this together: `sinfo -N -o '%N %c %m %G'` lists what "
     "they have"},
    {"job array specification", "the site allows fewer tasks (MaxArraySize): give --chunk more"},
    {"unrecognized option", "sbatch knows no such option: check --slurm-option"},
}};

}  // namespace

bool Task::alive() const {
  return running() || state == "PENDING" || state == "REQUEUED" || state == "SUSPENDED" ||
         state == "CONFIGURING";
}

bool Task::running() const { return state == "RUNNING" || state == "COMPLETING"; }

bool Task::held_after_failure() const {
  return state == "PENDING" && reason.find("launch failed") != std::string::npos;
}

bool Task::failed() const {
  return state == "FAILED" || state == "BOOT_FAIL" || state == "NODE_FAIL" ||
         state == "OUT_OF_MEMORY" || state == "TIMEOUT";
}

std::string advice_for(std::string_view sbatch_output) {
  const auto same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) ==
           std::tolower(static_cast<unsigned char>(b));
  };
  for (const StuckReason& refusal : kRefusals)
    if (std::search(sbatch_output.begin(), sbatch_output.end(), refusal.part.begin(),
                    refusal.part.end(), same) != sbatch_output.end())
      return std::string(refusal.fix);
  return "is the cluster up? `sinfo` must answer; then give the same command again";
}

std::string array_text(const std::vector<int>& tasks, int at_once) {
  MEMBOUND_CHECK(!tasks.empty());
  std::string text;
  for (std::size_t first = 0; first < tasks.size();) {
    std::size_t last = first;
    while (last + 1 < tasks.size() && tasks[last + 1] == tasks[last] + 1) ++last;
    base::add_word(text, std::to_string(tasks[first]), ",");
    if (last > first) text += "-" + std::to_string(tasks[last]);
    first = last + 1;
  }
  return at_once > 0 ? text + "%" + std::to_string(at_once) : text;
}

std::string script_text(const Array& array) {
  // Sites define `module` for login shells.
  std::string text = array.modules.empty() ? "#!/bin/sh\n" : "#!/bin/bash -l\n";
  for (const auto& [name, value] : array.environment)
    text += "export " + name + "=" + in_quotes(value) + "\n";
  for (const std::string& line : array.prolog) text += line + "\n";
  for (const std::string& module : array.modules)
    text += "module load " + in_quotes(module) + " || exit\n";
  text += "exec";
  for (const std::string& word : array.container) text += " " + in_quotes(word);
  for (const std::string& argument : array.command) text += " " + in_quotes(argument);
  return text + " \"$SLURM_ARRAY_TASK_ID\"\n";
}

std::vector<Task> tasks_from(std::string_view squeue_output) {
  std::vector<Task> tasks;
  for (const auto& row : rows_of_three(squeue_output)) {
    const std::string_view id = row[0].substr(row[0].find('_') + 1);
    Task task{0, std::string(row[1]), std::string(row[2]),
              std::string(row.size() > 3 ? row[3] : std::string_view())};
    const auto end = std::from_chars(id.data(), id.data() + id.size(), task.number);
    if (end.ec == std::errc() && end.ptr == id.data() + id.size()) tasks.push_back(std::move(task));
  }
  return tasks;
}

std::vector<Trouble> troubles_of(const std::string& job, const std::vector<Task>& tasks) {
  std::vector<Trouble> troubles;
  for (const StuckReason& stuck : kStuckReasons) {
    const auto count = std::count_if(tasks.begin(), tasks.end(), [&stuck](const Task& task) {
      return task.state == "PENDING" && task.reason.find(stuck.part) != std::string::npos;
    });
    if (count == 0) continue;
    const auto first = std::find_if(tasks.begin(), tasks.end(), [&stuck](const Task& task) {
      return task.state == "PENDING" && task.reason.find(stuck.part) != std::string::npos;
    });
    const bool is_command = stuck.fix.back() == ' ';
    troubles.push_back({base::counted(count, "task") + " of job " + job +
                            (count == 1 ? " waits" : " wait") + " for ever: " + first->reason,
                        std::string(stuck.fix) + (is_command ? job : "")});
  }
  return troubles;
}

std::vector<Trouble> node_troubles_from(std::string_view sinfo_output) {
  std::vector<Trouble> troubles;
  for (const auto& row : rows_of_three(sinfo_output)) {
    const std::string state(row[1]);
    const bool out = state.find("drain") != std::string::npos ||
                     state.find("down") != std::string::npos ||
                     state.find("fail") != std::string::npos;
    if (!out) continue;
    const std::string node(row[0]);
    troubles.push_back({"node " + node + " is " + state + ": " + std::string(row[2]),
                        "scontrol update NodeName=" + node + " State=RESUME"});
  }
  return troubles;
}

bool any_waits_for_room(const std::vector<Task>& tasks) {
  return std::any_of(tasks.begin(), tasks.end(), [](const Task& task) {
    return task.state == "PENDING" && (task.reason == "Resources" || task.reason == "Priority");
  });
}

std::vector<Trouble> forgotten_from(std::string_view sinfo_output, std::string_view busy) {
  const auto lines = split(busy, '\n');
  const std::set<std::string_view> with_jobs(lines.begin(), lines.end());
  std::set<std::string_view> seen;  // a node is listed once for each of its partitions
  std::vector<Trouble> troubles;
  for (const auto& row : rows_of_three(sinfo_output)) {
    const std::string_view node = row[0], cpus = row[1].substr(0, row[1].find('/'));
    if (with_jobs.contains(node) || !seen.insert(node).second) continue;
    std::string held;
    if (!cpus.empty() && cpus != "0") held = std::string(cpus) + " CPUs";
    for (const std::string_view gres : split(row[2], ','))
      if (gres_in_use(gres)) base::add_word(held, gres);
    if (held.empty()) continue;
    troubles.push_back({"node " + std::string(node) + " holds " + held +
                            " for no job, as after the controller's death, and tasks wait for it",
                        "scontrol reconfigure"});
  }
  return troubles;
}

bool hides_jobs(std::string_view config) {
  for (const std::string_view line : split(config, '\n'))
    if (line.starts_with("PrivateData")) return line.find("jobs") != std::string_view::npos;
  return false;
}

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
    if (end > start) base::add_word(busy, lists->substr(start, end - start), ",");
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
  // "12" or "12;cluster", on a line of its own after warnings.
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

namespace {

constexpr int kMostMinutes = 10000, kMostTasks = 10000, kMostChunk = 1000, kMostSeconds = 3600;

/// Walks the file and remembers the first thing that is wrong with it.
class SiteReader {
 public:
  explicit SiteReader(const std::string& file) : file_(file) {}

  base::Result<Site> read(const YAML::Node& root) {
    Site site;
    const auto option = [&](const char* name) {
      return [&, name](const YAML::Node& node) {
        site.options.push_back("--" + std::string(name) + "=" + word(node));
      };
    };
    const std::map<std::string, std::function<void(const YAML::Node&)>> readers = {
        {"account", option("account")},
        {"at_once", [&](const YAML::Node& n) { site.at_once = number(n, kMostTasks); }},
        {"chunk", [&](const YAML::Node& n) { site.chunk = number(n, kMostChunk); }},
        {"constraint", option("constraint")},
        {"container", [&](const YAML::Node& n) { site.container = words(n); }},
        {"cpus", option("cpus-per-task")},
        {"gres", option("gres")},
        {"memory", option("mem")},
        {"minutes", [&](const YAML::Node& n) { site.minutes = number(n, kMostMinutes); }},
        {"modules", [&](const YAML::Node& n) { site.modules = list(n); }},
        {"options", [&](const YAML::Node& n) { options(n, site); }},
        {"partition", option("partition")},
        {"prolog", [&](const YAML::Node& n) { site.prolog = list(n); }},
        {"qos", option("qos")},
        {"start_seconds",
         [&](const YAML::Node& n) { site.start_seconds = number(n, kMostSeconds); }},
    };
    std::string known;
    for (const auto& [key, reader] : readers) base::add_word(known, key);
    if (!root.IsMap()) wrong(root, "is no list of \"key: value\"", known);
    for (const auto& entry : root) {
      if (problem_) break;
      const auto reader = readers.find(entry.first.IsScalar() ? entry.first.Scalar() : "");
      if (reader == readers.end())
        wrong(entry.first, "an unknown key", known);
      else
        reader->second(entry.second);
    }
    if (problem_) return *problem_;
    return site;
  }

 private:
  void wrong(const YAML::Node& node, const std::string& found, const std::string& expected) {
    if (problem_) return;
    const std::string text = node.IsScalar() ? " \"" + node.Scalar().substr(0, 60) + "\"" : "";
    problem_ =
        base::Error{base::ErrorKind::kInput, file_ + ":" + std::to_string(node.Mark().line + 1),
                    found + text, expected, "docs/your_cluster.md shows such files"};
  }

  /// One that becomes a word of sbatch's command line.
  std::string word(const YAML::Node& node) {
    const bool is_one = node.IsScalar() && !node.Scalar().empty() &&
                        node.Scalar().find_first_of(" \t\n") == std::string::npos;
    if (!is_one) wrong(node, "no single word", "a word, such as gpu or 8G");
    return is_one ? node.Scalar() : "";
  }

  int number(const YAML::Node& node, int most) {
    int value = 0;
    if (node.IsScalar() && YAML::convert<int>::decode(node, value) && value >= 1 && value <= most)
      return value;
    wrong(node, "no such number", "a whole number from 1 to " + std::to_string(most));
    return 1;
  }

  /// A list of lines, or one line.
  std::vector<std::string> list(const YAML::Node& node) {
    std::vector<std::string> lines;
    if (node.IsScalar()) lines.push_back(node.Scalar());
    if (!node.IsScalar() && !node.IsSequence()) wrong(node, "no list", "- a line");
    for (const auto& entry : node.IsSequence() ? node : YAML::Node()) {
      if (!entry.IsScalar()) wrong(entry, "no line of text", "- a line");
      lines.push_back(entry.IsScalar() ? entry.Scalar() : "");
    }
    return lines;
  }

  /// A list of words, or a line that spaces part.
  std::vector<std::string> words(const YAML::Node& node) {
    if (!node.IsScalar()) return list(node);
    std::istringstream text(node.Scalar());
    std::vector<std::string> parts;
    for (std::string part; text >> part;) parts.push_back(part);
    return parts;
  }

  void options(const YAML::Node& node, Site& site) {
    for (const std::string& option : list(node)) {
      if (!option.starts_with("-")) wrong(node, "no option of sbatch", "- --constraint=h200");
      site.options.push_back(option);
    }
  }

  const std::string& file_;
  std::optional<base::Error> problem_;
};

}  // namespace

base::Result<Site> read_site(const std::string& text, const std::string& file) {
  try {
    return SiteReader(file).read(YAML::Load(text));
  } catch (const YAML::Exception& problem) {
    return base::Error{base::ErrorKind::kInput, file + ":" + std::to_string(problem.mark.line + 1),
                       problem.msg, "a file in YAML", "docs/your_cluster.md shows such files"};
  }
}

}  // namespace membound::slurm
