# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
#
# CUDA 13's shared runtime library, which the labs' test programs and the runner link where it is: target
# CUDA::cudart, and CUDART_FOUND. They are compiled with our own declarations of it
# (grader/device_code/cuda_api). MEMBOUND_CUDA_INCLUDE, NVIDIA's headers, is for what nvcc compiles. CMake 3.25's own FindCUDAToolkit stops with an error on a toolkit
# made of NVIDIA's PyPI packages (it expects nvToolsExt), which is what the launcher installs.
#
# With MEMBOUND_WITHOUT_TOOLKIT (Options.cmake) nothing is looked for, and all is built as on a machine
# that has none.
set(CUDART_FOUND FALSE)
if(MEMBOUND_WITHOUT_TOOLKIT)
  message(STATUS "CUDA toolkit: not looked for (MEMBOUND_WITHOUT_TOOLKIT)")
  return()
endif()
set(cuda_roots $ENV{MEMBOUND_TOOLKIT} $ENV{CUDAToolkit_ROOT} $ENV{CUDA_PATH}
  ${PROJECT_SOURCE_DIR}/.membound/toolkit/nvidia/cu13 /usr/local/cuda)

find_path(MEMBOUND_CUDA_INCLUDE cuda_runtime_api.h HINTS ${cuda_roots} PATH_SUFFIXES include
  DOC "folder of CUDA 13's headers")
find_library(MEMBOUND_CUDART cudart HINTS ${cuda_roots}
  PATH_SUFFIXES lib64 lib targets/x86_64-linux/lib DOC "CUDA 13's shared runtime, libcudart.so")

if(MEMBOUND_CUDA_INCLUDE AND MEMBOUND_CUDART)
  file(STRINGS ${MEMBOUND_CUDA_INCLUDE}/cuda_runtime_api.h cudart_version
    REGEX "^#define CUDART_VERSION +13[0-9][0-9][0-9]")
  if(cudart_version)
    set(CUDART_FOUND TRUE)
  else()
    message(STATUS "${MEMBOUND_CUDA_INCLUDE} is not CUDA 13's; its runtime cannot be used")
  endif()
endif()

if(CUDART_FOUND AND NOT TARGET CUDA::cudart)
  # From the project's own toolkit by way of the build folder: programs then look for it from where they
  # lie (CMAKE_BUILD_RPATH_USE_ORIGIN), and hold no path of this machine when they are handed out.
  cmake_path(GET MEMBOUND_CUDART PARENT_PATH cudart_folder)
  cmake_path(IS_PREFIX PROJECT_SOURCE_DIR ${cudart_folder} toolkit_is_ours)
  if(toolkit_is_ours)
    file(CREATE_LINK ${cudart_folder} ${PROJECT_BINARY_DIR}/cudart SYMBOLIC)
    set(cudart_folder ${PROJECT_BINARY_DIR}/cudart)
  endif()
  add_library(CUDA::cudart SHARED IMPORTED)
  set_target_properties(CUDA::cudart PROPERTIES IMPORTED_LOCATION ${cudart_folder}/libcudart.so)
endif()
