// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/authoring/bench/peers.hpp"

#include <cooperative_groups.h>
#include <cublas_v2.h>
#include <thrust/execution_policy.h>
#include <thrust/functional.h>
#include <thrust/reverse.h>
#include <thrust/transform.h>

#include <cub/block/block_reduce.cuh>
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

// [reverse]
void reverse_with_thrust(int* d_out, const int* d_in, long long n) {
  thrust::reverse_copy(thrust::device, d_in, d_in + n, d_out);
}
// [/reverse]

// [add]
void add_with_thrust(float* d_out, const float* d_a, const float* d_b, int n) {
  thrust::transform(thrust::device, d_a, d_a + n, d_b, d_out, thrust::plus<float>());
}
// [/add]

// [calibrate]
struct Calibrated {
  float gain, offset;
  __host__ __device__ float operator()(float sample) const { return gain * sample + offset; }
};

void calibrate_with_thrust(float* d_out, const float* d_in, long long n, float gain, float offset) {
  thrust::transform(thrust::device, d_in, d_in + n, d_out, Calibrated{gain, offset});
}
// [/calibrate]

namespace {

// [sum]
/// Without temporary memory it only says in `bytes` how much it needs.
cudaError_t sum_with_cub(void* d_temporary, std::size_t& bytes, float* d_sum, const float* d_in,
                         long long n) {
  return cub::DeviceReduce::Sum(d_temporary, bytes, d_in, d_sum, n);
}
// [/sum]

}  // namespace

CubSum::CubSum(long long n) : n_(n) {
  check(sum_with_cub(nullptr, temporary_bytes_, nullptr, nullptr, n_),
        "asking CUB for its temporary memory");
  check(cudaMalloc(&d_temporary_, temporary_bytes_), "allocating CUB's temporary memory");
}

CubSum::~CubSum() { cudaFree(d_temporary_); }

void CubSum::operator()(float* d_sum, const float* d_in) const {
  std::size_t bytes = temporary_bytes_;
  check(sum_with_cub(d_temporary_, bytes, d_sum, d_in, n_), "cub::DeviceReduce::Sum");
}

namespace {

// [select]
struct IsBelow {
  int limit;
  __host__ __device__ bool operator()(int number) const { return number < limit; }
};

/// Without temporary memory it only says in `bytes` how much it needs.
cudaError_t select_with_cub(void* d_temporary, std::size_t& bytes, int* d_kept, int* d_count,
                            const int* d_in, int n, int limit) {
  return cub::DeviceSelect::If(d_temporary, bytes, d_in, d_kept, d_count, n, IsBelow{limit});
}
// [/select]

}  // namespace

CubSelect::CubSelect(int n) : n_(n) {
  check(select_with_cub(nullptr, temporary_bytes_, nullptr, nullptr, nullptr, n_, 0),
        "asking CUB for its temporary memory");
  check(cudaMalloc(&d_temporary_, temporary_bytes_), "allocating CUB's temporary memory");
}

CubSelect::~CubSelect() { cudaFree(d_temporary_); }

void CubSelect::operator()(int* d_kept, int* d_count, const int* d_in, int limit) const {
  std::size_t bytes = temporary_bytes_;
  check(select_with_cub(d_temporary_, bytes, d_kept, d_count, d_in, n_, limit),
        "cub::DeviceSelect::If");
}

namespace {

constexpr int kCenterThreads = 256;

// [center]
/// out[i] = k * in[i] - total, in a cooperative launch; `sums` has a word for each block.
__global__ void center_with_groups(int* out, const int* in, int* sums, long long n, int k) {
  using Reduce = cub::BlockReduce<int, kCenterThreads>;
  __shared__ typename Reduce::TempStorage words;
  __shared__ int total;
  const auto grid = cooperative_groups::this_grid();
  const auto threads = static_cast<long long>(grid.num_threads());
  const auto first = static_cast<long long>(grid.thread_rank());
  int value = 0;
  for (long long i = first; i < n; i += threads) value += in[i];
  value = Reduce(words).Sum(value);
  if (threadIdx.x == 0) sums[blockIdx.x] = value;
  grid.sync();
  value = 0;
  for (int b = threadIdx.x; b < gridDim.x; b += kCenterThreads) value += sums[b];
  value = Reduce(words).Sum(value);
  if (threadIdx.x == 0) total = value;
  __syncthreads();
  for (long long i = first; i < n; i += threads) out[i] = k * in[i] - total;
}
// [/center]

}  // namespace

