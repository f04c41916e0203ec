// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/release/reference.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <optional>
#include <sstream>
#include <string_view>
#include <thread>

#include "grader/base/files.hpp"
#include "grader/base/process.hpp"
#include "grader/base/strings.hpp"
#include "grader/classroom/release/student_files.hpp"

namespace membound::release {
namespace {

namespace fs = std::filesystem;
using compilers::CompilerInfo;
using compilers::DeviceCompiler;

constexpr double kCompileSeconds = 300;

/// Flags of the course for nvcc that write source names into the result.
constexpr std::array<std::string_view, 1> kDebugFlags = {"-lineinfo"};

/// That of the virtual GPU's usual machine.
constexpr const char* kVirtualArchitecture = "90";
/// PTX for this one is for every GPU that serves (judge/gpu_facts).
constexpr const char* kOldestCard = "60";

/// One file to make.
struct Task {
  std::string lab;  // empty: the harness's own kernels
  const CompilerInfo* compiler = nullptr;
  std::string architecture;  // of nvcc; of clang only where a card is older than its PTX is for

  [[nodiscard]] fs::path source() const {
    return lab.empty() ? fs::path("grader/harness/device/harness_kernels.cu")
                       : fs::path("solutions") / lab / "kernel.cu";
  }
  [[nodiscard]] std::string output() const {
    const bool is_usual = lab.empty() && compiler->kind == DeviceCompiler::kNvcc;
    const std::string name = (lab.empty() ? "harness" : "reference") +
                             (architecture.empty() || is_usual ? "" : ".sm_" + architecture) +
                             std::string(compilers::code_ending(compiler->kind));
    return (lab.empty() ? std::string(kBinaries) + "grader/harness/" : "released/" + lab + "/") +
           name;
  }
};

std::string oldest_of(const std::vector<std::string>& architectures) {
  const auto oldest = std::min_element(
      architectures.begin(), architectures.end(),
      [](const auto& one, const auto& other) { return std::stoi(one) < std::stoi(other); });
  return oldest == architectures.end() ? kVirtualArchitecture : *oldest;
}

std::vector<Task> tasks_of(const ReferenceRequest& request) {
  std::vector<Task> tasks;
  for (const std::string& lab : request.labs) {
    for (const CompilerInfo& compiler : request.compilers) {
      if (compiler.kind == DeviceCompiler::kClang) {
        tasks.push_back({lab, &compiler, ""});
        tasks.push_back({lab, &compiler, kOldestCard});
        continue;
      }
      for (const std::string& architecture : request.architectures)
        tasks.push_back({lab, &compiler, architecture});
    }
  }
  // The harness's own serve the virtual GPU, whatever compiler students have, and real ones: nvcc's
  // hold PTX for the oldest of the cards, clang's lie beside it for the oldest that serves.
  if (!request.harness_kernels || request.compilers.empty()) return tasks;
  const CompilerInfo& last = request.compilers.back();
  if (last.kind == DeviceCompiler::kClang) {
    tasks.push_back({"", &last, ""});
    tasks.push_back({"", &last, kOldestCard});
  } else {
    tasks.push_back({"", &last, oldest_of(request.architectures)});
  }
  return tasks;
}

/// The course's own flags, but for those that tell about the source.
base::Result<std::vector<std::string>> flags_of(const fs::path& root,
                                                const CompilerInfo& compiler) {
  const fs::path file = root / "grader" / "harness" / "student" /
                        (std::string(compilers::to_string(compiler.kind)) + ".flags");
  const auto text = base::read_file(file);
  if (!text) return text.error();
  std::vector<std::string> flags;
  std::istringstream words(*text);
  for (std::string word; words >> word;)
    if (std::find(kDebugFlags.begin(), kDebugFlags.end(), word) == kDebugFlags.end())
      flags.push_back(word);
  return flags;
}

/// Where the lab is.
fs::path tree_of(const ReferenceRequest& request, const Task& task) {
  const auto elsewhere = request.trees.find(task.lab);
  return elsewhere == request.trees.end() ? request.root : elsewhere->second;
}

base::Result<std::vector<std::string>> command(const ReferenceRequest& request, const Task& task,
                                               const std::string& source,
                                               const std::string& output) {
  const fs::path student = request.root / "grader" / "harness" / "student";
  const std::vector<std::string> inputs = {
      "-I" + student.string(),
      "-I" +
          (task.lab.empty() ? request.root : tree_of(request, task) / "labs" / task.lab).string(),
      source};
  std::vector<std::string> all;
  if (task.compiler->kind == DeviceCompiler::kClang) {
    // The course's own two steps, as submissions are compiled; -g0 takes back what tells names.
    all = {"/bin/sh", student / "clang" / "compile.sh"};
    if (!task.architecture.empty()) all.insert(all.end(), {"--card", task.architecture});
    all.insert(all.end(), {output, task.compiler->program, "-g0"});
    all.insert(all.end(), inputs.begin(), inputs.end());
    return all;
  }
  auto flags = flags_of(request.root, *task.compiler);
  if (!flags) return flags.error();
  all = {task.compiler->program};
  all.insert(all.end(), flags->begin(), flags->end());
  all.push_back("-arch=sm_" + task.architecture);
  all.insert(all.end(), inputs.begin(), inputs.end());
  all.insert(all.end(), {"-o", output});
  return all;
}

/// Compiles in a folder where the source has a name that says nothing.
base::Result<std::string> compile(const ReferenceRequest& request, const Task& task, int number) {
  const fs::path solution = tree_of(request, task) / task.source();
  const auto text = base::read_file(solution);
  if (!text) return text.error();
  const fs::path folder = request.scratch / std::to_string(number);
  const auto written = base::write_file(folder / "reference.cu", *text);
  if (!written) return written.error();
  const auto words = command(request, task, "reference.cu", "reference.out");
  if (!words) return words.error();
  const auto run = base::run_process({.arguments = *words,
                                      .folder = folder,
                                      .timeout_seconds = kCompileSeconds,
                                      .stop = request.stop});
  if (!run) return run.error();
  if (run->exit_code != 0) {
    return base::Error{base::ErrorKind::kInput, solution.string(),
                       run->stopped
                           ? "stopped"
                           : "does not compile with " + task.compiler->name() +
                                 (task.architecture.empty() ? "" : " for sm_" + task.architecture) +
                                 ":\n" + run->output,
                       "a reference answer that compiles", "--architectures, --compiler"};
  }
  auto code = base::read_file(folder / "reference.out");
  if (!code) return code.error();
  return task.compiler->kind == DeviceCompiler::kClang ? bare_ptx(*code) : *std::move(code);
}

}  // namespace

std::vector<std::string> usual_architectures() {
  return {"75", "80", "86", "89", "90", "100", "120"};
}

base::Result<Tree> compile_references(const ReferenceRequest& request) {
  const std::vector<Task> tasks = tasks_of(request);
  std::mutex mutex;
  std::size_t next = 0;
  int done = 0;
  Tree tree;
  std::optional<base::Error> problem;
  const auto work = [&] {
    while (true) {
      std::size_t mine = 0;
      {
        const std::lock_guard guard(mutex);
        if (problem || next == tasks.size()) return;
        mine = next++;
        if (request.on_step)
          request.on_step(tasks[mine].output(), done, static_cast<int>(tasks.size()));
      }
      auto code = compile(request, tasks[mine], static_cast<int>(mine));
      const std::lock_guard guard(mutex);
      ++done;
      if (code)
        tree[tasks[mine].output()] = {*std::move(code)};
      else if (!problem)
        problem = code.error();
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < base::processors(); ++i) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  if (problem) return *problem;
  return tree;
}

std::string bare_ptx(std::string_view ptx) {
  // Comments outside of strings first, then line by line.
  std::string code;
  bool quoted = false;
  for (std::size_t i = 0; i < ptx.size();) {
    const std::string_view rest = ptx.substr(i);
    if (!quoted && rest.starts_with("//")) {
      i += std::min(rest.find('\n'), rest.size());
    } else if (!quoted && rest.starts_with("/*")) {
      const auto end = rest.find("*/", 2);
      i = end == std::string_view::npos ? ptx.size() : i + end + 2;
    } else {
      if (rest.front() == '"') quoted = !quoted;
      if (rest.front() == '\n') quoted = false;
      code += rest.front();
      ++i;
    }
  }
  std::string bare;
  for (const std::string_view whole : base::lines_of(code)) {
    const std::string_view line = base::trimmed(whole);
    const std::string_view word = line.substr(0, line.find_first_of(" \t"));
    if (!line.empty() && word != ".loc" && word != ".file") bare += std::string(line) + "\n";
  }
  return bare;
}

}  // namespace membound::release
