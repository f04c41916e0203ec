// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/release/binaries.hpp"

#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <map>
#include <sstream>
#include <string_view>

#include "grader/base/digest.hpp"
#include "grader/base/files.hpp"
#include "grader/base/process.hpp"

namespace membound::release {
namespace {

namespace fs = std::filesystem;

constexpr double kToolSeconds = 30;
/// Beginnings of the names of libraries that are not shipped.
constexpr std::array<std::string_view, 10> kOfEveryMachine = {
    "linux-vdso",    "ld-linux", "libc.so",   "libm.so",  "libdl.so",
    "libpthread.so", "librt.so", "libstdc++", "libgcc_s", "libcudart"};
/// Debian's packages whose code is compiled into the programs.
constexpr std::array<std::string_view, 3> kCompiledIn = {"libcli11-dev", "libgtest-dev",
                                                         "nlohmann-json3-dev"};
/// In a build folder; the runner and the forwarding runtime serve stages about programs.
constexpr std::array<std::string_view, 5> kPrograms = {
    "bin/membound-student", "vgpu/libcudart.so.13", "libexec/membound_runner",
    "libexec/membound_experiment", "forward/libcudart.so.13"};

constexpr const char* kWorkClock = "libexec/libmembound_work_clock.so";

base::Result<std::string> output_of(const std::vector<std::string>& words) {
  auto run = base::run_process({.arguments = words, .timeout_seconds = kToolSeconds});
  if (!run) return run.error();
  if (run->exit_code == 0) return std::move(run->output);
  return base::Error{base::ErrorKind::kMachine, words.front(),
                     "ended with an error: " + run->output, "",
                     "--binaries is for Debian and Ubuntu"};
}

/// Adds programs, libraries and licences to a tree.
class ProgramFiles {
 public:
  explicit ProgramFiles(fs::path build) : build_(std::move(build)) {}

  base::Status add_program(const std::string& name) {
    auto bytes = base::read_file(build_ / name);
    if (!bytes)
      return base::Error{base::ErrorKind::kMachine, (build_ / name).string(), "is not built",
                         "a whole build", "call it as ./membound release, which builds it"};
    tree_[kBinaries + name] = {*std::move(bytes), true};
    const auto loaded = output_of({"ldd", (build_ / name).string()});
    if (!loaded) return loaded.error();
    for (const auto& [library, path] : shipped_libraries(*loaded)) libraries_[library] = path;
    return base::Done{};
  }

  base::Status add_libraries() {
    for (const auto& [name, path] : libraries_) {
      auto bytes = base::read_file(path);
      if (!bytes) return bytes.error();
      tree_[kBinaries + ("lib/" + name)] = {*std::move(bytes), true};
      // Its package, by the name of the file behind the links: /lib may be a link to /usr/lib.
      std::error_code error;
      const auto owner =
          output_of({"dpkg", "-S", "*/" + fs::canonical(path, error).filename().string()});
      if (!owner) return owner.error();
      const auto added = add_licence(owner->substr(0, owner->find(':')));
      if (!added) return added;
    }
    for (const std::string_view package : kCompiledIn) {
      const auto added = add_licence(std::string(package));
      if (!added) return added;
    }
    return base::Done{};
  }

  Tree take() { return std::move(tree_); }

 private:
  base::Status add_licence(const std::string& package) {
    const fs::path file = fs::path("/usr/share/doc") / package / "copyright";
    auto text = base::read_file(file);
    if (!text)
      return base::Error{base::ErrorKind::kMachine, file.string(), "is missing",
                         "the licence of what is handed out",
                         "apt-get install --reinstall " + package};
    tree_[kBinaries + ("licences/" + package)] = {*std::move(text)};
    return base::Done{};
  }

  fs::path build_;
  std::map<std::string, fs::path> libraries_;
  Tree tree_;
};

/// As `sha256sum --check` reads it: what the programs are built from.
std::string digests_of_sources(const Tree& students) {
  std::string lines;
  for (const auto& [name, file] : students) {
    const bool source = name == "CMakeLists.txt" || name.starts_with("grader/") ||
                        name.starts_with("labs/") || name.starts_with("released/");
    if (source && !name.ends_with("/kernel.cu"))
      lines += base::sha256(file.bytes) + "  " + name + "\n";
  }
  return lines;
}

}  // namespace

std::vector<std::pair<std::string, fs::path>> shipped_libraries(const std::string& ldd) {
  std::vector<std::pair<std::string, fs::path>> shipped;
  std::istringstream lines(ldd);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name, arrow, path;
    words >> name >> arrow >> path;
    const bool of_machine =
        std::any_of(kOfEveryMachine.begin(), kOfEveryMachine.end(),
                    [&](std::string_view start) { return name.starts_with(start); });
    if (arrow == "=>" && path.starts_with('/') && !of_machine) shipped.emplace_back(name, path);
  }
  return shipped;
}

base::Result<Tree> built_programs(const fs::path& build, const std::vector<course::Lab>& labs,
                                  const Tree& students) {
  ProgramFiles files(build);
  std::vector<std::string> names(kPrograms.begin(), kPrograms.end());
  for (const course::Lab& lab : labs)
    for (const course::StageKind* kind : lab.kinds())
      names.push_back("labs/" + lab.id + "/" + std::string(kind->test_program));
  // Made where nvcc is, which programs need.
  if (std::error_code ignored; fs::exists(build / kWorkClock, ignored)) names.push_back(kWorkClock);
  for (const std::string& name : names) {
    const auto added = files.add_program(name);
    if (!added) return added.error();
  }
  const auto added = files.add_libraries();
  if (!added) return added.error();
  Tree tree = files.take();
  utsname machine{};
  uname(&machine);
  tree[std::string(kBinaries) + "machine"] = {std::string(machine.machine) + "\n"};
  tree[std::string(kBinaries) + "sources.sha256"] = {digests_of_sources(students)};
  return tree;
}

}  // namespace membound::release
