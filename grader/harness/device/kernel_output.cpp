// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/device/kernel_output.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "grader/base/strings.hpp"

namespace membound::harness {
namespace {

constexpr std::size_t kMostLines = 20, kLongestLine = 200;

}  // namespace

KernelOutput::KernelOutput(std::string& text)
    : text_(text), before_(dup(STDOUT_FILENO)), file_(memfd_create("kernel output", MFD_CLOEXEC)) {
  std::fflush(stdout);
  if (before_.open() && file_.open()) dup2(file_.get(), STDOUT_FILENO);
}

KernelOutput::~KernelOutput() {
  if (!before_.open() || !file_.open()) return;
  std::fflush(stdout);
  dup2(before_.get(), STDOUT_FILENO);
  std::array<char, 4096> piece{};
  lseek(file_.get(), 0, SEEK_SET);
  for (ssize_t size = 0; (size = read(file_.get(), piece.data(), piece.size())) > 0;) {
    const auto bytes = static_cast<std::size_t>(size);
    text_.append(piece.data(), std::min(bytes, kMostKernelOutput - text_.size()));
    std::fwrite(piece.data(), 1, bytes, stdout);
  }
}

std::string shown_output(const std::string& text) {
  if (text.empty()) return "";
  std::string shown = "\nYour kernels printed:";
  std::size_t lines = 0, left_out = 0;
  for (std::size_t start = 0; start < text.size();) {
    const auto end = std::min(text.find('\n', start), text.size());
    if (lines++ < kMostLines)
      shown += "\n  " + base::printable(text.substr(start, std::min(end - start, kLongestLine))) +
               (end - start > kLongestLine ? " …" : "");
    else
      ++left_out;
    start = end + 1;
  }
  if (left_out > 0 || text.size() >= kMostKernelOutput)
    shown += "\n  … and " +
             (text.size() >= kMostKernelOutput ? std::string("more than ") : std::string()) +
             std::to_string(left_out) + (left_out == 1 ? " more line" : " more lines") +
             "; print from one thread only";
  return shown;
}

}  // namespace membound::harness
