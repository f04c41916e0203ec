// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// Lab 07: thirteen walks through a picture, each by plain loads, by read-only loads (what a pointer
// that is const and __restrict__ gives) and through a texture over a cudaArray. An ordinary
// program:
//
//     ./membound experiment read-paths
//     ./membound experiment read-paths --device vgpu:titan-v
//
// The arguments are the width and height of a picture of pixels of 4 bytes, and how often each
// kernel runs; "2D" walks read the same
// bytes as pixels of 16. GB/s are bytes that threads ask for: filters and samples ask for a pixel
// more than once, so caches may pass the memory's peak. On a GPU of which the document of Kenzel
// and others has figures, those stand beside ours.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

constexpr int kThreads = 256;  // of a block, in the 1D walks
constexpr int kReach = 5;      // of a filter, on each side
constexpr int kSamples = 10;   // of a pixel
constexpr int kArea = 16;      // in which they lie, in both directions

int runs = 5;  // of a kernel, of which the fastest counts; a virtual GPU says the same each time

void check(cudaError_t code) {
  if (code == cudaSuccess) return;
  std::fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(code));
  std::exit(3);
}

// Three ways to read pixel (x, y).
template <typename T>
struct Plain {
  const T* pixels;
  int width;
  __device__ T operator()(int x, int y) const { return pixels[y * width + x]; }
};
template <typename T>
struct ReadOnly {
  const T* pixels;
  int width;
  __device__ T operator()(int x, int y) const { return __ldg(pixels + y * width + x); }
};
template <typename T>
struct Texture {
  cudaTextureObject_t object;
  __device__ T operator()(int x, int y) const { return tex2D<T>(object, x + 0.5f, y + 0.5f); }
};

__device__ void add(uchar4& sum, uchar4 v) {
  sum.x += v.x, sum.y += v.y, sum.z += v.z, sum.w += v.w;
}
__device__ void add(float4& sum, float4 v) {
  sum.x += v.x, sum.y += v.y, sum.z += v.z, sum.w += v.w;
}

// Pixels in the order of rows or of columns; the grid strides through them.
template <bool kColumns, typename Read>
__global__ void walk(Read read, int width, int height, uchar4* out) {
  uchar4 sum = {};
  const int first = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = first; i < width * height; i += gridDim.x * blockDim.x)
    add(sum, kColumns ? read(i / height, i % height) : read(i % width, i / width));
  out[first] = sum;
}

// Each thread reads kEach neighbours: what the first one brings the others find in a cache.
template <bool kColumns, int kEach, typename Read>
__global__ void neighbours(Read read, int width, int height, uchar4* out) {
  uchar4 sum = {};
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll
  for (int e = 0; e < kEach; ++e) {
    const int i = thread * kEach + e;
    add(sum, kColumns ? read(i / height, i % height) : read(i % width, i / width));
  }
  out[thread] = sum;
}

// A block slides down (rows) or across (columns) a strip, its warps side by side.
template <bool kColumns, typename Read>
__global__ void slide(Read read, int length, float4* out) {
  float4 sum = {};
  const int across = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll 4
  for (int along = threadIdx.y; along < length; along += blockDim.y)
    add(sum, kColumns ? read(along, across) : read(across, along));
  out[across + threadIdx.y * gridDim.x * blockDim.x] = sum;
}

template <bool kVertical, typename Read>
__global__ void filter(Read read, int width, int height, uchar4* out) {
  uchar4 sum = {};
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  const int at = kVertical ? y : x, end = kVertical ? height : width;
  if (at >= kReach && at < end - kReach - 1)
    for (int tap = -kReach; tap <= kReach; ++tap)
      add(sum, kVertical ? read(x, y + tap) : read(x + tap, y));
  out[x + threadIdx.y * gridDim.x * blockDim.x] = sum;
}

// Places in a square of kArea, the same for all threads of the square.
template <typename Read>
__global__ void sample(Read read, uchar4* out) {
  uchar4 sum = {};
  const int x = blockIdx.x * blockDim.x + threadIdx.x / kArea * kArea;
  const int y = blockIdx.y * blockDim.y + threadIdx.y / kArea * kArea;
  unsigned a = threadIdx.x * 2654435761u + threadIdx.y * 40503u + 12345u;
  for (int s = 0; s < kSamples; ++s) {
    a = a * 1664525u + 1013904223u;
    add(sum, read(x + (a >> 8) % kArea, y + (a >> 20) % kArea));
  }
  out[blockIdx.x * blockDim.x + threadIdx.x + threadIdx.y * gridDim.x * blockDim.x] = sum;
}

