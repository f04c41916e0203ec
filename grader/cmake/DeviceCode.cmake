# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
#
# add_device_code(<target> <source.cu> <output> [COMPILER nvcc|clang] [CARD <NN>] [INCLUDES dir…])
#   Compiles CUDA device code alone, as the grader compiles a student's kernel.cu, into one file that
#   the harness loads at run time: <output>.fatbin by nvcc, <output>.ptx by clang, which with CARD is for that compute
#   capability, older than 8.0, and all that are newer. CMake's CUDA language
#   is not used: the rest of the project is plain C++ and builds where no CUDA host compiler works.
# add_released_code(<target> <folder> <output>)
#   The same files taken from where `membound release` put them compiled: <folder>/reference.ptx as
#   <output>.ptx, and of <folder>/reference.sm_<NN>.fatbin the newest that this build's GPU can load as
#   <output>.fatbin.
#
# MEMBOUND_DEVICE_COMPILER is nvcc where there is one, else clang, else empty;
# MEMBOUND_CUDA_ARCHITECTURE is the compute capability without its dot.
if(MEMBOUND_WITHOUT_TOOLKIT)
  set(MEMBOUND_NVCC "")
else()
  find_program(MEMBOUND_NVCC nvcc
    HINTS $ENV{MEMBOUND_TOOLKIT}/bin $ENV{CUDA_PATH}/bin
          ${PROJECT_SOURCE_DIR}/.membound/toolkit/nvidia/cu13/bin
    PATHS /usr/local/cuda/bin
    DOC "CUDA compiler for device code")
endif()
find_program(MEMBOUND_CLANG clang++
  NAMES clang++ clang++-20 clang++-19 clang++-18 clang++-17 clang++-16 clang++-15 clang++-14
  DOC "the second compiler for device code")
if(MEMBOUND_NVCC)
  set(MEMBOUND_DEVICE_COMPILER nvcc)
  execute_process(COMMAND ${MEMBOUND_NVCC} --version OUTPUT_VARIABLE answer ERROR_QUIET)
  if(answer MATCHES ", V([0-9.]+)")
    set(MEMBOUND_NVCC_VERSION ${CMAKE_MATCH_1})
  endif()
  message(STATUS "Device code: ${MEMBOUND_NVCC}")
  # A toolkit of this machine's kind compiles for another one's with that one's compiler; its runtime cannot be linked
  # there, ours can.
  if(CMAKE_CROSSCOMPILING)
    cmake_path(GET MEMBOUND_NVCC PARENT_PATH toolkit)
    cmake_path(GET toolkit PARENT_PATH toolkit)
    set(flags -ccbin ${CMAKE_CXX_COMPILER} -cudadevrt none -I${toolkit}/include -I${toolkit}/include/cccl
      -L${PROJECT_BINARY_DIR}/vgpu)
    list(JOIN flags " " flags)
    set(MEMBOUND_NVCC ${CMAKE_COMMAND} -E env "NVCC_PREPEND_FLAGS=${flags}" ${MEMBOUND_NVCC})
  endif()
elseif(MEMBOUND_CLANG)
  set(MEMBOUND_DEVICE_COMPILER clang)
  message(STATUS "Device code: ${MEMBOUND_CLANG} (no nvcc found)")
else()
  set(MEMBOUND_DEVICE_COMPILER "")
  message(STATUS "Device code: neither nvcc nor clang++ found; labs are left out "
    "(./membound doctor tells what to do)")
endif()

