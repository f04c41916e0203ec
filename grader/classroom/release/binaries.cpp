// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/release/student_files.hpp"

#include <string_view>
#include <vector>

#include "grader/base/files.hpp"
#include "grader/base/process.hpp"

namespace membound::release {
namespace {

namespace fs = std::filesystem;

constexpr double kInstallSeconds = 120;

/// Puts one component (grader/cmake/Install.cmake) of the build folder `build` into `folder`.
base::Status install(const fs::path& build, const std::string& component, const fs::path& folder) {
  auto run = base::run_process({.arguments = {"cmake", "--install", build.string(), "--prefix",
                                              folder.string(), "--component", component},
                                .environment = {{"DESTDIR", ""}},
                                .timeout_seconds = kInstallSeconds});
  if (!run) return run.error();
  if (run->exit_code == 0) return base::Done{};
  return base::Error{base::ErrorKind::kMachine, "cmake --install " + build.string(),
                     "ended with an error: " + run->output, "a whole build",
                     "call it as ./membound release, which builds it; on Debian or Ubuntu"};
}

base::Status add_folder(const fs::path& folder, Tree& tree) {
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator(folder, error)) {
    if (!entry.is_regular_file()) continue;
    auto bytes = base::read_file(entry.path());
    if (!bytes) return bytes.error();
    const bool executable =
        (entry.status().permissions() & fs::perms::owner_exec) != fs::perms::none;
    tree[kBinaries + entry.path().lexically_relative(folder).generic_string()] = {*std::move(bytes),
                                                                                  executable};
  }
  return base::Done{};
}

}  // namespace

base::Result<Tree> built_programs(const fs::path& build, const std::vector<course::Lab>& labs) {
  const base::ScratchFolder scratch("binaries");
  std::vector<std::string> components = {"programs"};
  for (const course::Lab& lab : labs)
    if (lab.tree.empty()) components.push_back(lab.id);  // others were not built with the course
  components.emplace_back("libraries");                  // last: those of what is there by then
  for (const std::string& component : components) {
    const auto installed = install(build, component, scratch.path());
    if (!installed) return installed.error();
  }
  Tree tree;
  const auto added = add_folder(scratch.path(), tree);
  if (!added) return added.error();
  // Without a device compiler a build has no labs.
  for (const course::Lab& lab : labs)
    for (const course::StageKind* kind : lab.kinds()) {
      const std::string name = lab.has_oracle()
                                   ? "bin/oracle_" + std::string(kind->test_program)
                                   : "labs/" + lab.id + "/" + std::string(kind->test_program);
      if (!tree.contains(kBinaries + name))
        return base::Error{base::ErrorKind::kMachine, (build / name).string(), "is not built",
                           "a whole build", "call it as ./membound release, which builds it"};
    }
  return tree;
}

}  // namespace membound::release
