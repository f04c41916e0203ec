// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Instead of NVIDIA's driver, libcuda.so.1 and libnvidia-ml.so.1: reports what the environment
/// says. STAND_IN_DRIVER is "550.54.15 12040", its version and the CUDA version that it supports;
/// STAND_IN_GPUS a line for each GPU:
/// "Tesla T4;75;40;15828;15000;0;2": name, capability, SMs, megabytes, free ones, compute mode and
/// how many processes compute on it.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

int attribute_of_runtime(int* value, int attribute);  // stand_in_execution.cpp

namespace {

struct Card {
  std::string name;
  std::vector<long> numbers;
};

std::string setting(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::vector<Card> cards() {
  std::vector<Card> all;
  std::istringstream lines(setting("STAND_IN_GPUS"));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    Card card;
    std::getline(fields, card.name, ';');
    for (std::string field; std::getline(fields, field, ';');)
      card.numbers.push_back(std::stol(field));
    all.push_back(card);
  }
  return all;
}

enum Field { kCapability, kSms, kMegabytes, kFreeMegabytes, kMode, kProcesses };
long number(int device, Field field) {
  return cards()[static_cast<std::size_t>(device)].numbers[field];
}

int put(const std::string& text, char* to, int room) {
  std::snprintf(to, static_cast<std::size_t>(room), "%s", text.c_str());
  return 0;
}

constexpr std::uint64_t kMegabyte = 1000 * 1000;

/// NVML's handles are pointers; device 0 must not be null.
int device_of(const void* handle) {
  return static_cast<int>(reinterpret_cast<std::intptr_t>(handle)) - 1;
}

}  // namespace

extern "C" {

int cuInit(unsigned) { return 0; }
int cuDeviceGetCount(int* count) {
  *count = static_cast<int>(cards().size());
  return 0;
}
int cuDriverGetVersion(int* version) {
  const std::string text = setting("STAND_IN_DRIVER");
  *version = std::atoi(text.substr(text.find(' ') + 1).c_str());
  return 0;
}
int cuDeviceGetName(char* name, int room, int device) {
  return put(cards()[static_cast<std::size_t>(device)].name, name, room);
}
int cuDeviceGetPCIBusId(char* id, int room, int device) {
  return put("0000:0" + std::to_string(device) + ":00.0", id, room);
}
int cuDeviceGetUuid(unsigned char* bytes, int device) {
  std::memset(bytes, device, 16);
  return 0;
}
int cuDeviceGetAttribute(int* value, int attribute, int device) {
  switch (attribute) {
    case 16:
      *value = static_cast<int>(number(device, kSms));
      return 0;
    case 20:
      *value = static_cast<int>(number(device, kMode));
      return 0;
    case 75:
      *value = static_cast<int>(number(device, kCapability) / 10);
      return 0;
    case 76:
      *value = static_cast<int>(number(device, kCapability) % 10);
      return 0;
    default:
      return attribute_of_runtime(value, attribute);
  }
}
int cuDeviceTotalMem_v2(std::size_t* bytes, int device) {
  *bytes = static_cast<std::size_t>(number(device, kMegabytes)) * kMegabyte;
  return 0;
}

int nvmlInit_v2() { return 0; }
int nvmlShutdown() { return 0; }
int nvmlSystemGetDriverVersion(char* text, unsigned room) {
  const std::string version = setting("STAND_IN_DRIVER");
  return put(version.substr(0, version.find(' ')), text, static_cast<int>(room));
}
int nvmlDeviceGetHandleByPciBusId_v2(const char* id, void** handle) {
  *handle = reinterpret_cast<void*>(static_cast<std::intptr_t>(id[6] - '0' + 1));
  return 0;
}
int nvmlDeviceGetMemoryInfo(void* handle, std::uint64_t* total_free_used) {
  total_free_used[0] =
      static_cast<std::uint64_t>(number(device_of(handle), kMegabytes)) * kMegabyte;
  total_free_used[1] =
      static_cast<std::uint64_t>(number(device_of(handle), kFreeMegabytes)) * kMegabyte;
  total_free_used[2] = total_free_used[0] - total_free_used[1];
  return 0;
}
int nvmlDeviceGetComputeRunningProcesses_v3(void* handle, unsigned* count, void*) {
  const unsigned room = *count;
  *count = static_cast<unsigned>(number(device_of(handle), kProcesses));
  return *count > room ? 7 : 0;
}

}  // extern "C"
