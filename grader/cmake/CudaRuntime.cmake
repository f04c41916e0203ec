# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
#
# CUDA 13's headers and its shared runtime library, for the labs' test programs: target
# CUDA::cudart, and CUDART_FOUND. CMake 3.25's own FindCUDAToolkit stops with an error on a toolkit
# made of NVIDIA's PyPI packages (it expects nvToolsExt), which is what the launcher installs.
set(cuda_roots $ENV{MEMBOUND_TOOLKIT} $ENV{CUDAToolkit_ROOT} $ENV{CUDA_PATH}
  ${PROJECT_SOURCE_DIR}/.membound/toolkit/nvidia/cu13 /usr/local/cuda)

find_path(MEMBOUND_CUDA_INCLUDE cuda_runtime_api.h HINTS ${cuda_roots} PATH_SUFFIXES include
  DOC "folder of CUDA 13's headers")
find_library(MEMBOUND_CUDART cudart HINTS ${cuda_roots}
  PATH_SUFFIXES lib64 lib targets/x86_64-linux/lib DOC "CUDA 13's shared runtime, libcudart.so")

set(CUDART_FOUND FALSE)
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
  add_library(CUDA::cudart SHARED IMPORTED)
  set_target_properties(CUDA::cudart PROPERTIES
    IMPORTED_LOCATION ${MEMBOUND_CUDART}
    INTERFACE_INCLUDE_DIRECTORIES ${MEMBOUND_CUDA_INCLUDE})
endif()
