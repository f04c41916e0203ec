# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
#
# Warnings and sanitizers as one INTERFACE target, `membound_options`; there are no global flags.
option(MEMBOUND_WERROR "Warnings are errors (preset dev, continuous integration)" OFF)
option(MEMBOUND_WITHOUT_TOOLKIT
  "Build as where no CUDA toolkit is: neither nvcc nor NVIDIA's runtime is looked for" OFF)
option(MEMBOUND_BUILD_BENCH "Build membound_bench, which needs cuBLAS, CUB and Thrust" OFF)
option(MEMBOUND_FAILPOINTS "Tests can kill the program at named places and switch defences off" OFF)
set(MEMBOUND_SANITIZER "" CACHE STRING "What -fsanitize= takes, such as address,undefined; empty for none")
option(MEMBOUND_FAST_BUILD
  "Only what works on every lane, instruction or element is optimised (-O2, -O3); what waits for compilers, processes and files is compiled at -Og and tests at -O0, whatever the build type says. Halves a first build; the presets have it ON" OFF)
option(MEMBOUND_FUZZ "Fuzzers under grader/tests/fuzz (clang only)" OFF)

add_library(membound_options INTERFACE)
target_compile_features(membound_options INTERFACE cxx_std_20)
# Members left out of a designated initialiser have their default on purpose.
target_compile_options(membound_options INTERFACE -Wall -Wextra -Wshadow -Wnon-virtual-dtor
  -Wno-missing-field-initializers)
# GCC 12 sees overlaps in std::string's own operator+ at -O3 (GCC bug 105651), and at -O1 or under a
# sanitizer takes std::optional and std::regex for uninitialised.
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(membound_options INTERFACE -Wno-restrict -Wno-maybe-uninitialized)
endif()
if(MEMBOUND_WERROR)
  target_compile_options(membound_options INTERFACE -Werror)
endif()
if(MEMBOUND_SANITIZER)
  # -O1, or a target's own level 0, whatever the configuration says: instrumented code takes GCC several
  # times as long at -O2, and it optimises some mistakes away. Line numbers are all that a report needs
  # of debug information.
  target_compile_options(membound_options INTERFACE
    -O$<IF:$<STREQUAL:$<TARGET_PROPERTY:MEMBOUND_OPTIMISE>,0>,0,1> -g1
    -fsanitize=${MEMBOUND_SANITIZER} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(membound_options INTERFACE -fsanitize=${MEMBOUND_SANITIZER})
endif()
# What a program that was built without the sanitizer must load first when it loads a library of ours;
# a list for LD_PRELOAD.
set(MEMBOUND_SANITIZER_RUNTIME "")
if(MEMBOUND_SANITIZER AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  foreach(pair IN ITEMS "address libasan.so" "thread libtsan.so" "undefined libubsan.so")
    string(REPLACE " " ";" pair "${pair}")
    list(GET pair 0 sanitizer)
    list(GET pair 1 library)
    if(MEMBOUND_SANITIZER MATCHES ${sanitizer})
      execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=${library}
        OUTPUT_VARIABLE path OUTPUT_STRIP_TRAILING_WHITESPACE)
      string(APPEND MEMBOUND_SANITIZER_RUNTIME "${path} ")
    endif()
  endforeach()
endif()
target_include_directories(membound_options INTERFACE ${PROJECT_SOURCE_DIR})
# A program loads those libraries that it uses, and not all that a room below may need.
target_link_options(membound_options INTERFACE LINKER:--as-needed)
target_compile_options(membound_options INTERFACE ${MEMBOUND_SAME_RESULTS})
# What is handed out built says nothing of the machine that built it.
target_compile_options(membound_options INTERFACE -fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=)

# Release and RelWithDebInfo mean -O2, or -O3 where time is spent: in what works on every lane,
# instruction or element. -O3 takes GCC half as long again as -O1, and -O1 a third longer than -Og; with
# MEMBOUND_FAST_BUILD everything else, which waits for compilers, processes and files, is compiled at
# -Og, or at a lower level that was set for it.
#   membound_optimise(<target>… LEVEL 1|2|3)   1: what every check waits for, -O2 without MEMBOUND_FAST_BUILD
# A folder's own level with MEMBOUND_FAST_BUILD, of all targets below: set(MEMBOUND_OPTIMISE 0).
define_property(TARGET PROPERTY MEMBOUND_OPTIMISE INITIALIZE_FROM_VARIABLE MEMBOUND_OPTIMISE)
function(membound_optimise)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "LEVEL" "")
  set_target_properties(${arg_UNPARSED_ARGUMENTS} PROPERTIES MEMBOUND_OPTIMISE ${arg_LEVEL})
endfunction()
if(NOT MEMBOUND_SANITIZER)
  set(level $<TARGET_PROPERTY:MEMBOUND_OPTIMISE>)
  if(MEMBOUND_FAST_BUILD)
    set(level $<IF:$<STREQUAL:${level},>,g,${level}>)
  else()
    set(level $<IF:$<STREQUAL:${level},3>,3,2>)
  endif()
  target_compile_options(membound_options INTERFACE $<$<NOT:$<CONFIG:Debug>>:-O${level}>)
endif()

# A net under mistakes of ours in what reads a stranger's bytes. What each costs: docs/security.md.
#   membound_harden(<target>… [INNER_LOOPS])   with INNER_LOOPS without stack canaries
function(membound_harden)
  cmake_parse_arguments(PARSE_ARGV 0 arg "INNER_LOOPS" "" "")
  if(MEMBOUND_SANITIZER)
    return()  # a closer net
  endif()
  foreach(target IN LISTS arg_UNPARSED_ARGUMENTS)
    target_compile_definitions(${target} PRIVATE _GLIBCXX_ASSERTIONS)
    # Debian's and Ubuntu's compilers may have set it; without an optimizer it only warns.
    target_compile_options(${target} PRIVATE
      $<$<NOT:$<CONFIG:Debug>>:-U_FORTIFY_SOURCE> $<$<NOT:$<CONFIG:Debug>>:-D_FORTIFY_SOURCE=3>)
    if(NOT arg_INNER_LOOPS)
      target_compile_options(${target} PRIVATE -fstack-protector-strong)
    endif()
  endforeach()
endfunction()

set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
# Programs find what lies beside them when the build folder is moved (membound release --binaries).
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)
set(CMAKE_BUILD_RPATH "$ORIGIN/../lib")
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# A second build of the same sources then takes seconds. Left out where it cannot keep anything, as it
# would fail each compilation.
find_program(MEMBOUND_CCACHE ccache DOC "keeps what was compiled")
if(MEMBOUND_CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  execute_process(COMMAND ${MEMBOUND_CCACHE} ${CMAKE_CXX_COMPILER} -c -x c++ /dev/null
      -o ${PROJECT_BINARY_DIR}/ccache_works.o
    RESULT_VARIABLE ccache_failed OUTPUT_QUIET ERROR_QUIET)
  if(NOT ccache_failed)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${MEMBOUND_CCACHE})
  endif()
endif()
