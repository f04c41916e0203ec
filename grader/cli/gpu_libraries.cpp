// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/cli/gpu_libraries.hpp"

#include <string_view>

namespace membound::cli {
namespace {

struct Library {
  std::string_view name;  ///< what the file's name begins with
  const char* what;
  const char* instead;
};

constexpr const char* kOwnKernels =
    "a kernel of your own, CUB or Thrust; or start the program by itself on a machine with a GPU";
constexpr Library kLibraries[] = {
    {"libcuda.so", "the driver library, whose calls begin with cu",
     "the runtime's calls, which begin with cuda; or start the program by itself on a machine with "
     "a GPU"},
    {"libcublas", "cuBLAS, which is machine code for GPUs", kOwnKernels},
    {"libcurand", "cuRAND's host interface, which is machine code for GPUs",
     "its device functions (curand_kernel.h) in a kernel of your own"},
    {"libcufft", "cuFFT, which is machine code for GPUs", kOwnKernels},
    {"libcusparse", "cuSPARSE, which is machine code for GPUs", kOwnKernels},
    {"libcusolver", "cuSOLVER, which is machine code for GPUs", kOwnKernels},
    {"libcudnn", "cuDNN, which is machine code for GPUs", kOwnKernels},
    {"libnpp", "NPP, which is machine code for GPUs", kOwnKernels},
};

}  // namespace

std::optional<base::Error> needs_a_gpu(const std::string& program,
                                       const std::vector<std::string>& libraries) {
  for (const std::string& needed : libraries)
    for (const Library& library : kLibraries)
      if (needed.starts_with(library.name))
        return base::Error{base::ErrorKind::kInput, program, "uses " + needed + ", " + library.what,
                           "a program of kernels and the CUDA runtime", library.instead};
  return std::nullopt;
}

}  // namespace membound::cli