GroupsCenter::GroupsCenter() {
  int device = 0, of_one = 0, multiprocessors = 0;
  check(cudaGetDevice(&device), "asking for the device");
  check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device),
        "asking for the multiprocessors");
  check(
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&of_one, center_with_groups, kCenterThreads, 0),
      "asking how many blocks run at once");
  blocks_ = of_one * multiprocessors;
  check(cudaMalloc(&d_sums_, sizeof(int) * static_cast<std::size_t>(blocks_)),
        "allocating the blocks' sums");
}

GroupsCenter::~GroupsCenter() { cudaFree(d_sums_); }

void GroupsCenter::operator()(int* d_out, const int* d_in, long long n, int k) const {
  int* d_sums = d_sums_;
  void* arguments[] = {&d_out, &d_in, &d_sums, &n, &k};
  check(cudaLaunchCooperativeKernel(center_with_groups, dim3(static_cast<unsigned>(blocks_)),
                                    dim3(kCenterThreads), arguments, 0, nullptr),
        "a cooperative launch");
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

namespace {

// [collaborate]
/// All sums. A first value of 64 bits makes CUB add in 64 bits; InclusiveSum would add ints.
cudaError_t scan_with_cub(void* d_temporary, std::size_t& bytes, long long* d_sums, const int* d_in,
                          int n) {
  return cub::DeviceScan::InclusiveScanInit(d_temporary, bytes, d_in, d_sums, cuda::std::plus<>{},
                                            0LL, n);
}

/// How many keys are 0, 1, ..., 255. 256 bins have 257 edges.
cudaError_t histogram_with_cub(void* d_temporary, std::size_t& bytes, unsigned* d_counts,
                               const unsigned* d_keys, int n) {
  return cub::DeviceHistogram::HistogramEven(d_temporary, bytes, d_keys, d_counts, 257, 0u, 256u,
                                             n);
}

/// One pass: ordered by bits 8 to 15. Without these two arguments it sorts by all bits.
cudaError_t radix_pass_with_cub(void* d_temporary, std::size_t& bytes, unsigned* d_sorted,
                                const unsigned* d_keys, int n) {
  return cub::DeviceRadixSort::SortKeys(d_temporary, bytes, d_keys, d_sorted, n, 8, 16);
}
// [/collaborate]

}  // namespace

cudaError_t CubCall::call(void* d_temporary, std::size_t& bytes, void* d_out,
                          const void* d_in) const {
  auto* const d_words = static_cast<unsigned*>(d_out);
  const auto* const d_keys = static_cast<const unsigned*>(d_in);
  switch (kind_) {
    case Kind::kScan:
      return scan_with_cub(d_temporary, bytes, static_cast<long long*>(d_out),
                           static_cast<const int*>(d_in), n_);
    case Kind::kHistogram:
      return histogram_with_cub(d_temporary, bytes, d_words, d_keys, n_);
    case Kind::kRadixPass:
      return radix_pass_with_cub(d_temporary, bytes, d_words, d_keys, n_);
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

namespace {

// [transpose]
/// out = 1 * in^T + 0 * in^T. cuBLAS counts by columns: our rows x cols matrix, row after row, is
/// its cols x rows matrix.
cublasStatus_t transpose_with_cublas(cublasHandle_t cublas, float* d_out, const float* d_in,
                                     int rows, int cols) {
  const float one = 1, zero = 0;
  return cublasSgeam(cublas, CUBLAS_OP_T, CUBLAS_OP_T, rows, cols, &one, d_in, cols, &zero, d_in,
                     cols, d_out, rows);
}
// [/transpose]

// [multiply]
/// c = a * b, of m x k and k x n. cuBLAS counts by columns, so it computes c^T = b^T * a^T.
cublasStatus_t multiply_with_cublas(cublasHandle_t cublas, float* d_c, const float* d_a,
                                    const float* d_b, int m, int n, int k) {
  const float one = 1, zero = 0;
  return cublasSgemm(cublas, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, d_b, n, d_a, k, &zero, d_c,
                     n);
}
// [/multiply]

}  // namespace

void Cublas::transpose(float* d_out, const float* d_in, int rows, int cols) const {
  check(transpose_with_cublas(handle_->cublas, d_out, d_in, rows, cols), "cublasSgeam");
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
  check(cublasSetMathMode(handle_->cublas, CUBLAS_PEDANTIC_MATH), "cublasSetMathMode");
  check(multiply_with_cublas(handle_->cublas, d_c, d_a, d_b, m, n, k), "cublasSgemm");
}

}  // namespace membound::authoring
