// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What each kind of instruction costs: one warp alone with each waiting for the one before
/// (latency), and 64 warps on every SM (throughput). Also what starting blocks, waiting at
/// barriers, memory and atomics cost, and what the runtime says of the device.
#include "grader/vgpu/calibration/timed.cuh"

namespace {

using Wide = unsigned long long;
constexpr int kUnroll = 16;

// INSTRUCTION(name, type of the chained value, constraint, its asm)
#define INSTRUCTIONS(X)                                                                            \
  X(add_s32, unsigned, "+r", "add.s32 %0, %0, %1;")                                                \
  X(mad_s32, unsigned, "+r", "mad.lo.s32 %0, %0, %1, %1;")                                         \
  X(shf, unsigned, "+r", "shf.l.wrap.b32 %0, %0, %1, %1;")                                         \
  X(min_s32, unsigned, "+r", "min.s32 %0, %0, %1;")                                                \
  X(add_s64, Wide, "+l", "add.s64 %0, %0, %2;")                                                    \
  X(mul_s64, Wide, "+l", "mul.lo.s64 %0, %0, %2;")                                                 \
  /* by what is not the same twice: else half of a division is done before the loop */             \
  X(div_s32, unsigned, "+r", "{.reg .b32 t; or.b32 t, %0, 1; div.s32 %0, %1, t;}")                 \
  X(rem_u32, unsigned, "+r", "{.reg .b32 t; or.b32 t, %0, 1; rem.u32 %0, %1, t;}")                 \
  X(div_s64, Wide, "+l", "{.reg .b64 t; or.b64 t, %0, 1; div.s64 %0, %2, t;}")                     \
  X(popc, unsigned, "+r", "popc.b32 %0, %0;")                                                      \
  X(clz, unsigned, "+r", "clz.b32 %0, %0;")                                                        \
  X(brev, unsigned, "+r", "brev.b32 %0, %0;")                                                      \
  X(add_f32, float, "+f", "add.f32 %0, %0, %0;")                                                   \
  X(fma_f32, float, "+f", "fma.rn.f32 %0, %0, %0, %0;")                                            \
  X(min_f32, float, "+f", "min.f32 %0, %0, 0f3F800000;")                                           \
  X(div_f32, float, "+f", "div.rn.f32 %0, %0, 0f3F800347;")                                        \
  X(sqrt_f32, float, "+f", "sqrt.rn.f32 %0, %0;")                                                  \
  X(rcp_approx, float, "+f",                                                                       \
    "{.reg .f32 t; rcp.approx.ftz.f32 t, %0; add.f32 %0, t, 0f3F800000;}")                         \
  X(rcp_f32, float, "+f", "{.reg .f32 t; rcp.rn.f32 t, %0; add.f32 %0, t, 0f3F800000;}")           \
  X(ex2_approx, float, "+f", "ex2.approx.ftz.f32 %0, %0;")                                         \
  X(sin_approx, float, "+f", "sin.approx.ftz.f32 %0, %0;")                                         \
  X(cvt_f32_s32, float, "+f", "{.reg .s32 t; cvt.rni.s32.f32 t, %0; cvt.rn.f32.s32 %0, t;}")       \
  X(fma_f64, double, "+d", "fma.rn.f64 %0, %0, %0, %0;")                                           \
  X(div_f64, double, "+d", "div.rn.f64 %0, %0, 0d3FF0000A7C5AC472;")                               \
  X(sqrt_f64, double, "+d", "sqrt.rn.f64 %0, %0;")                                                 \
  X(cvt_f64_f32, double, "+d", "{.reg .f32 t; cvt.rn.f32.f64 t, %0; cvt.f64.f32 %0, t;}")          \
  X(fma_f16x2, unsigned, "+r", "fma.rn.f16x2 %0, %0, %0, %0;")                                     \
  X(setp_selp, unsigned, "+r", "{.reg .pred p; setp.lt.u32 p, %0, %1; selp.u32 %0, %1, 3, p;}")    \
  X(shfl, unsigned, "+r", "shfl.sync.bfly.b32 %0, %0, 1, 31, -1;")                                 \
  X(vote, unsigned, "+r",                                                                          \
    "{.reg .pred p; setp.lt.u32 p, %0, %1; vote.sync.ballot.b32 %0, p, -1;}")                      \
  X(match_same, unsigned, "+r", "{.reg .b32 t; match.any.sync.b32 t, %1, -1; add.u32 %0, %0, t;}") \
  X(match_any, unsigned, "+r", "match.any.sync.b32 %0, %0, -1;")                                   \
  X(match_all, unsigned, "+r", "match.all.sync.b32 %0, %0, -1;")                                   \
  X(redux, unsigned, "+r", "redux.sync.add.u32 %0, %0, -1;")                                       \
  X(bar_warp, unsigned, "+r", "bar.warp.sync -1; add.u32 %0, %0, %1;")                             \
  X(fence_cta, unsigned, "+r", "fence.acq_rel.cta; add.u32 %0, %0, %1;")                           \
  X(fence_gpu, unsigned, "+r", "fence.acq_rel.gpu; add.u32 %0, %0, %1;")                           \
  X(fence_sys, unsigned, "+r", "fence.acq_rel.sys; add.u32 %0, %0, %1;")                           \
  X(bar_sync, unsigned, "+r", "bar.sync 0; add.u32 %0, %0, %1;")

#define KERNEL(name, type, constraint, text)                                           \
  __global__ void chain_##name(unsigned* out, int rounds, unsigned k, type x) {        \
    x += static_cast<type>(threadIdx.x); /* what is equal in all lanes is done once */ \
    const Wide wide = k + 3ull;                                                        \
    for (int i = 0; i < rounds; ++i) {                                                 \
      _Pragma("unroll") for (int j = 0; j < kUnroll; ++j) asm volatile(                \
          text : constraint(x) : "r"(k), "l"(wide) : "memory");                        \
    }                                                                                  \
    if (x == type(12345)) out[threadIdx.x] = 1;                                        \
  }
