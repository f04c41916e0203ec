// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the program of a stage gets and gives: arrays in files. Everything else is the
/// ordinary CUDA runtime.
///
///   int main(int argc, char** argv) {
///     const membound::Program program(argc, argv);
///     const std::vector<float> samples = program.read<float>("samples");
///     if (program.stage() == 1) …
///     program.write("c", c);
///   }
#pragma once

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace membound {

/// The inputs and outputs of a lab's program: a file for each array, in two folders. A file that is
/// missing or cannot be written ends the program with exit code 2 and a line that says why.
class Program {
 public:
  /// The command line is: stage, folder of the inputs, folder for the outputs.
  Program(int argc, char** argv) {
    if (argc != 4) fail("three arguments", "a stage and two folders");
    stage_ = std::atoi(argv[1]);
    inputs_ = argv[2];
    outputs_ = argv[3];
  }

  /// The stage of the lab that is asked for.
  int stage() const { return stage_; }

  /// The input of that name.
  template <typename T>
  std::vector<T> read(const std::string& name) const {
    const std::string path = inputs_ + "/" + name;
    std::FILE* const file = std::fopen(path.c_str(), "rb");
    if (file == nullptr) fail(name, "an input of this stage");
    std::vector<T> values;
    T buffer[1024];
    for (std::size_t n = 1; n > 0;) {
      n = std::fread(buffer, sizeof(T), 1024, file);
      values.insert(values.end(), buffer, buffer + n);
    }
    std::fclose(file);
    return values;
  }

  /// Hands in `count` elements as the output of that name.
  template <typename T>
  void write(const std::string& name, const T* data, std::size_t count) const {
    const std::string path = outputs_ + "/" + name;
    std::FILE* const file = std::fopen(path.c_str(), "wb");
    if (file == nullptr) fail(name, "an output that can be written");
    const bool whole = std::fwrite(data, sizeof(T), count, file) == count;
    if (std::fclose(file) != 0 || !whole) fail(name, "room for the whole output");
  }
  template <typename T>
  void write(const std::string& name, const std::vector<T>& values) const {
    write(name, values.data(), values.size());
  }

 private:
  [[noreturn]] static void fail(const std::string& what, const char* expected) {
    std::fprintf(stderr, "%s: expected %s\n", what.c_str(), expected);
    std::exit(2);
  }

  int stage_ = 0;
  std::string inputs_, outputs_;
};

}  // namespace membound
