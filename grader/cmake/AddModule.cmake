# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
#
# add_module(<name> [FOLDERS dir…] [EXCEPT file…] [EXTRA_SOURCES file…] [LINKS …] [PRIVATE_LINKS …]
#            [OPTIMISE 1|2|3])
#   One room: the library membound_<name>, used as membound::<name>, of every .cpp in this folder, or
#   in the inner FOLDERS, but for those of EXCEPT; a new file needs no line here.
# add_module_tests(<name> [EXCEPT file…] [LINKS …] [SERIAL <filter>])
#   The unit tests of a room: program <name>_tests of every .cpp in this folder, every case known to CTest. Cases that SERIAL
#   matches look at the whole machine; they run together, as one test, with nothing beside them.
include(GoogleTest)

# Several sources as one, which saves most of a first build; a preset for daily work turns it off.
option(MEMBOUND_UNITY "Compile the sources of a room together" ON)
function(membound_unity)
  set_target_properties(${ARGN} PROPERTIES UNITY_BUILD ${MEMBOUND_UNITY} UNITY_BUILD_BATCH_SIZE 16)
endfunction()

# What most tests include, parsed once. Where there is ccache, which keeps nothing that was compiled with it,
# only if that is wanted: by what compiles the tests once. The rooms have none: CLI11's objects cost each source that sees them 5 s, and nlohmann's
# JSON is instantiated for longer than it is parsed.
option(MEMBOUND_TEST_HEADERS "Precompile what tests include, also where there is ccache" OFF)
if(BUILD_TESTING AND (MEMBOUND_TEST_HEADERS OR NOT MEMBOUND_CCACHE))
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/membound_test_headers.cpp CONTENT "")
  add_library(membound_test_headers OBJECT EXCLUDE_FROM_ALL
    ${CMAKE_CURRENT_BINARY_DIR}/membound_test_headers.cpp)
  target_link_libraries(membound_test_headers PRIVATE membound_options nlohmann_json::nlohmann_json
    GTest::gmock)
  target_precompile_headers(membound_test_headers PRIVATE
    <gmock/gmock.h> <gtest/gtest.h> <nlohmann/json.hpp> <filesystem>)
  # As the tests that use them: no library's, and not optimised.
  set_target_properties(membound_test_headers PROPERTIES POSITION_INDEPENDENT_CODE OFF
    MEMBOUND_OPTIMISE 0)
endif()

function(add_module name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "OPTIMISE" "FOLDERS;EXCEPT;EXTRA_SOURCES;LINKS;PRIVATE_LINKS")
  if(NOT arg_FOLDERS)
    set(arg_FOLDERS .)
  endif()
  list(TRANSFORM arg_FOLDERS APPEND /*.cpp OUTPUT_VARIABLE patterns)
  file(GLOB sources RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} CONFIGURE_DEPENDS ${patterns})
  list(REMOVE_ITEM sources ${arg_EXCEPT})
  set(target membound_${name})
  add_library(${target} STATIC ${sources} ${arg_EXTRA_SOURCES})
  add_library(membound::${name} ALIAS ${target})
  target_link_libraries(${target} PUBLIC membound_options ${arg_LINKS} PRIVATE ${arg_PRIVATE_LINKS})
  membound_unity(${target})
  membound_harden(${target})
  if(arg_OPTIMISE)
    membound_optimise(${target} LEVEL ${arg_OPTIMISE})
  endif()
endfunction()

function(add_module_tests name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "SERIAL" "EXCEPT;LINKS")
  file(GLOB sources RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} CONFIGURE_DEPENDS *.cpp)
  list(REMOVE_ITEM sources ${arg_EXCEPT})
  add_executable(${name}_tests ${sources})
  membound_unity(${name}_tests)
  if(TARGET membound_test_headers)
    # Compiled for a program, as the headers were; elsewhere all is compiled for a library.
    set_target_properties(${name}_tests PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_precompile_headers(${name}_tests REUSE_FROM membound_test_headers)
  endif()
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