# The compute capability of the first GPU, so that its fatbins need no compilation at load time;
# 9.0 where there is none that nvcc makes code for, which is what the virtual GPU imitates by default.
function(detect_cuda_architecture variable)
  set(found 90)
  find_program(MEMBOUND_NVIDIA_SMI nvidia-smi DOC "asked for the GPU's compute capability")
  if(MEMBOUND_NVIDIA_SMI)
    execute_process(COMMAND ${MEMBOUND_NVIDIA_SMI} --query-gpu=compute_cap --format=csv,noheader
      OUTPUT_VARIABLE answer ERROR_QUIET RESULT_VARIABLE failed)
    if(NOT failed AND answer MATCHES "^([0-9]+)\\.([0-9])")
      set(card ${CMAKE_MATCH_1}${CMAKE_MATCH_2})
      execute_process(COMMAND ${MEMBOUND_NVCC} --list-gpu-code OUTPUT_VARIABLE known ERROR_QUIET)
      if(known MATCHES "sm_${card}\n")
        set(found ${card})
      endif()
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
  cmake_parse_arguments(PARSE_ARGV 3 arg "" "COMPILER;CARD" "INCLUDES")
  if(NOT arg_COMPILER)
    set(arg_COMPILER ${MEMBOUND_DEVICE_COMPILER})
  endif()
  set(student ${PROJECT_SOURCE_DIR}/grader/harness/student)
  set(arguments ${student} ${arg_INCLUDES})
  list(TRANSFORM arguments PREPEND -I)
  set(needed ${student}/${arg_COMPILER}.flags)
  if(arg_COMPILER STREQUAL nvcc)
    set(output ${output}.fatbin)
    list(PREPEND arguments ${MEMBOUND_NVCC} --options-file ${student}/nvcc.flags
      -arch=sm_${MEMBOUND_CUDA_ARCHITECTURE} -o ${output} -MD -MF ${output}.d)
  else()
    set(output ${output}.ptx)
    list(APPEND needed ${student}/clang/compile.sh ${student}/clang/ir.flags
      ${student}/clang/wide_copies.awk)
    if(arg_CARD)
      set(card --card ${arg_CARD})
    endif()
    list(PREPEND arguments sh ${student}/clang/compile.sh ${card} ${output} ${MEMBOUND_CLANG}
      -MD -MF ${output}.d -MT ${output})
  endif()
  get_filename_component(source ${source} ABSOLUTE)
  file(RELATIVE_PATH shown ${PROJECT_SOURCE_DIR} ${source})
  add_custom_command(OUTPUT ${output}
    COMMAND ${arguments} ${source} DEPENDS ${source} ${needed} DEPFILE ${output}.d
    COMMENT "Compiling device code ${shown} with ${arg_COMPILER}" VERBATIM)
  add_custom_target(${target} ALL DEPENDS ${output})
  set_target_properties(${target} PROPERTIES DEVICE_CODE ${output})
endfunction()

function(add_released_code target folder output)
  set(chosen 0)
  file(GLOB fatbins CONFIGURE_DEPENDS ${folder}/reference.sm_*.fatbin)
  foreach(file IN LISTS fatbins)
    string(REGEX REPLACE ".*sm_([0-9]+)\\.fatbin$" "\\1" architecture ${file})
    if(architecture GREATER chosen AND NOT architecture GREATER MEMBOUND_CUDA_ARCHITECTURE)
      set(chosen ${architecture})
    endif()
  endforeach()
  set(outputs "")
  foreach(pair reference.sm_${chosen}.fatbin:fatbin reference.ptx:ptx)
    string(REPLACE ":" ";" pair ${pair})
    list(GET pair 0 name)
    list(GET pair 1 ending)
    if(EXISTS ${folder}/${name})
      add_custom_command(OUTPUT ${output}.${ending}
        COMMAND ${CMAKE_COMMAND} -E copy ${folder}/${name} ${output}.${ending}
        DEPENDS ${folder}/${name} COMMENT "Taking over ${name}" VERBATIM)
      list(APPEND outputs ${output}.${ending})
    endif()
  endforeach()
  if(NOT outputs)
    message(FATAL_ERROR "There is neither a source nor a compiled reference answer for this GPU "
      "(compute capability ${MEMBOUND_CUDA_ARCHITECTURE}) in ${folder}: fetch the course anew")
  endif()
  add_custom_target(${target} ALL DEPENDS ${outputs})
endfunction()
