// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The library calls that a user would make instead of writing the kernels of the labs: cuBLAS,
/// CUB, Thrust. All queue on the default stream.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>

namespace membound::authoring {

/// thrust::reverse_copy on the device.
void reverse_with_thrust(int* d_out, const int* d_in, long long n);

/// cub::DeviceReduce::Sum, with its temporary memory allocated beforehand.
class CubSum {
 public:
  explicit CubSum(long long n);
  ~CubSum();
  CubSum(const CubSum&) = delete;
  CubSum& operator=(const CubSum&) = delete;
  void operator()(float* d_sum, const float* d_in) const;

 private:
  long long n_;
  void* d_temporary_ = nullptr;
  std::size_t temporary_bytes_ = 0;
};

/// cub::DeviceSelect::If, with its temporary memory allocated beforehand: as stage 3 of lab 10, but
/// in the order of the numbers.
class CubSelect {
 public:
  explicit CubSelect(int n);
  ~CubSelect();
  CubSelect(const CubSelect&) = delete;
  CubSelect& operator=(const CubSelect&) = delete;
  /// Numbers below `limit`, and how many they are.
  void operator()(int* d_kept, int* d_count, const int* d_in, int limit) const;

 private:
  int n_;
  void* d_temporary_ = nullptr;
  std::size_t temporary_bytes_ = 0;
};

/// Stage 5 of lab 10 with CUB's sum of a block and cooperative groups' barrier of the grid, in as
/// many blocks as run at once.
class GroupsCenter {
 public:
  GroupsCenter();
  ~GroupsCenter();
  GroupsCenter(const GroupsCenter&) = delete;
  GroupsCenter& operator=(const GroupsCenter&) = delete;
  void operator()(int* d_out, const int* d_in, long long n, int k) const;

 private:
  int blocks_ = 0;
  int* d_sums_ = nullptr;
};

/// One call of CUB on n ints or keys, with its temporary memory allocated beforehand.
class CubCall {
 public:
  enum class Kind {
    kScan,       ///< DeviceScan: out[i] = in[0] + ... + in[i] in 64 bits
    kHistogram,  ///< DeviceHistogram: how many of the keys are 0, 1, ..., 255; there are no others
    kRadixPass   ///< DeviceRadixSort: ordered by bits 8 to 15, in one pass
  };
  CubCall(Kind kind, int n);
  ~CubCall();
  CubCall(const CubCall&) = delete;
  CubCall& operator=(const CubCall&) = delete;
  void operator()(void* d_out, const void* d_in) const;

 private:
  cudaError_t call(void* d_temporary, std::size_t& bytes, void* d_out, const void* d_in) const;

  Kind kind_;
  int n_;
  void* d_temporary_ = nullptr;
  std::size_t temporary_bytes_ = 0;
};

/// out[i] = a[i] + b[i], with thrust::transform on the device.
void add_with_thrust(float* d_out, const float* d_a, const float* d_b, int n);

/// out[i] = gain * in[i] + offset, with thrust::transform on the device.
void calibrate_with_thrust(float* d_out, const float* d_in, long long n, float gain, float offset);

/// Calls of cuBLAS, with its handle.
class Cublas {
 public:
  Cublas();
  ~Cublas();
  Cublas(const Cublas&) = delete;
  Cublas& operator=(const Cublas&) = delete;
  /// geam as a transpose: out = 1 * in^T + 0 * in^T.
  void transpose(float* d_out, const float* d_in, int rows, int cols) const;
  void transpose(double* d_out, const double* d_in, int rows, int cols) const;
  /// y = 1.5 * x + y.
  void axpy(float* d_y, const float* d_x, int n) const;
  /// c = a * b with one column of results (n = 1) or one row (m = 1): gemv, by rows or by columns
  /// of the matrix. All row after row, without gaps.
  void gemv(float* d_c, const float* d_a, const float* d_b, int m, int n, int k) const;
  /// c = a * b, row after row, without gaps; in float throughout, without tensor cores.
  void gemm(float* d_c, const float* d_a, const float* d_b, int m, int n, int k) const;

 private:
  struct Handle;
  std::unique_ptr<Handle> handle_;
};

}  // namespace membound::authoring