INSTRUCTIONS(KERNEL)

// Memory: every load's address comes from the load before.
__global__ void chase(const unsigned* next, unsigned* out, int loads) {
  unsigned at = threadIdx.x / 32;
  for (int i = 0; i < loads; ++i) at = next[at];
  if (at == 0xffffffffu) *out = at;
}
__global__ void chase_shared(unsigned* out, int loads) {
  __shared__ unsigned next[1024];
  for (unsigned i = threadIdx.x; i < 1024; i += blockDim.x) next[i] = (i * 5 + 7) % 1024;
  __syncthreads();
  unsigned at = threadIdx.x;
  for (int i = 0; i < loads; ++i) at = next[at];
  if (at == 0xffffffffu) *out = at;
}
template <typename T, bool kContended, bool kResult>
__global__ void shared_atomics(T* out, int rounds) {
  __shared__ T words[1024];
  words[threadIdx.x] = 0;
  __syncthreads();
  T last = 0;
  T* word = &words[kContended ? threadIdx.x / 32 : threadIdx.x];
  for (int i = 0; i < rounds; ++i) {
    const T old = atomicAdd(word, T(1));
    if (kResult) last += old;
  }
  if (last == T(-5)) out[threadIdx.x] = last;
}
template <typename T>
__global__ void one_word(T* word, int rounds) {
  for (int i = 0; i < rounds; ++i) atomicAdd(word, T(threadIdx.x % 32 + i));
}
template <typename T, bool kResult>
__global__ void spread_atomics(T* words, unsigned mask, T* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const T old = atomicAdd(&words[i & mask], T(1));
  if (kResult && old == T(-7)) *out = old;
}
__device__ __noinline__ unsigned callee(unsigned x, unsigned k) {
  asm volatile("xor.b32 %0, %0, %1;" : "+r"(x) : "r"(k));
  return x;
}
__global__ void calls(unsigned* out, int rounds, unsigned x) {
  for (int i = 0; i < rounds; ++i) x = callee(x, 5);
  if (x == 12345) *out = x;
}
__constant__ unsigned table[4096];
__global__ void constants(unsigned* out, int rounds, unsigned spread) {
  unsigned at = threadIdx.x % 32 * spread;
  for (int i = 0; i < rounds; ++i) at = table[at] + threadIdx.x % 32 * spread;
  if (at == 123456) *out = at;
}
/// Words of 1 KiB or 16 KiB of constants, all lanes different ones.
__global__ void constants_walk(unsigned* out, int rounds, unsigned mask) {
  unsigned sum = 0;
  for (int i = 0; i < rounds; ++i) sum += table[(threadIdx.x % 32 * 37 + i * 101) & mask];
  if (sum == 123456) *out = sum;
}
__global__ void malloc_free(unsigned* out, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    void* p = malloc(64);
    if (p == nullptr) *out = 1;
    free(p);
  }
}
__global__ void empty() {}

