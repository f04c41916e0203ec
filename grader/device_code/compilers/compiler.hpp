// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The compilers that turn a kernel.cu into device code: where they are on this machine, their
/// command lines, and one plain sentence for each message of theirs that beginners in CUDA meet
/// most.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "grader/base/result.hpp"

namespace membound::compilers {

/// The one seam between compilers.
enum class DeviceCompiler {
  kNvcc,  ///< makes a fatbin, for GPUs and the virtual GPU
  kClang  ///< makes PTX without an NVIDIA toolkit, which a GPU's driver compiles
};

/// "nvcc" or "clang".
[[nodiscard]] std::string_view to_string(DeviceCompiler compiler);

/// How the names of files with its device code end: ".fatbin" or ".ptx".
[[nodiscard]] std::string_view code_ending(DeviceCompiler compiler);

/// A compiler that is there.
struct CompilerInfo {
  DeviceCompiler kind = DeviceCompiler::kNvcc;
  std::filesystem::path program;
  std::string version;  ///< "13.0.88", "14.0.6"
  /// Of clang where an nvcc is there that makes no code for the GPU, or none at all because it has
  /// no host compiler: why, "nvcc 13.0.88 makes …".
  std::string passed_over = {};

  /// "nvcc 13.0.88", as results record it.
  [[nodiscard]] std::string name() const;
};

/// Where to look, in this order; every part may be empty.
struct CompilerPlaces {
  std::filesystem::path toolkit;  ///< $MEMBOUND_TOOLKIT
  std::string path;               ///< $PATH
  std::filesystem::path system = "/usr/local/cuda";
  std::filesystem::path root;  ///< the course's, whose .membound/toolkit the launcher fills
};

/// PTX of clang's is for this compute capability and every newer one, as clang.flags says, unless a
/// card is older.
inline constexpr int kClangArchitecture = 80;
/// Ten times the compute capability of the oldest cards that serve.
inline constexpr int kOldestCard = 60;

/// What device code is to run on. A virtual GPU takes any: all is 0.
struct CodeTarget {
  int capability = 0;   ///< ten times the compute capability: 70 for 7.0
  int driver_cuda = 0;  ///< newest CUDA version that the driver supports: 12040 for 12.4
};

/// The places the environment names, for a course at `root`.
[[nodiscard]] CompilerPlaces compiler_places(const std::filesystem::path& root);

/// The first usable compiler of this kind: nvcc of CUDA 12 or newer that makes code for `target`
/// and has a host compiler that it takes, clang 14 or newer. Others are passed over, and named in
/// the error when there is no other. `program` is the compiler itself, also where PATH holds a
/// script that starts it.
[[nodiscard]] base::Result<CompilerInfo> find_compiler(DeviceCompiler kind,
                                                       const CompilerPlaces& places,
                                                       const CodeTarget& target = {});

/// nvcc where there is one that makes code for `target`, else clang. An error asks for clang.
[[nodiscard]] base::Result<CompilerInfo> find_any_compiler(const CompilerPlaces& places,
                                                           const CodeTarget& target = {});

/// A program of the CUDA toolkit, "nvdisasm", where nvcc is looked for; empty where there is none.
[[nodiscard]] std::filesystem::path find_toolkit_program(const std::string& name,
                                                         const CompilerPlaces& places);

/// One run of a compiler, with paths as the compiler will see them.
struct CompilerRun {
  DeviceCompiler kind = DeviceCompiler::kNvcc;
  std::filesystem::path program;
  std::string architecture;       ///< compute capability without its dot
  std::filesystem::path student;  ///< folder of the student headers and flags
  std::filesystem::path lab;      ///< folder of kernel.cuh
  std::filesystem::path source;
  std::filesystem::path output;
  /// Not empty for a whole program: the folder of the libcudart it is linked with.
  std::filesystem::path runtime = {};
  bool library = false;    ///< of a whole program: its functions only, to be loaded into another
  bool red_zones = false;  ///< between local variables, for a checker rerun (clang only)
  bool earlier_launches = false;  ///< what uses_earlier_launches() says of the source
};

/// Whether a kernel.cu has launches as releases before this one wrote them: positions by
/// before_this_block(), plans whose kernels are words, or `gpu` without a parameter of that name.
/// The student headers then take them, so that a newer release costs nobody their work.
[[nodiscard]] bool uses_earlier_launches(std::string_view source_text);

/// Its command line.
[[nodiscard]] std::vector<std::string> command_of(const CompilerRun& run);

/// The version in what `nvcc --version` or `clang++ --version` prints; empty when there is none.
[[nodiscard]] std::string version_in(DeviceCompiler kind, std::string_view text);

/// The folder of nvcc in what `nvcc --dryrun` prints ("#$ _HERE_=/usr/local/cuda/bin"), or nothing.
[[nodiscard]] std::string folder_in_dry_run(std::string_view text);

/// A hint for the first error in the compiler's output; a general one where none fits.
[[nodiscard]] std::string compile_hint(std::string_view output);

/// What a compiler said of a kernel.cu that it did not compile, for the student.
struct CompilerMessages {
  /// The errors of the student's file as "FILE:LINE:COLUMN: error: …", each line once, with the
  /// source of the first; where there are none, what the compiler printed.
  std::string text;
  std::string hint;  ///< what to do about the first
};

/// Of what nvcc or clang printed. `source_name` is the file's path as the compiler got it or its
/// name alone, `source_text` what stands in it. Columns count from 1, in bytes; macros are folded
/// to where they stand in the file.
[[nodiscard]] CompilerMessages explain_messages(std::string_view output,
                                                const std::string& source_name,
                                                std::string_view source_text);

}  // namespace membound::compilers
