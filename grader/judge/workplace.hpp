// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The folders a check works with, where in them its parts are, the lab's oracle as a library, and
/// where a lab's untouched kernel.cu comes from, whatever the student did to the file, committed or
/// not.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "grader/base/result.hpp"
#include "grader/course/lab.hpp"
#include "grader/device_code/compilers/compiler.hpp"

namespace membound::judge {

/// The folders a check works with.
struct Workplace {
  std::filesystem::path root;   ///< the course
  std::filesystem::path build;  ///< test programs and reference answers
  std::filesystem::path state;  ///< .membound: cache/, state/, tmp/

  /// The folder whose labs/, solutions/ and handouts/ hold this lab.
  [[nodiscard]] const std::filesystem::path& tree(const course::Lab& lab) const {
    return lab.tree.empty() ? root : lab.tree;
  }
};

/// Where the lab's lab.json and headers are read: a tree that was handed out has copies of its own.
[[nodiscard]] std::filesystem::path lab_files(const Workplace& place, const course::Lab& lab);

/// Whether checks with this compiler have what they compare with: a course with answers compiles
/// them when they are needed; one that was handed out has what its release compiled.
[[nodiscard]] bool has_references(const Workplace& place, compilers::DeviceCompiler compiler);

/// The reference answer that the build made with this compiler; it may be absent.
[[nodiscard]] std::filesystem::path built_reference(const Workplace& place, const course::Lab& lab,
                                                    compilers::DeviceCompiler compiler);
/// Its source.
[[nodiscard]] std::filesystem::path reference_source(const Workplace& place,
                                                     const course::Lab& lab);
/// The lab's test program for stages of this kind.
[[nodiscard]] std::filesystem::path test_program(const Workplace& place, const course::Lab& lab,
                                                 const course::StageKind& kind);
/// The harness's own kernels, as the build's compiler made them: a fatbin, or PTX.
[[nodiscard]] std::filesystem::path harness_kernels(const Workplace& place);

/// Of a part that the build makes and that is not there.
[[nodiscard]] base::Error not_built(const std::filesystem::path& file);

/// Whether `text` can be the skeleton of `solution`: it has a TODO, and without comments all its
/// lines stand in the solution in the same order (solving only adds lines).
[[nodiscard]] bool is_skeleton_of(std::string_view text, std::string_view solution);

/// All the lab's files as one text (course::joined_submission). The copy that came with a student's
/// tree; else the newest version in git's history, else the build's copy, that is a skeleton of the
/// reference answer, or has the digest of one that is to be mended.
[[nodiscard]] base::Result<std::string> find_skeleton(const Workplace& place,
                                                      const course::Lab& lab);

/// The skeleton's kernel.cu of a tree that was handed out, or as the build kept it: without git,
/// which would take longer than the whole of a command that only tells how far a student is.
[[nodiscard]] std::optional<std::string> skeleton_at_hand(const Workplace& place,
                                                          const course::Lab& lab);

/// Puts the skeleton into the build folder, where find_skeleton() looks after git. Never a text
/// that somebody worked on.
[[nodiscard]] base::Status keep_skeleton(const Workplace& place, const course::Lab& lab);

/// The lab's oracle.cpp as a library, which the test program loads: as the build made it, or
/// compiled here, because a lab of another tree, or one that has changed, has seen no build. Empty
/// where the lab has none. An error names the lab's line that does not compile.
[[nodiscard]] base::Result<std::filesystem::path> make_oracle(const Workplace& place,
                                                              const course::Lab& lab);

/// The text of kernel_constants.hpp: all `inline constexpr NAME = VALUE;` of `contract`, the text
/// of a kernel.cuh. The build makes the same file for test programs
/// (grader/cmake/KernelConstants.cmake).
[[nodiscard]] std::string kernel_constants(std::string_view contract);

}  // namespace membound::judge
