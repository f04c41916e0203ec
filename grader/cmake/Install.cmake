# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
#
# The binary release: what a check on the virtual GPU starts, the libraries of Debian that it loads, their
# licences. `cmake --install <build> --prefix DIR` puts it into a folder, cpack into an archive, and
# `membound release --binaries` into a student's tree.
#
# membound_install(<target> [COMPONENT <name>])
#   What the target builds, at the place that it has in the build folder: its run path leads from there to
#   lib/ (Options.cmake). Components: `programs`, one for each lab, and `libraries`.
# membound_install_libraries()
#   Called last: the libraries of all that was installed, as install_libraries.cmake says.
if(CMAKE_INSTALL_PREFIX_INITIALIZED_TO_DEFAULT)
  set_property(CACHE CMAKE_INSTALL_PREFIX PROPERTY VALUE /opt/membound)
endif()

function(membound_install target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "COMPONENT" "")
  if(NOT arg_COMPONENT)
    set(arg_COMPONENT programs)
  endif()
  set(file $<TARGET_FILE:${target}>)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL SHARED_LIBRARY)
    set(file $<TARGET_SONAME_FILE:${target}>)
  endif()
  set(name $<PATH:RELATIVE_PATH,${file},${PROJECT_BINARY_DIR}>)
  # Not install(TARGETS), which does not know a name with a folder in it, as the labs' programs have.
  install(PROGRAMS ${file} DESTINATION $<PATH:GET_PARENT_PATH,${name}> COMPONENT ${arg_COMPONENT})
  set_property(GLOBAL APPEND PROPERTY MEMBOUND_INSTALLED ${name})
endfunction()

function(membound_install_libraries)
  get_property(programs GLOBAL PROPERTY MEMBOUND_INSTALLED)
  # Debian's packages whose code is compiled into the programs.
  set(compiled_in libcli11-dev libgtest-dev nlohmann-json3-dev)
  if(utf8proc_ARCHIVE)
    list(APPEND compiled_in libutf8proc-dev)
  endif()
  install(CODE "
    set(membound_build \"${PROJECT_BINARY_DIR}\")
    set(membound_programs \"${programs}\")
    set(membound_compiled_in \"${compiled_in}\")
    set(membound_machine \"${CMAKE_SYSTEM_PROCESSOR}\")" COMPONENT libraries)
  install(SCRIPT ${PROJECT_SOURCE_DIR}/grader/cmake/install_libraries.cmake COMPONENT libraries)
endfunction()
