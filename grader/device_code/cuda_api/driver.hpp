// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// NVIDIA's driver library as far as it is called here: found at run time, because it is there only
/// where a driver is, in our own declarations of CUDA 12.0's cuda.h.
#pragma once

#include <dlfcn.h>
#include <cstring>
#include <type_traits>

#include "grader/device_code/cuda_api/cuda_abi.hpp"

namespace membound::cuda_api {

using Context = struct ContextOfDriver*;
using CodeModule = struct ModuleOfDriver*;
using Function = struct FunctionOfDriver*;
using Array = struct ArrayOfDriver*;
using Address = unsigned long long;

/// CUDA_ARRAY_DESCRIPTOR
struct ArrayShape {
  std::size_t width, height;
  int format;  // 0x20: float
  unsigned channels;
};

/// CUDA_MEMCPY2D
struct Copy2D {
  struct Side {
    std::size_t x_bytes, y;
    int memory_type;  // 1 host, 2 device, 3 array, 4 what the address says
    void* host;
    Address device;
    Array array;
    std::size_t pitch;
  } from, to;
  std::size_t width_bytes, height;
};

/// CUDA_RESOURCE_DESC of an array
struct TextureSource {
  int type;  // 0: an array
  union {
    Array array;
    int reserved[32];
  };
  unsigned flags;
};

/// CUDA_TEXTURE_DESC; numbers of modes are the runtime's
struct TextureReading {
  int address_mode[3], filter_mode;
  unsigned flags, max_anisotropy;
  int mipmap_filter_mode;
  float mipmap_level_bias, min_mipmap_level, max_mipmap_level, border_color[4];
  int reserved[12];
};

/// Codes are those of cudaError_t, wherever both have one for the same.
struct Functions {
#define DRIVER_FUNCTION(name, parameters) int(*name) parameters = nullptr;
#include "grader/device_code/cuda_api/driver_functions.def"
#undef DRIVER_FUNCTION

  /// The first that `library` has not; null where it has all.
  const char* load(void* library) {
    const char* missing = nullptr;
    const auto look_up = [&](auto& function, const char* name) {
      function =
          reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
      if (function == nullptr && missing == nullptr) missing = name;
    };
#define DRIVER_FUNCTION(name, parameters) look_up(name, #name);
#include "grader/device_code/cuda_api/driver_functions.def"
#undef DRIVER_FUNCTION
    return missing;
  }
};

/// A library of the driver's, "libcuda.so.1": where the search path says, or else where Windows
/// puts it into its Linux machines. Null where there is none.
inline void* open_library(const char* name) {
  constexpr int kHow = RTLD_NOW | RTLD_LOCAL;
  if (void* const found = dlopen(name, kHow)) return found;
  char path[128] = "/usr/lib/wsl/lib/";
  std::strncat(path, name, sizeof path - std::strlen(path) - 1);
  return dlopen(path, kHow);
}

}  // namespace membound::cuda_api
