// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/cli/gpu_libraries.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <string_view>

#include "grader/base/system_text.hpp"
#include "grader/device_code/fatbin/elf_file.hpp"

namespace membound::cli {
namespace {

struct Library {
  std::string_view name;      ///< what the file's name begins with
  std::string_view function;  ///< what its functions' names begin with, before a capital letter
  const char* what;
  const char* instead;
};

constexpr const char* kOwnKernels =
    "a kernel of your own, CUB or Thrust; or start the program by itself on a machine with a GPU";
constexpr Library kLibraries[] = {
    {"libcuda.so", "cu", "the driver library, whose calls begin with cu",
     "the runtime's calls, which begin with cuda; or start the program by itself on a machine with "
     "a GPU"},
    {"libcublas", "cublas", "cuBLAS, which is machine code for GPUs", kOwnKernels},
    {"libnvblas", "", "NVBLAS, which is machine code for GPUs", kOwnKernels},
    {"libcurand", "curand", "cuRAND's host interface, which is machine code for GPUs",
     "its device functions (curand_kernel.h) in a kernel of your own"},
    {"libcufft", "cufft", "cuFFT, which is machine code for GPUs", kOwnKernels},
    {"libcusparse", "cusparse", "cuSPARSE, which is machine code for GPUs", kOwnKernels},
    {"libcusolver", "cusolver", "cuSOLVER, which is machine code for GPUs", kOwnKernels},
    {"libcudnn", "cudnn", "cuDNN, which is machine code for GPUs", kOwnKernels},
    {"libcutensor", "cutensor", "cuTENSOR, which is machine code for GPUs", kOwnKernels},
    {"libnccl", "nccl", "NCCL, which is machine code for GPUs", kOwnKernels},
    {"libnpp", "npp", "NPP, which is machine code for GPUs", kOwnKernels},
    {"libnvjpeg", "nvjpeg", "nvJPEG, which is machine code for GPUs", kOwnKernels},
};

// What prepares work and does none; the older of two versions of a call has no suffix.
constexpr std::string_view kHandleMakers[] = {
    "cublasCreate",     "cublasLtCreate",   "cudnnCreate",   "curandCreateGenerator",
    "cusolverDnCreate", "cusolverSpCreate", "cusparseCreate"};
constexpr std::string_view kPreparations[] = {"cublasDestroy",
                                              "cublasLtDestroy",
                                              "cublasSetAtomicsMode",
                                              "cublasSetMathMode",
                                              "cublasSetPointerMode",
                                              "cublasSetStream",
                                              "cublasSetWorkspace",
                                              "cudnnDestroy",
                                              "cudnnSetStream",
                                              "curandDestroyGenerator",
                                              "curandSetStream",
                                              "curandSetGeneratorOffset",
                                              "curandSetPseudoRandomGeneratorSeed",
                                              "curandSetGeneratorOrdering",
                                              "cusolverDnDestroy",
                                              "cusolverDnSetStream",
                                              "cusolverSpDestroy",
                                              "cusolverSpSetStream",
                                              "cusparseDestroy",
                                              "cusparseSetPointerMode",
                                              "cusparseSetStream"};

StandIn what_it_does(std::string_view function) {
  constexpr std::string_view kSuffix = "_v2";
  if (function.ends_with(kSuffix)) function.remove_suffix(kSuffix.size());
  if (std::ranges::find(kHandleMakers, function) != std::end(kHandleMakers))
    return StandIn::kMakesHandle;
  return std::ranges::find(kPreparations, function) != std::end(kPreparations) ? StandIn::kSucceeds
                                                                               : StandIn::kEnds;
}

/// "cublasCreate_v2" begins with "cublas", "cudaMalloc" not with "cu".
bool is_named_for(const Library& library, const std::string& function) {
  if (library.function.empty() || !function.starts_with(library.function)) return false;
  const std::string_view rest = std::string_view(function).substr(library.function.size());
  return !rest.empty() && (library.name != "libcuda.so" ||
                           std::isupper(static_cast<unsigned char>(rest.front())) != 0);
}

std::string message_of(const std::string& function, const std::string& needed,
                       const Library& library) {
  return base::to_string({base::ErrorKind::kInput, function,
                          "is a function of " + needed + ", " + library.what,
                          "a program of kernels and the CUDA runtime", library.instead});
}

}  // namespace

std::vector<StandInLibrary> stand_ins_for(std::span<const std::byte> program) {
  std::vector<StandInLibrary> all;
  std::vector<fatbin::WantedFunction> wanted = fatbin::wanted_functions(program);
  for (const std::string& needed : fatbin::needed_libraries(program)) {
    const auto* const library =
        std::find_if(std::begin(kLibraries), std::end(kLibraries),
                     [&](const Library& each) { return needed.starts_with(each.name); });
    if (library == std::end(kLibraries)) continue;
    StandInLibrary& made = all.emplace_back();
    made.name = needed;
    // What names no library goes to the first that it may be of.
    std::erase_if(wanted, [&](const fatbin::WantedFunction& function) {
      const bool is_versioned = function.library == needed;
      if (!is_versioned && !(function.library.empty() && is_named_for(*library, function.name)))
        return false;
      made.functions.push_back({function.name, what_it_does(function.name),
                                message_of(function.name, needed, *library), is_versioned});
      return true;
    });
  }
  return all;
}

base::Status preload(const std::vector<StandInLibrary>& libraries) {
  if (libraries.empty()) return base::Done{};
  // NOLINTNEXTLINE(concurrency-mt-unsafe)
  const char* const before = std::getenv("LD_PRELOAD");
  std::string list = before == nullptr ? "" : before;
  for (const StandInLibrary& library : libraries) {
    const std::vector<std::byte> bytes = make_stand_in(library);
    const int file = memfd_create(library.name.c_str(), 0);  // stays open in the program
    if (file < 0 || write(file, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()))
      return base::Error{base::ErrorKind::kMachine, library.name,
                         "a stand-in for it cannot be made: " + base::reason_text(errno),
                         "a file in memory (memfd_create)",
                         "link the program without it, if it calls none of its functions"};
    list += (list.empty() ? "" : ":") + ("/proc/self/fd/" + std::to_string(file));
  }
  // NOLINTNEXTLINE(concurrency-mt-unsafe)
  setenv("LD_PRELOAD", list.c_str(), 1);
  return base::Done{};
}

}  // namespace membound::cli
