# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
#
# add_lab(<NN-name> [LADDER <machine>…])
#   The whole build of a lab, from the files in labs/<NN-name> and solutions/<NN-name>/kernel.cu.
#   Where its stages are about kernels (test.cpp): the trusted test program
#   <build>/labs/<NN-name>/test and the reference answer beside it, by each device compiler that is
#   here. In a student's tree, which has no solutions/, those that were compiled for it:
#   released/<NN-name>/. Where stages are about whole programs (program_test.cpp): program_test.
#   Of a lab with an oracle.cpp: that as a library, labs/<NN-name>/oracle.so, which bin/oracle_test and
#   bin/oracle_program_test load.
#   With tests on, CTest proves the lab on the virtual GPU:
#     agrees_with_itself   its files against one another
#     claims_hold          skeleton, reference answer and wrong answers do what they claim; where
#                          both are here, with nvcc and with clang, and with equal verdicts; and
#                          pages quote what the virtual GPU says
#     ladder.<machine>     the stages' predicted speeds are in the order that lab.json gives, on
#                          all of MEMBOUND_LADDER_MACHINES but where LADDER names some
#   With MEMBOUND_CLAIMS_TURN=<number> every second lab is proved with one compiler and on every
#   second machine; with the next number the others are.
#   On a GPU, `membound dev check --run <NN-name>` proves the same. Programs are compiled by nvcc
#   alone, have no reference answer beside them, and stand on no ladder.
#   A test or an oracle takes the contract's numbers from "labs/<NN-name>/kernel_constants.hpp", which
#   is made of the `inline constexpr` lines of kernel.cuh: the namespace membound::kernel_constants.
# add_program_tests(<target> <folder> <NN-name>)
#   The test program for the stages about programs of the lab in <folder>:
#   <build>/labs/<NN-name>/program_test. What it runs, it is given when it starts: the runner and the
#   forwarding runtime.
include(KernelConstants)

# kernel_constants.hpp of the lab, for <target>: its test program or its oracle.
function(add_kernel_constants target source_dir lab)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source_dir}/kernel.cuh)
  write_kernel_constants(${source_dir}/kernel.cuh
    ${PROJECT_BINARY_DIR}/constants/labs/${lab}/kernel_constants.hpp)
  target_include_directories(${target} PRIVATE ${PROJECT_BINARY_DIR}/constants)
endfunction()

function(add_program_tests target source_dir lab)
  add_executable(${target} ${source_dir}/program_test.cpp)
  set_target_properties(${target} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/labs OUTPUT_NAME ${lab}/program_test
    BUILD_RPATH "$ORIGIN/../../lib")  # CMake does not count the name's folder
  target_link_libraries(${target} PRIVATE membound::harness_program_main)
  add_kernel_constants(${target} ${source_dir} ${lab})
  add_dependencies(${target} runner_program forward_cudart)
endfunction()

# The reference answer <build>/labs/<NN-name>/reference.fatbin, .ptx, which kernels are held against.
function(add_reference target source_dir lab)
  set(build_dir ${PROJECT_BINARY_DIR}/labs/${lab})
  set(solution ${PROJECT_SOURCE_DIR}/solutions/${lab}/kernel.cu)
  if(EXISTS ${solution})
    add_device_code(${target}_reference ${solution} ${build_dir}/reference INCLUDES ${source_dir})
    if(MEMBOUND_NVCC AND MEMBOUND_CLANG)
      add_device_code(${target}_reference_clang ${solution} ${build_dir}/reference COMPILER clang
        INCLUDES ${source_dir})
      add_dependencies(${target} ${target}_reference_clang)
    endif()
  else()
    add_released_code(${target}_reference ${PROJECT_SOURCE_DIR}/released/${lab}
      ${build_dir}/reference)
  endif()
  add_dependencies(${target} ${target}_reference)
endfunction()

# The test program <build>/labs/<NN-name>/test for the stages about kernels.
function(add_kernel_tests target source_dir lab)
  add_executable(${target} ${source_dir}/test.cpp)
  # Ninja makes an alias of every output's name, and `test` alone is CTest's.
  set_target_properties(${target} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/labs OUTPUT_NAME ${lab}/test
    # CMake does not count the name's folder. The last slash leaves room for a wheel's ../../vgpu.
    BUILD_RPATH "$ORIGIN/../../lib;$ORIGIN/../../gpu/")
  target_link_libraries(${target} PRIVATE membound::harness)
  add_kernel_constants(${target} ${source_dir} ${lab})
  membound_optimise(${target} LEVEL 2)  # draws inputs, compares outputs

  add_reference(${target} ${source_dir} ${lab})
