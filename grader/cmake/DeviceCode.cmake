# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
#
# add_device_code(<target> <source.cu> <output.fatbin> [INCLUDES dir…])
#   Compiles CUDA device code alone, as the grader compiles a student's kernel.cu, into one fatbin
#   that the harness loads at run time. CMake's CUDA language is not used: the rest of the project
#   is plain C++ and builds where no CUDA host compiler set-up works.
#
# MEMBOUND_NVCC is the compiler; MEMBOUND_CUDA_ARCHITECTURE the compute capability without its dot.
find_program(MEMBOUND_NVCC nvcc
  HINTS $ENV{MEMBOUND_TOOLKIT}/bin $ENV{CUDA_PATH}/bin
        ${PROJECT_SOURCE_DIR}/.membound/toolkit/nvidia/cu13/bin
  PATHS /usr/local/cuda/bin
  DOC "CUDA compiler for device code")
if(MEMBOUND_NVCC)
  message(STATUS "Device code: ${MEMBOUND_NVCC}")
else()
  message(STATUS "Device code: no nvcc found; labs are left out (./membound doctor tells what to do)")
endif()

# The compute capability of the first GPU, so that its fatbins need no compilation at load time;
# 9.0 where there is no GPU, which is what the virtual GPU imitates by default.
function(detect_cuda_architecture variable)
  set(found 90)
  find_program(MEMBOUND_NVIDIA_SMI nvidia-smi DOC "asked for the GPU's compute capability")
  if(MEMBOUND_NVIDIA_SMI)
    execute_process(COMMAND ${MEMBOUND_NVIDIA_SMI} --query-gpu=compute_cap --format=csv,noheader
      OUTPUT_VARIABLE answer ERROR_QUIET RESULT_VARIABLE failed)
    if(NOT failed AND answer MATCHES "^([0-9]+)\\.([0-9])")
      set(found ${CMAKE_MATCH_1}${CMAKE_MATCH_2})
    endif()
  endif()
  set(${variable} ${found} PARENT_SCOPE)
endfunction()
if(NOT MEMBOUND_CUDA_ARCHITECTURE)
  detect_cuda_architecture(MEMBOUND_CUDA_ARCHITECTURE)
  set(MEMBOUND_CUDA_ARCHITECTURE ${MEMBOUND_CUDA_ARCHITECTURE} CACHE STRING
    "Compute capability device code is compiled for, without the dot")
endif()

function(add_device_code target source output)
  cmake_parse_arguments(PARSE_ARGV 3 arg "" "" "INCLUDES")
  set(includes ${PROJECT_SOURCE_DIR}/grader/harness/student ${arg_INCLUDES})
  list(TRANSFORM includes PREPEND -I)
  get_filename_component(source ${source} ABSOLUTE)
  file(RELATIVE_PATH shown ${PROJECT_SOURCE_DIR} ${source})
  add_custom_command(OUTPUT ${output}
    COMMAND ${MEMBOUND_NVCC}
      --options-file ${PROJECT_SOURCE_DIR}/grader/harness/student/nvcc.flags
      -arch=sm_${MEMBOUND_CUDA_ARCHITECTURE} ${includes} ${source} -o ${output}
      -MD -MF ${output}.d
    DEPENDS ${source} DEPFILE ${output}.d
    COMMENT "Compiling device code ${shown}" VERBATIM)
  add_custom_target(${target} ALL DEPENDS ${output})
endfunction()
