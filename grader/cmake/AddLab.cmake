# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
#
# add_lab(<NN-name>)
#   The whole build of a lab. From labs/<NN-name>/{test.cpp,reference.cpp}: the trusted test program
#   <build>/labs/<NN-name>/test; from solutions/<NN-name>/kernel.cu: reference.fatbin beside it; and
#   a pristine copy of the skeleton for `membound reset`.
#   With tests on, CTest holds the lab's files against one another (`membound dev check`) and runs the
#   reference answers on the virtual GPU. What the skeleton and every wrong answer do there or on a
#   GPU, `membound dev check --run <NN-name>` proves.
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

  if(BUILD_TESTING)
    add_test(NAME labs.${lab}.agrees_with_itself COMMAND membound dev check ${lab})
    add_test(NAME labs.${lab}.reference_passes COMMAND ${target}
      --lab ${source_dir}/lab.json --submission ${build_dir}/reference.fatbin
      --reference ${build_dir}/reference.fatbin
      --harness-kernels ${PROJECT_BINARY_DIR}/grader/harness/harness.fatbin
      --result ${build_dir}/reference.jsonl --seed 1)
    set_tests_properties(labs.${lab}.agrees_with_itself PROPERTIES LABELS labs
      ENVIRONMENT MEMBOUND_ROOT=${PROJECT_SOURCE_DIR})
    set_tests_properties(labs.${lab}.reference_passes PROPERTIES LABELS labs TIMEOUT 600
      ENVIRONMENT "LD_LIBRARY_PATH=${PROJECT_BINARY_DIR}/vgpu;MEMBOUND_DEVICE=vgpu:h200")
  endif()
endfunction()
