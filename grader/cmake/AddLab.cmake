# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
#
# add_lab(<NN-name>)
#   The whole build of a lab. From labs/<NN-name>/{test.cpp,reference.cpp}: the trusted test program
#   <build>/labs/<NN-name>/test; from solutions/<NN-name>/kernel.cu: reference.fatbin beside it; and
#   a pristine copy of the skeleton for `membound reset`.
#   With tests on, CTest runs `membound dev check --run <NN-name>`: the reference passes, the
#   skeleton fails, every wrong answer fails the test it names.
function(add_lab lab)
  set(source_dir ${PROJECT_SOURCE_DIR}/labs/${lab})
  set(build_dir ${PROJECT_BINARY_DIR}/labs/${lab})
  string(MAKE_C_IDENTIFIER lab_${lab} target)

  add_executable(${target} ${source_dir}/test.cpp ${source_dir}/reference.cpp)
  # Ninja makes an alias of every output's name, and `test` alone is CTest's.
  set_target_properties(${target} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/labs OUTPUT_NAME ${lab}/test)
  target_link_libraries(${target} PRIVATE membound::harness)

  add_device_code(${target}_reference ${PROJECT_SOURCE_DIR}/solutions/${lab}/kernel.cu
    ${build_dir}/reference.fatbin INCLUDES ${source_dir})
  add_dependencies(${target} ${target}_reference)

  configure_file(${source_dir}/kernel.cu ${PROJECT_BINARY_DIR}/share/labs/${lab}/kernel.cu COPYONLY)
endfunction()
