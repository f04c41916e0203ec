# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
#
# All that the build knows of the processor that it builds for; grader/base/processor.hpp is the same for C++.
#
# MEMBOUND_CUDA_TARGET        the folder of a CUDA toolkit, in targets/, with what runs on this kind
# MEMBOUND_NEWER_LANES        the variant of the virtual GPU's lane loops for newer processors of this kind, if any,
# MEMBOUND_NEWER_LANES_FLAGS  and what they are compiled with
# MEMBOUND_SAME_RESULTS       with these a program computes what it computes on x86-64, where they change nothing: a
#                             product and a sum round twice, char has a sign
# MEMBOUND_LANES              the variants to build, of which the newer one alone serves where this machine runs it
option(MEMBOUND_NEWER_LANES_ONLY
  "Where this machine's processor is of 2013 or newer, its lane loops alone: a sixth of a first build; what is handed out built (MEMBOUND_STAFF) has both" OFF)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|amd64|AMD64)$")
  set(MEMBOUND_CUDA_TARGET x86_64-linux)
  set(MEMBOUND_NEWER_LANES avx2)
  set(MEMBOUND_NEWER_LANES_FLAGS -mavx2 -mfma -mbmi -mbmi2 -mlzcnt -mpopcnt)
  set(MEMBOUND_SAME_RESULTS "")
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  set(MEMBOUND_CUDA_TARGET sbsa-linux)
  set(MEMBOUND_NEWER_LANES "")
  set(MEMBOUND_NEWER_LANES_FLAGS "")
  set(MEMBOUND_SAME_RESULTS -ffp-contract=off -fsigned-char)
else()
  message(FATAL_ERROR "Membound is built for x86-64 and for aarch64, not for ${CMAKE_SYSTEM_PROCESSOR}: "
    "grader/cmake/Processor.cmake and grader/base/processor.hpp say what another one needs")
endif()
set(MEMBOUND_LANES generic ${MEMBOUND_NEWER_LANES})
if(MEMBOUND_NEWER_LANES_ONLY AND MEMBOUND_NEWER_LANES AND NOT MEMBOUND_STAFF AND NOT CMAKE_CROSSCOMPILING)
  file(STRINGS /proc/cpuinfo flags REGEX "^flags.* avx2 " LIMIT_COUNT 1)
  if(flags MATCHES " fma " AND flags MATCHES " bmi2 ")
    set(MEMBOUND_LANES ${MEMBOUND_NEWER_LANES})
  endif()
endif()
# ./membound builds again where a folder that machines share comes to an older one.
if("generic" IN_LIST MEMBOUND_LANES)
  file(REMOVE ${PROJECT_BINARY_DIR}/newer_lanes_only)
else()
  file(TOUCH ${PROJECT_BINARY_DIR}/newer_lanes_only)
endif()