// A picture in rows and as a texture.
template <typename T>
struct Picture {
  int width, height;
  T* rows = nullptr;
  cudaArray_t array = nullptr;
  cudaTextureObject_t texture = 0;

  Picture(int width, int height, const void* data) : width(width), height(height) {
    const std::size_t row_bytes = sizeof(T) * width;
    check(cudaMalloc(&rows, row_bytes * height));
    check(cudaMemcpy(rows, data, row_bytes * height, cudaMemcpyHostToDevice));
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<T>();
    check(cudaMallocArray(&array, &format, width, height));
    check(cudaMemcpy2DToArray(array, 0, 0, data, row_bytes, row_bytes, height,
                              cudaMemcpyHostToDevice));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc how = {};
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
    check(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
  }
  ~Picture() {
    cudaDestroyTextureObject(texture);
    cudaFreeArray(array);
    cudaFree(rows);
  }
};

/// The fastest of some runs, in GB/s of `bytes`.
template <typename Launch>
double speed(double bytes, Launch launch) {
  cudaEvent_t start, stop;
  check(cudaEventCreate(&start));
  check(cudaEventCreate(&stop));
  float best = 1e30f;
  for (int run = 0; run < runs; ++run) {
    check(cudaEventRecord(start));
    launch();
    check(cudaGetLastError());
    check(cudaEventRecord(stop));
    check(cudaEventSynchronize(stop));
    float ms = 0;
    check(cudaEventElapsedTime(&ms, start, stop));
    if (ms < best) best = ms;
  }
  check(cudaEventDestroy(start));
  check(cudaEventDestroy(stop));
  return bytes / (best * 1e6);
}

// What the document printed, GB/s: plain, read-only (from "2D" on: rows padded to a pitch),
// texture; for GTX 1080 Ti, TITAN V, RTX 2080 Ti.
struct Row {
  const char* name;
  double printed[3][3];
};
constexpr Row kRows[] = {
    {"1D, rows", {{268.6, 271.9, 194.5}, {445.9, 464.8, 387.8}, {490.6, 484.9, 399.8}}},
    {"1D, columns", {{65.02, 69.57, 143}, {268.6, 270.8, 368.2}, {42.51, 42.83, 336.1}}},
    {"rows, 2 a thread", {{242.1, 231.6, 237.4}, {402.1, 387.8, 383.3}, {372.9, 364, 359.8}}},
    {"rows, 4 a thread", {{237.2, 282.7, 258.8}, {455.1, 458.3, 439.8}, {430.7, 431.2, 426.2}}},
    {"rows, 8 a thread", {{122.1, 309.3, 171.1}, {504.1, 500.2, 362.1}, {460.5, 461.4, 340.6}}},
    {"columns, 2 a thread", {{73.99, 74.72, 225.4}, {174.8, 175.2, 387.8}, {148.3, 148.8, 324.3}}},
    {"columns, 4 a thread", {{74.49, 74.74, 173.9}, {178.6, 178.6, 336.1}, {161.6, 162.3, 364.8}}},
    {"columns, 8 a thread", {{71.71, 71.87, 137.1}, {132.4, 131.6, 343.1}, {138.9, 140.1, 321}}},
    {"2D, rows", {{264.2, 264.2, 263}, {461.5, 464.8, 434}, {462.7, 462.1, 489.2}}},
    {"2D, columns", {{131.6, 131.6, 265.3}, {439.8, 442.8, 434.1}, {322.6, 316.1, 489.2}}},
    {"filter along x", {{655.4, 656.4, 955.7}, {1602, 1609, 1386}, {1392, 1395, 1078}}},
    {"filter along y", {{820.3, 820.8, 1021}, {1560, 1560, 1411}, {1235, 1237, 1066}}},
    {"samples", {{280.4, 280.5, 452.3}, {1014, 1014, 1170}, {866.1, 867, 902.5}}},
};

/// Which of the document's GPUs this is; -1: none.
int document_gpu(const std::string& name) {
  const char* const names[] = {"1080 Ti", "TITAN V", "2080 Ti"};
  for (int i = 0; i < 3; ++i)
    if (name.find(names[i]) != std::string::npos) return i;
  return -1;
}

struct Table {
  int gpu;
  std::size_t next = 0;

