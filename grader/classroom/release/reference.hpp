// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A lab's reference answers compiled so that they can be given away: without line tables, source
/// names and comments. What stays is what a GPU needs, and with it everything that a patient reader
/// of PTX or SASS can see: docs/releasing.md says so.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "grader/base/result.hpp"
#include "grader/classroom/release/handed_out_tree.hpp"
#include "grader/device_code/compilers/compiler.hpp"

namespace membound::release {

/// For whom to compile.
struct ReferenceRequest {
  std::filesystem::path root;
  std::vector<std::string> labs;
  std::map<std::string, std::filesystem::path> trees;  ///< by lab: what stands instead of `root`
  std::vector<compilers::CompilerInfo> compilers;
  std::vector<std::string> architectures;  ///< compute capabilities without the dot, for nvcc
  bool harness_kernels = false;            ///< the harness's own, too, for built programs
  std::filesystem::path scratch;           ///< a folder of its own
  const std::atomic<bool>* stop = nullptr;
  /// Called from several threads: what is compiled now, how many files are done, and of how many.
  std::function<void(const std::string& what, int done, int all)> on_step = {};
};

/// Compute capabilities of the GPUs that students have, from CUDA 13's oldest on: a build takes the
/// newest file not above its own GPU's (grader/cmake/DeviceCode.cmake).
[[nodiscard]] std::vector<std::string> usual_architectures();

/// released/LAB/reference.sm_NN.fatbin by nvcc and released/LAB/reference.ptx by clang, as
/// many of them at once as there are cores.
[[nodiscard]] base::Result<Tree> compile_references(const ReferenceRequest& request);

/// PTX without comments, indentation, empty lines and debug directives.
[[nodiscard]] std::string bare_ptx(std::string_view ptx);

}  // namespace membound::release
