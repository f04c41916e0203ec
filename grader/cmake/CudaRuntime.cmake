# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
#
# MEMBOUND_CUDA_INCLUDE, the headers of a CUDA toolkit, for what is compiled with NVIDIA's own declarations: the work
# clock, and the tests that hold ours against them. Its runtime is linked with nothing of ours (grader/gpu_runtime).
# CMake 3.25's own FindCUDAToolkit stops with an error on a toolkit made of NVIDIA's PyPI packages (it expects
# nvToolsExt), which is what the launcher installs.
#
# With MEMBOUND_WITHOUT_TOOLKIT (Options.cmake) nothing is looked for, and all is built as on a machine
# that has none.
if(MEMBOUND_WITHOUT_TOOLKIT)
  message(STATUS "CUDA toolkit: not looked for (MEMBOUND_WITHOUT_TOOLKIT)")
  return()
endif()
set(cuda_roots $ENV{MEMBOUND_TOOLKIT} $ENV{CUDAToolkit_ROOT} $ENV{CUDA_PATH}
  ${PROJECT_SOURCE_DIR}/.membound/toolkit/nvidia/cu13 /usr/local/cuda)
find_path(MEMBOUND_CUDA_INCLUDE cuda_runtime_api.h HINTS ${cuda_roots} PATH_SUFFIXES include
  DOC "folder of CUDA's headers")