  void heading() const {
    std::printf("GB/s                    plain  read-only   texture");
    if (gpu >= 0) std::printf("      document: plain  read-only   texture");
    std::printf("\n");
  }
  void row(double plain, double read_only, double texture) {
    const Row& row = kRows[next++];
    std::printf("%-20s %8.4g   %8.4g  %8.4g", row.name, plain, read_only, texture);
    if (gpu >= 0)
      std::printf("             %8.4g   %8.4g  %8.4g", row.printed[gpu][0], row.printed[gpu][1],
                  row.printed[gpu][2]);
    std::printf("\n");
    std::fflush(stdout);
  }
};

/// Times launch(read) for the three ways.
template <typename T, typename Launch>
void add_row(Table& table, const Picture<T>& picture, double bytes, Launch launch) {
  const double plain = speed(bytes, [&] { launch(Plain<T>{picture.rows, picture.width}); });
  const double read_only = speed(bytes, [&] { launch(ReadOnly<T>{picture.rows, picture.width}); });
  const double texture = speed(bytes, [&] { launch(Texture<T>{picture.texture}); });
  table.row(plain, read_only, texture);
}

void one_dimension(Table& table, const Picture<uchar4>& p, uchar4* out, int multiprocessors) {
  const double bytes = 4.0 * p.width * p.height;
  const int blocks = multiprocessors * 8;
  add_row(table, p, bytes,
          [&](auto read) { walk<false><<<blocks, kThreads>>>(read, p.width, p.height, out); });
  add_row(table, p, bytes,
          [&](auto read) { walk<true><<<blocks, kThreads>>>(read, p.width, p.height, out); });
  const int all = p.width * p.height / kThreads;
  add_row(table, p, bytes, [&](auto read) {
    neighbours<false, 2><<<all / 2, kThreads>>>(read, p.width, p.height, out);
  });
  add_row(table, p, bytes, [&](auto read) {
    neighbours<false, 4><<<all / 4, kThreads>>>(read, p.width, p.height, out);
  });
  add_row(table, p, bytes, [&](auto read) {
    neighbours<false, 8><<<all / 8, kThreads>>>(read, p.width, p.height, out);
  });
  add_row(table, p, bytes, [&](auto read) {
    neighbours<true, 2><<<all / 2, kThreads>>>(read, p.width, p.height, out);
  });
  add_row(table, p, bytes, [&](auto read) {
    neighbours<true, 4><<<all / 4, kThreads>>>(read, p.width, p.height, out);
  });
  add_row(table, p, bytes, [&](auto read) {
    neighbours<true, 8><<<all / 8, kThreads>>>(read, p.width, p.height, out);
  });
}

void two_dimensions(Table& table, const Picture<float4>& p, void* out) {
  const double bytes = 16.0 * p.width * p.height;
  const dim3 block(16, 32);
  add_row(table, p, bytes, [&](auto read) {
    slide<false><<<p.width / 16, block>>>(read, p.height, static_cast<float4*>(out));
  });
  add_row(table, p, bytes, [&](auto read) {
    slide<true><<<p.height / 16, block>>>(read, p.width, static_cast<float4*>(out));
  });
}

void filters_and_samples(Table& table, const Picture<uchar4>& p, uchar4* out) {
  const double bytes = 4.0 * p.width * p.height;
  const dim3 block(32, 16), grid(p.width / 32, p.height / 16);
  add_row(table, p, (2 * kReach + 1) * bytes,
          [&](auto read) { filter<false><<<grid, block>>>(read, p.width, p.height, out); });
  add_row(table, p, (2 * kReach + 1) * bytes,
          [&](auto read) { filter<true><<<grid, block>>>(read, p.width, p.height, out); });
  add_row(table, p, kSamples * bytes, [&](auto read) { sample<<<grid, block>>>(read, out); });
}

int main(int argc, char** argv) {
  const int side = argc > 1 ? std::atoi(argv[1]) : 4096;
  if (side < 256 || side % 256 != 0 || side > 16384) {
    std::fprintf(stderr, "the argument is a multiple of 256, at most 16384\n");
    return 2;
  }
  if (argc > 2) runs = std::atoi(argv[2]);
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, 0));
  const std::size_t bytes = std::size_t{4} * side * side;
  std::vector<unsigned char> data(bytes);
  for (std::size_t i = 0; i < bytes; ++i)
    data[i] = static_cast<unsigned char>(i * 2654435761u >> 8);
  const Picture<uchar4> bytes_picture(side, side, data.data());
  const Picture<float4> floats_picture(side / 2, side / 2, data.data());
  void* out = nullptr;
  check(cudaMalloc(&out, bytes));
  Table table{document_gpu(properties.name)};
  std::printf("%s, %d x %d pixels of 4 bytes\n", properties.name, side, side);
  table.heading();
  one_dimension(table, bytes_picture, static_cast<uchar4*>(out), properties.multiProcessorCount);
  two_dimensions(table, floats_picture, out);
  filters_and_samples(table, bytes_picture, static_cast<uchar4*>(out));
  check(cudaFree(out));
  return 0;
}
