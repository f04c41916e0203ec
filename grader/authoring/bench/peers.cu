// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/authoring/bench/peers.hpp"

#include <cublas_v2.h>
#include <thrust/execution_policy.h>
#include <thrust/functional.h>
#include <thrust/reverse.h>
#include <thrust/transform.h>

#include <cub/device/device_histogram.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>
#include <cuda/std/functional>
#include <stdexcept>
#include <string>

namespace membound::authoring {
namespace {

void check(cudaError_t code, const char* what) {
  if (code != cudaSuccess)
    throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(code));
}

void check(cublasStatus_t status, const char* what) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw std::runtime_error(std::string(what) + ": " + cublasGetStatusString(status));
}

}  // namespace

void reverse_with_thrust(int* d_out, const int* d_in, long long n) {
  thrust::reverse_copy(thrust::device, d_in, d_in + n, d_out);
}

void add_with_thrust(float* d_out, const float* d_a, const float* d_b, int n) {
  thrust::transform(thrust::device, d_a, d_a + n, d_b, d_out, thrust::plus<float>());
}

CubSum::CubSum(long long n) : n_(n) {
  const float* const no_input = nullptr;
  float* const no_output = nullptr;
  check(cub::DeviceReduce::Sum(nullptr, temporary_bytes_, no_input, no_output, n_),
        "asking CUB for its temporary memory");
  check(cudaMalloc(&d_temporary_, temporary_bytes_), "allocating CUB's temporary memory");
}

CubSum::~CubSum() { cudaFree(d_temporary_); }

void CubSum::operator()(float* d_sum, const float* d_in) const {
  std::size_t bytes = temporary_bytes_;
  check(cub::DeviceReduce::Sum(d_temporary_, bytes, d_in, d_sum, n_), "cub::DeviceReduce::Sum");
}

namespace {

struct IsBelow {
  int limit;
  __host__ __device__ bool operator()(int number) const { return number < limit; }
};

}  // namespace

CubSelect::CubSelect(int n) : n_(n) {
  const int* const no_input = nullptr;
  int* const no_output = nullptr;
  check(cub::DeviceSelect::If(nullptr, temporary_bytes_, no_input, no_output, no_output, n_,
                              IsBelow{0}),
        "asking CUB for its temporary memory");
  check(cudaMalloc(&d_temporary_, temporary_bytes_), "allocating CUB's temporary memory");
}

CubSelect::~CubSelect() { cudaFree(d_temporary_); }

void CubSelect::operator()(int* d_kept, int* d_count, const int* d_in, int limit) const {
  std::size_t bytes = temporary_bytes_;
  check(cub::DeviceSelect::If(d_temporary_, bytes, d_in, d_kept, d_count, n_, IsBelow{limit}),
        "cub::DeviceSelect::If");
}

CubCall::CubCall(Kind kind, int n) : kind_(kind), n_(n) {
  check(call(nullptr, temporary_bytes_, nullptr, nullptr), "asking CUB for its temporary memory");
  check(cudaMalloc(&d_temporary_, temporary_bytes_), "allocating CUB's temporary memory");
}

CubCall::~CubCall() { cudaFree(d_temporary_); }

void CubCall::operator()(void* d_out, const void* d_in) const {
  std::size_t bytes = temporary_bytes_;
  check(call(d_temporary_, bytes, d_out, d_in), "a call of CUB");
}

cudaError_t CubCall::call(void* d_temporary, std::size_t& bytes, void* d_out,
                          const void* d_in) const {
  switch (kind_) {
    case Kind::kScan:
      // With a first value of 64 bits CUB adds in 64 bits; InclusiveSum would add ints.
      return cub::DeviceScan::InclusiveScanInit(d_temporary, bytes, static_cast<const int*>(d_in),
                                                static_cast<long long*>(d_out), cuda::std::plus<>{},
                                                0LL, n_);
    case Kind::kHistogram:
      return cub::DeviceHistogram::HistogramEven(d_temporary, bytes,
                                                 static_cast<const unsigned*>(d_in),
                                                 static_cast<unsigned*>(d_out), 257, 0u, 256u, n_);
    case Kind::kRadixPass:
      return cub::DeviceRadixSort::SortKeys(d_temporary, bytes, static_cast<const unsigned*>(d_in),
                                            static_cast<unsigned*>(d_out), n_, 8, 16);
  }
  return cudaErrorInvalidValue;
}

struct Cublas::Handle {
  cublasHandle_t cublas = nullptr;
};

Cublas::Cublas() : handle_(std::make_unique<Handle>()) {
  check(cublasCreate(&handle_->cublas), "starting cuBLAS");
}

Cublas::~Cublas() { cublasDestroy(handle_->cublas); }

// cuBLAS counts by columns: our rows x cols matrix, row after row, is its cols x rows matrix.
void Cublas::transpose(float* d_out, const float* d_in, int rows, int cols) const {
  const float one = 1;
  const float zero = 0;
  check(cublasSgeam(handle_->cublas, CUBLAS_OP_T, CUBLAS_OP_T, rows, cols, &one, d_in, cols, &zero,
                    d_in, cols, d_out, rows),
        "cublasSgeam");
}

void Cublas::transpose(double* d_out, const double* d_in, int rows, int cols) const {
  const double one = 1;
  const double zero = 0;
  check(cublasDgeam(handle_->cublas, CUBLAS_OP_T, CUBLAS_OP_T, rows, cols, &one, d_in, cols, &zero,
                    d_in, cols, d_out, rows),
        "cublasDgeam");
}

void Cublas::axpy(float* d_y, const float* d_x, int n) const {
  const float alpha = 1.5F;
  check(cublasSaxpy(handle_->cublas, n, &alpha, d_x, 1, d_y, 1), "cublasSaxpy");
}

void Cublas::gemv(float* d_c, const float* d_a, const float* d_b, int m, int n, int k) const {
  const float one = 1;
  const float zero = 0;
  const bool by_rows = n == 1;  // a's rows are cuBLAS's columns: k x m, to be transposed
  check(by_rows
            ? cublasSgemv(handle_->cublas, CUBLAS_OP_T, k, m, &one, d_a, k, d_b, 1, &zero, d_c, 1)
            : cublasSgemv(handle_->cublas, CUBLAS_OP_N, n, k, &one, d_b, n, d_a, 1, &zero, d_c, 1),
        "cublasSgemv");
}

void Cublas::gemm(float* d_c, const float* d_a, const float* d_b, int m, int n, int k) const {
  const float one = 1;
  const float zero = 0;
  check(cublasSetMathMode(handle_->cublas, CUBLAS_PEDANTIC_MATH), "cublasSetMathMode");
  // By columns it is the transposed product: c^T = b^T * a^T.
  check(cublasSgemm(handle_->cublas, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, d_b, n, d_a, k, &zero,
                    d_c, n),
        "cublasSgemm");
}

}  // namespace membound::authoring