// Memory in bulk: consecutive lanes lie `stride` words apart, and all of n is read or written once;
// then whole vectors.
template <bool kLoads>
__global__ void strided(const unsigned* in, unsigned* out, unsigned n, unsigned stride) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x, rows = n / stride;
  const unsigned far = i % rows * stride + i / rows;
  out[kLoads ? i : far] = in[kLoads ? far : i];
}
__global__ void copy_vectors(const int4* in, int4* out) {
  const std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
  out[i] = in[i];
}
__global__ void read_vectors(const int4* in, int* out) {
  constexpr int kVectorsEach = 8;
  const std::size_t first = blockIdx.x * std::size_t{blockDim.x} * kVectorsEach + threadIdx.x;
  int sum = 0;
#pragma unroll
  for (int k = 0; k < kVectorsEach; ++k) {
    const int4 words = in[first + k * std::size_t{blockDim.x}];
    sum += words.x ^ words.y ^ words.z ^ words.w;
  }
  if (sum == 0x12345678) *out = sum;
}

// Clocks of an SM and nanoseconds beside each other.
__global__ void clocks(long long* out) {
  long long ns_before, ns_after;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns_before));
  const long long before = clock64();
  while (clock64() - before < 40'000'000) {
  }
  const long long after = clock64();
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns_after));
  out[0] = after - before;
  out[1] = ns_after - ns_before;
}

void print_fact(const char* field, double value) { std::printf("device,%s,%.12g\n", field, value); }

int attribute(cudaDeviceAttr which) {
  int value = 0;
  timed::check(cudaDeviceGetAttribute(&value, which, 0), "attribute");
  return value;
}

/// What a machine file takes from the runtime, by its names there.
void print_device(const cudaDeviceProp& device) {
  print_fact("compute_major", device.major);
  print_fact("compute_minor", device.minor);
  print_fact("sm_count", device.multiProcessorCount);
  print_fact("max_threads_per_sm", device.maxThreadsPerMultiProcessor);
  print_fact("max_blocks_per_sm", device.maxBlocksPerMultiProcessor);
  print_fact("registers_per_sm", device.regsPerMultiprocessor);
  print_fact("registers_per_block", device.regsPerBlock);
  print_fact("shared_per_sm_bytes", static_cast<double>(device.sharedMemPerMultiprocessor));
  print_fact("shared_per_block_bytes", static_cast<double>(device.sharedMemPerBlock));
  print_fact("shared_per_block_optin_bytes", static_cast<double>(device.sharedMemPerBlockOptin));
  print_fact("shared_reserved_bytes", static_cast<double>(device.reservedSharedMemPerBlock));
  print_fact("l2_bytes", device.l2CacheSize);
  print_fact("memory_bytes", static_cast<double>(device.totalGlobalMem));
  print_fact("memory_bus_bits", device.memoryBusWidth);
  print_fact("memory_clock_khz", attribute(cudaDevAttrMemoryClockRate));
  print_fact("copy_engines", device.asyncEngineCount);
  long long* d_clocks = nullptr;
  long long seen[2] = {0, 1};
  timed::check(cudaMalloc(&d_clocks, sizeof seen), "cudaMalloc");
  clocks<<<1, 1>>>(d_clocks);
  timed::check(cudaMemcpy(seen, d_clocks, sizeof seen, cudaMemcpyDeviceToHost), "clocks");
  print_fact("clock_ghz", static_cast<double>(seen[0]) / static_cast<double>(seen[1]));
}

