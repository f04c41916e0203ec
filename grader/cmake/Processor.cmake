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
