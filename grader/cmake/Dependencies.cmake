# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
#
# Third parties, all from Debian's packages; the version is the one of Debian 12, tested there.
find_package(Threads REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(CLI11 2.1 REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(elf REQUIRED IMPORTED_TARGET libelf>=0.188)   # cubins
pkg_check_modules(lz4 REQUIRED IMPORTED_TARGET liblz4>=1.9)    # compressed fat binaries
find_package(ZLIB 1.2 REQUIRED)  # pictures as PNG; libelf brings it
pkg_check_modules(zstd REQUIRED IMPORTED_TARGET libzstd>=1.4)
find_path(mustache_INCLUDE kainjow/mustache.hpp REQUIRED)  # header only: fills in the pages
# libcsv brings neither a CMake nor a pkg-config file.
find_path(csv_INCLUDE csv.h REQUIRED)
find_library(csv_LIBRARY csv REQUIRED)
add_library(csv::csv UNKNOWN IMPORTED)
set_target_properties(csv::csv PROPERTIES IMPORTED_LOCATION ${csv_LIBRARY}
  INTERFACE_INCLUDE_DIRECTORIES ${csv_INCLUDE})
find_package(OpenSSL 3.0 REQUIRED COMPONENTS Crypto)  # SHA-256 and HMAC
pkg_check_modules(md4c REQUIRED IMPORTED_TARGET md4c>=0.4.8)  # handouts and help on a terminal
# What text looks like: hidden characters, names that look alike. Tables and little else: compiled in
# where there is the archive, so that a student's program does not load them with the runtime.
pkg_check_modules(utf8proc REQUIRED IMPORTED_TARGET libutf8proc>=2.5)
find_library(utf8proc_ARCHIVE libutf8proc.a HINTS ${utf8proc_LIBRARY_DIRS})
add_library(utf8proc::utf8proc INTERFACE IMPORTED)
if(utf8proc_ARCHIVE)
  set_target_properties(utf8proc::utf8proc PROPERTIES
    INTERFACE_COMPILE_DEFINITIONS UTF8PROC_STATIC
    INTERFACE_INCLUDE_DIRECTORIES "${utf8proc_INCLUDE_DIRS}"
    INTERFACE_LINK_LIBRARIES ${utf8proc_ARCHIVE})
else()
  target_link_libraries(utf8proc::utf8proc INTERFACE PkgConfig::utf8proc)
endif()
pkg_check_modules(seccomp REQUIRED IMPORTED_TARGET libseccomp>=2.5)  # the jail's system call filter
find_package(GTest 1.12 REQUIRED)  # the labs' test programs are GoogleTest programs, too

# What instructors' and authors' commands need besides. Without all of these a student's machine builds
# everything but <build>/bin/membound; what asks for that program makes them required.
option(MEMBOUND_STAFF "Instructors' and authors' commands are wanted: their libraries are required" OFF)
set(required QUIET)
if(MEMBOUND_STAFF OR BUILD_TESTING OR MEMBOUND_BUILD_DOCS)
  set(required REQUIRED)
endif()
set(MEMBOUND_BUILD_STAFF TRUE)
macro(find_staff_package name)
  find_package(${name} ${ARGN} ${required})
  if(NOT ${name}_FOUND)
    set(MEMBOUND_BUILD_STAFF FALSE)
    message(STATUS "Without ${name}: instructors' commands are left out")
  endif()
endmacro()
find_staff_package(LibArchive 3.6)  # submissions come as zip and tar
find_staff_package(SQLiteCpp 3.2)   # the ledger of a graded class
find_staff_package(date 3.0)        # due dates, times of submission
find_staff_package(yaml-cpp 0.7)    # Gradescope's students, descriptions of figures
find_staff_package(pugixml 1.12)    # reads the handouts' figures, writes JUnit's format

include(CudaRuntime)
