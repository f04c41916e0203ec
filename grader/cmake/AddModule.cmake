# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
#
# add_module(<name> SOURCES … HEADERS … [LINKS …] [PRIVATE_LINKS …])
#   One module = one folder = one namespace = one target: library membound_<name>, used as
#   membound::<name>. HEADERS are public and each compiles alone (target all_verify_interface_…).
# add_module_tests(<name> SOURCES … [LINKS …] [SERIAL <filter>])
#   The unit tests of a module: program <name>_tests, every case known to CTest. Cases that SERIAL
#   matches look at the whole machine; they run together, as one test, with nothing beside them.
include(GoogleTest)

function(add_module name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;HEADERS;LINKS;PRIVATE_LINKS")
  set(target membound_${name})
  add_library(${target} STATIC ${arg_SOURCES})
  add_library(membound::${name} ALIAS ${target})
  target_sources(${target} PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}
    FILES ${arg_HEADERS})
  set_target_properties(${target} PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON)
  target_link_libraries(${target} PUBLIC membound_options ${arg_LINKS} PRIVATE ${arg_PRIVATE_LINKS})
endfunction()

function(add_module_tests name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "SERIAL" "SOURCES;LINKS")
  add_executable(${name}_tests ${arg_SOURCES})
  target_link_libraries(${name}_tests PRIVATE membound::${name} ${arg_LINKS} GTest::gmock
    GTest::gtest_main)
  set(filter "*")
  if(arg_SERIAL)
    add_test(NAME ${name}.serial COMMAND ${name}_tests --gtest_filter=${arg_SERIAL})
    set_tests_properties(${name}.serial PROPERTIES LABELS unit RUN_SERIAL ON)
    set(filter "-${arg_SERIAL}")
  endif()
  gtest_discover_tests(${name}_tests TEST_PREFIX ${name}. DISCOVERY_MODE PRE_TEST
    TEST_FILTER "${filter}" PROPERTIES LABELS unit)
endfunction()
