// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Runs a CUDA program of this folder on the virtual GPU and takes what it says.
#pragma once

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>
#include <vector>

namespace membound::vgpu::runtime {

struct Outcome {
  int status = 0;  ///< as of waitpid
  std::string said;
};

/// Runs a program of this folder. `when_it_says`: then it gets SIGINT.
inline Outcome run(const std::string& program, const std::string& argument,
                   const std::vector<std::string>& environment,
                   const std::string& when_it_says = "") {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) return {};
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDOUT_FILENO);
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]);
    close(ends[1]);
    for (const std::string& entry : environment) putenv(const_cast<char*>(entry.c_str()));
    setenv("LD_LIBRARY_PATH", MEMBOUND_CUDART_FOLDER, 1);
    const std::string path = std::string(MEMBOUND_PROGRAM_FOLDER "/") + program;
    execl(path.c_str(), path.c_str(), argument.c_str(), nullptr);
    _exit(127);
  }
  close(ends[1]);
  Outcome outcome;
  std::array<char, 4096> buffer{};
  bool interrupted = when_it_says.empty();
  for (ssize_t got = 0; (got = read(ends[0], buffer.data(), buffer.size())) > 0;) {
    outcome.said.append(buffer.data(), static_cast<std::size_t>(got));
    if (!interrupted && outcome.said.find(when_it_says) != std::string::npos) {
      usleep(300'000);  // the kernel starts right after the word
      kill(child, SIGINT);
      interrupted = true;
    }
  }
  close(ends[0]);
  waitpid(child, &outcome.status, 0);
  return outcome;
}

}  // namespace membound::vgpu::runtime
