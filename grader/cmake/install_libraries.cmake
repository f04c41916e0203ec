# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
#
# Run by `cmake --install` after the programs (Install.cmake sets what it needs): puts beside those that
# were installed
#   lib/        the libraries that they load, but for those of the C and C++ compilers, which every machine
#               has in the version that its programs need, and for CUDA's runtime
#   licences/   of these and of what is compiled in, a file for each of Debian's packages
#   machine     what `uname -m` prints
set(prefix "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}")
set(installed "")
foreach(name IN LISTS membound_programs)
  if(EXISTS "${prefix}/${name}")
    list(APPEND installed "${membound_build}/${name}")
  endif()
endforeach()

file(GET_RUNTIME_DEPENDENCIES LIBRARIES ${installed} RESOLVED_DEPENDENCIES_VAR libraries
  PRE_EXCLUDE_REGEXES "^ld-linux" "^lib(c|m|dl|pthread|rt)\\.so" "^libstdc\\+\\+" "^libgcc_s" "^libcudart")
find_program(DPKG dpkg)
if(NOT DPKG)
  message(FATAL_ERROR "dpkg, which tells whose licence a library has, is missing: the binary release is "
    "made on Debian and Ubuntu")
endif()
set(packages ${membound_compiled_in})
foreach(library IN LISTS libraries)
  get_filename_component(name "${library}" NAME)
  file(REAL_PATH "${library}" file)
  file(MAKE_DIRECTORY "${prefix}/lib")
  message(STATUS "Installing: ${prefix}/lib/${name}")
  file(COPY_FILE "${file}" "${prefix}/lib/${name}" ONLY_IF_DIFFERENT)
  file(CHMOD "${prefix}/lib/${name}" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE
    GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
  # Its package, by the name of the file behind the links: /lib may be a link to /usr/lib.
  get_filename_component(file "${file}" NAME)
  execute_process(COMMAND ${DPKG} -S "*/${file}" OUTPUT_VARIABLE owner ERROR_VARIABLE said)
  # A line "package:architecture: path"; others say whose file was put aside for another's.
  if(NOT owner MATCHES "(^|\n)([a-z0-9][a-z0-9.+-]*)(:[a-z0-9]+)?[:,] ")
    string(REGEX REPLACE "dpkg-query: warning:[^\n]*\n" "" said "${said}")
    message(FATAL_ERROR "${library} belongs to no package of Debian's, which would have its licence "
      "(dpkg -S: ${owner}${said})")
  endif()
  list(APPEND packages ${CMAKE_MATCH_2})
endforeach()

list(REMOVE_DUPLICATES packages)
file(MAKE_DIRECTORY "${prefix}/licences")
foreach(package IN LISTS packages)
  set(licence /usr/share/doc/${package}/copyright)
  if(NOT EXISTS ${licence})
    message(FATAL_ERROR "${licence}, the licence of what is handed out, is missing: "
      "apt-get install --reinstall ${package}")
  endif()
  message(STATUS "Installing: ${prefix}/licences/${package}")
  file(REAL_PATH ${licence} licence)
  file(COPY_FILE ${licence} "${prefix}/licences/${package}" ONLY_IF_DIFFERENT)
endforeach()
file(WRITE "${prefix}/machine" "${membound_machine}\n")