endfunction()

set(MEMBOUND_LADDER_MACHINES h200 h100 titan-v k80)
set(MEMBOUND_CLAIMS_TURN "" CACHE STRING
  "A number: what proves labs with a second compiler and on further machines runs by turns; empty: all of it")

function(add_lab lab)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "LADDER")
  if(NOT ARG_LADDER)
    set(ARG_LADDER ${MEMBOUND_LADDER_MACHINES})
  endif()
  set(source_dir ${PROJECT_SOURCE_DIR}/labs/${lab})
  string(MAKE_C_IDENTIFIER lab_${lab} target)
  file(READ ${source_dir}/lab.json lab_json)
  if(EXISTS ${source_dir}/oracle.cpp)
    # Without our warnings: it is its author's, and a check compiles it, too, where this one is old.
    add_library(${target} MODULE ${source_dir}/oracle.cpp)
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/grader/harness/student)
    add_kernel_constants(${target} ${source_dir} ${lab})
    target_compile_features(${target} PRIVATE cxx_std_20)
    target_compile_options(${target} PRIVATE ${MEMBOUND_SAME_RESULTS})
    set_target_properties(${target} PROPERTIES PREFIX "" OUTPUT_NAME oracle SUFFIX .so
      LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/labs/${lab})
    add_dependencies(${target} oracle_test oracle_program_test)
    string(JSON host_code ERROR_VARIABLE none TYPE "${lab_json}" host_code)
    if(NOT host_code STREQUAL OBJECT)
      set(kernels TRUE)
      add_reference(${target} ${source_dir} ${lab})
    endif()
  elseif(EXISTS ${source_dir}/test.cpp)
    set(kernels TRUE)
    add_kernel_tests(${target} ${source_dir} ${lab})
    if(EXISTS ${source_dir}/program_test.cpp)
      add_program_tests(${target}_program ${source_dir} ${lab})
      membound_install(${target}_program COMPONENT ${lab})
      add_dependencies(${target} ${target}_program)
    endif()
  else()
    add_program_tests(${target} ${source_dir} ${lab})
  endif()
  membound_install(${target} COMPONENT ${lab})
  add_dependencies(labs ${target})
  if(NOT BUILD_TESTING OR NOT EXISTS ${PROJECT_SOURCE_DIR}/solutions/${lab}/kernel.cu)
    return()
  endif()

  if(MEMBOUND_CLAIMS_TURN STREQUAL "")
    set(has_turn TRUE)
  else()
    string(REGEX MATCH "^[0-9]+" number ${lab})
    math(EXPR parity "(${number} + ${MEMBOUND_CLAIMS_TURN}) % 2")
    if(parity)
      set(has_turn FALSE)
      list(FILTER ARG_LADDER EXCLUDE REGEX "^(h200|titan-v)$")
    else()
      set(has_turn TRUE)
      list(FILTER ARG_LADDER EXCLUDE REGEX "^(h100|k80)$")
    endif()
  endif()
  add_test(NAME labs.${lab}.agrees_with_itself COMMAND membound dev check ${lab})
  set(tests labs.${lab}.agrees_with_itself)
  if(kernels OR MEMBOUND_NVCC)
    set(compilers ${MEMBOUND_DEVICE_COMPILER})
    if(has_turn AND kernels AND MEMBOUND_NVCC AND MEMBOUND_CLANG)
      set(compilers both)
    endif()
    add_test(NAME labs.${lab}.claims_hold
      COMMAND membound dev check --run ${lab} --device vgpu:h200 --compiler ${compilers})
    list(APPEND tests labs.${lab}.claims_hold)
  endif()
  # A lab whose stages do different work says that they have no order.
  string(JSON ladder_length ERROR_VARIABLE no_ladder LENGTH "${lab_json}" ladder)
  if(kernels AND NOT ladder_length EQUAL 0)
    foreach(machine IN LISTS ARG_LADDER)
      add_test(NAME labs.${lab}.ladder.${machine}
        COMMAND membound dev ladder ${lab} --device vgpu:${machine})
      list(APPEND tests labs.${lab}.ladder.${machine})
    endforeach()
  endif()
  # Each of them keeps all cores busy by itself.
  set_tests_properties(${tests} PROPERTIES LABELS labs TIMEOUT 1500 PROCESSORS 2
    ENVIRONMENT MEMBOUND_ROOT=${PROJECT_SOURCE_DIR})
endfunction()
