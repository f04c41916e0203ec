// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The words for what is enforced and which limit was hit.
#include "grader/sandbox/jail/jail.hpp"

namespace membound::jail {

std::string_view to_string(Mechanism mechanism) {
  switch (mechanism) {
    case Mechanism::kCgroupV2:
      return "cgroup v2";
    case Mechanism::kCgroupV1:
      return "cgroup v1";
    case Mechanism::kNamespace:
      return "namespace";
    case Mechanism::kSeccomp:
      return "seccomp";
    case Mechanism::kLandlock:
      return "Landlock";
    case Mechanism::kRlimit:
      return "rlimit";
    case Mechanism::kSupervisor:
      return "supervisor";
    case Mechanism::kNone:
      return "none";
  }
  return "none";
}

std::string_view to_string(LimitHit hit) {
  switch (hit) {
    case LimitHit::kNone:
      return "";
    case LimitHit::kWall:
      return "wall clock";
    case LimitHit::kCpu:
      return "CPU time";
    case LimitHit::kMemory:
      return "memory";
    case LimitHit::kOutput:
      return "output";
    case LimitHit::kFileSize:
      return "file size";
    case LimitHit::kProcesses:
      return "processes";
    case LimitHit::kSyscall:
      return "forbidden system call";
  }
  return "";
}

bool Enforcement::untrusted_ok() const {
  for (const Mechanism one : {memory, cpu, processes, files, network, syscalls})
    if (one == Mechanism::kNone) return false;
  return true;
}

std::string Enforcement::describe() const {
  const auto part = [](const char* what, Mechanism mechanism) {
    return std::string(what) + ": " + std::string(to_string(mechanism));
  };
  std::string text = part("files", files);
  if (landlock_abi > 0 && files != Mechanism::kNone)
    text += " + Landlock ABI " + std::to_string(landlock_abi);
  text += ", " + part("network", network) + ", " + part("system calls", syscalls) + ", " +
          part("memory", memory) + ", " + part("CPU time", cpu) + ", " +
          part("processes", processes) +
          ", user: " + (drops_user ? "a number of its own for every run" : "ours, in a namespace");
  if (!problem.empty()) text += " (" + problem + ")";
  return text;
}

}  // namespace membound::jail