void bench_instructions(timed::Bench& bench, unsigned sms, unsigned* d_out) {
#define RUN(name, type, constraint, text)                                            \
  bench("latency", #name, [&] { chain_##name<<<1, 32>>>(d_out, 64, 5u, type(3)); }); \
  bench("throughput", #name, [&] { chain_##name<<<2 * sms, 1024>>>(d_out, 32, 5u, type(3)); });
  INSTRUCTIONS(RUN)
  for (const int threads : {64, 128, 256, 512, 1024})
    bench("barrier", "bar_sync " + std::to_string(threads / 32),
          [&] { chain_bar_sync<<<1, threads>>>(d_out, 64, 5u, 3u); });
}

void bench_latencies(timed::Bench& bench, unsigned sms, unsigned* d_out) {
  // Rings whose steps are 1152 bytes, in 16 KiB, 16 MiB and 256 MiB: L1, L2, DRAM.
  const std::size_t most = bench.once() ? std::size_t{1} << 22 : std::size_t{1} << 26;
  unsigned* d_next = nullptr;
  timed::check(cudaMalloc(&d_next, most * 4), "cudaMalloc");
  for (const std::size_t words : {std::size_t{1} << 12, std::size_t{1} << 22, most}) {
    std::vector<unsigned> next(words);
    const std::size_t step = 288, count = words / step;  // no divisor in common with 7919
    for (std::size_t i = 0; i < count; ++i)
      next[i * step] = static_cast<unsigned>((i + 7919) % count * step);
    timed::check(cudaMemcpy(d_next, next.data(), words * 4, cudaMemcpyHostToDevice), "copy in");
    const std::string size = std::to_string(words >> 8) + " KiB";
    bench("chase", "first " + size, [&] { chase<<<1, 32>>>(d_next, d_out, 2000); });
    bench("chase", "again " + size, [&] { chase<<<1, 32>>>(d_next, d_out, 40000); });
  }
  bench("chase", "shared", [&] { chase_shared<<<1, 32>>>(d_out, 4096); });
  bench("chase", "constant", [&] { constants<<<1, 32>>>(d_out, 4096, 0); });
  bench("throughput", "constant 1", [&] { constants<<<2 * sms, 1024>>>(d_out, 256, 0); });
  bench("throughput", "constant 32", [&] { constants<<<2 * sms, 1024>>>(d_out, 256, 1); });
  bench("throughput", "constant walk 1 KiB",
        [&] { constants_walk<<<2 * sms, 1024>>>(d_out, 256, 255); });
  bench("throughput", "constant walk 16 KiB",
        [&] { constants_walk<<<2 * sms, 1024>>>(d_out, 256, 4095); });
  bench("latency", "call", [&] { calls<<<1, 32>>>(d_out, 1024, 3); });
  bench("throughput", "call", [&] { calls<<<2 * sms, 1024>>>(d_out, 512, 3); });
  bench("latency", "malloc", [&] { malloc_free<<<1, 32>>>(d_out, 16); });
}

void bench_atomics(timed::Bench& bench, unsigned sms, int* d_ints, float* d_floats) {
  bench("shared atomic", "int apart",
        [&] { shared_atomics<int, false, false><<<2 * sms, 1024>>>(d_ints, 256); });
  bench("shared atomic", "int one word",
        [&] { shared_atomics<int, true, false><<<2 * sms, 1024>>>(d_ints, 64); });
  bench("shared atomic", "int result",
        [&] { shared_atomics<int, false, true><<<2 * sms, 1024>>>(d_ints, 256); });
  bench("shared atomic", "float apart",
        [&] { shared_atomics<float, false, false><<<2 * sms, 1024>>>(d_floats, 256); });
  bench("shared atomic", "float one word",
        [&] { shared_atomics<float, true, false><<<2 * sms, 1024>>>(d_floats, 16); });
  bench("shared atomic", "int latency",
        [&] { shared_atomics<int, false, true><<<1, 32>>>(d_ints, 1024); });
  bench("shared atomic", "float latency",
        [&] { shared_atomics<float, false, true><<<1, 32>>>(d_floats, 1024); });
  bench("atomic", "int one word", [&] { one_word<int><<<132, 256>>>(d_ints, 16); });
  bench("atomic", "float one word", [&] { one_word<float><<<132, 256>>>(d_floats, 16); });
  for (const unsigned words : {32u, 256u, 4096u, 65536u, 1u << 22}) {
    const std::string tail = std::to_string(words);
    bench("atomic", "int red " + tail,
          [&] { spread_atomics<int, false><<<16384, 256>>>(d_ints, words - 1, d_ints); });
    bench("atomic", "int atom " + tail,
          [&] { spread_atomics<int, true><<<16384, 256>>>(d_ints, words - 1, d_ints); });
    bench("atomic", "float red " + tail,
          [&] { spread_atomics<float, false><<<16384, 256>>>(d_floats, words - 1, d_floats); });
  }
}

void bench_dram(timed::Bench& bench, int* d_ints) {
  unsigned* d_many = timed::drawn<unsigned>(std::size_t{1} << 28);
  unsigned* d_more = nullptr;
  timed::check(cudaMalloc(&d_more, std::size_t{1} << 30), "cudaMalloc");
  constexpr unsigned kWords = 1u << 22;
  for (const unsigned stride : {8u, 32u}) {
    const std::string tail = " by " + std::to_string(stride);
    bench("lines", "loads" + tail,
          [&] { strided<true><<<kWords / 256, 256>>>(d_many, d_more, kWords, stride); });
    bench("lines", "stores" + tail,
          [&] { strided<false><<<kWords / 256, 256>>>(d_many, d_more, kWords, stride); });
  }
  auto* d_vectors = reinterpret_cast<int4*>(d_many);
  bench("bandwidth", "copy 1024 MiB",
        [&] { copy_vectors<<<1 << 18, 256>>>(d_vectors, reinterpret_cast<int4*>(d_more)); });
  bench("bandwidth", "read 1024 MiB", [&] { read_vectors<<<1 << 15, 256>>>(d_vectors, d_ints); });
}

}  // namespace

int main(int argc, char** argv) {
  cudaDeviceProp device{};
  timed::check(cudaGetDeviceProperties(&device, 0), "device");
  int driver = 0;
  timed::check(cudaDriverGetVersion(&driver), "driver");
  std::printf("# %s, CUDA driver %d.%d\n", device.name, driver / 1000, driver % 1000 / 10);
  timed::Bench bench(argc, argv);
  if (!bench.once()) print_device(device);
  const unsigned sms = static_cast<unsigned>(device.multiProcessorCount);
  unsigned* d_out = timed::drawn<unsigned>(1 << 22);
  float* d_floats = timed::drawn<float>(1 << 22);

  for (const unsigned blocks : {1u, sms, 32 * sms, 1000 * sms, 1000000u})
    for (const unsigned threads : {32u, 256u, 1024u})
      bench("dispatch", "empty " + std::to_string(blocks) + " " + std::to_string(threads),
            [&] { empty<<<blocks, threads>>>(); });

  bench_instructions(bench, sms, d_out);
  bench_latencies(bench, sms, d_out);
  auto* d_ints = reinterpret_cast<int*>(d_out);
  bench_atomics(bench, sms, d_ints, d_floats);
  if (!bench.once()) bench_dram(bench, d_ints);
  return 0;
}
