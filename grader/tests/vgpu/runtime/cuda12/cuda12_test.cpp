// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// A program of CUDA 12: it asks for libcudart.so.12, and calls what CUDA 13 changed or dropped as
// CUDA 12 declares it.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <string>

namespace {

struct Size3 {
  unsigned x = 1, y = 1, z = 1;
};
struct LaunchParams {
  const void* function;
  Size3 grid, block;
  void** arguments;
  std::size_t shared_bytes;
  void* stream;
};

}  // namespace

extern "C" {
int cudaGetDeviceProperties_v2(void* properties, int device);
int cudaRuntimeGetVersion(int* version);
int cudaMalloc(void** out, std::size_t bytes);
int cudaMallocManaged(void** out, std::size_t bytes, unsigned flags);
int cudaFree(void* pointer);
int cudaMemcpy(void* to, const void* from, std::size_t bytes, int kind);
int cudaMemAdvise(const void* pointer, std::size_t bytes, int advice, int device);
int cudaMemPrefetchAsync(const void* pointer, std::size_t bytes, int device, void* stream);
int cudaStreamCreate(void** out);
int cudaStreamBeginCapture(void* stream, int mode);
int cudaStreamGetCaptureInfo_v2(void* stream, int* status, unsigned long long* id, void** graph,
                                void* const** front, std::size_t* count);
int cudaStreamEndCapture(void* stream, void** graph);
int cudaMemsetAsync(void* pointer, int value, std::size_t bytes, void* stream);
int cudaGraphGetEdges(void* graph, void** from, void** to, std::size_t* count);
int cudaGraphGetEdges_v2(void* graph, void** from, void** to, void* edges, std::size_t* count);
int cudaThreadSynchronize();
int cudaLibraryLoadData(void** library, const void* code, void*, void**, unsigned, void*, void**,
                        unsigned);
int cudaLibraryGetKernel(void** kernel, void* library, const char* name);
int cudaLaunchKernel(const void* function, Size3 grid, Size3 block, void** arguments,
                     std::size_t shared_bytes, void* stream);
int cudaGetLastError();
int cudaLaunchCooperativeKernelMultiDevice(LaunchParams* launches, unsigned count, unsigned flags);
}

namespace {

constexpr const char* kPtx = R"(
.version 8.0
.target sm_70
.address_size 64
.visible .entry number(.param .u64 out)
{
  .reg .b32 %r<2>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r1;
  ret;
}
)";
constexpr unsigned kCount = 32;
constexpr int kDeviceToHost = 2;

class Cuda12 : public testing::Test {
 protected:
  void SetUp() override {
    void* library = nullptr;
    ASSERT_EQ(cudaLibraryLoadData(&library, kPtx, nullptr, nullptr, 0, nullptr, nullptr, 0), 0);
    ASSERT_EQ(cudaLibraryGetKernel(&kernel_, library, "number"), 0);
    ASSERT_EQ(cudaMalloc(&d_out_, kCount * sizeof(unsigned)), 0);
  }
  void TearDown() override { EXPECT_EQ(cudaFree(d_out_), 0); }

  void expect_numbers() {
    std::array<unsigned, kCount> out{};
    ASSERT_EQ(cudaThreadSynchronize(), 0);
    ASSERT_EQ(cudaMemcpy(out.data(), d_out_, sizeof(out), kDeviceToHost), 0);
    for (unsigned i = 0; i < kCount; ++i) EXPECT_EQ(out[i], i);
  }

  void* kernel_ = nullptr;
  void* d_out_ = nullptr;
};

// Offsets of CUDA 12.9's driver_types.h.
TEST(Cuda12Device, HasThePropertiesWhereCuda12HasThem) {
  std::array<std::byte, 1032 + 8> properties{};
  ASSERT_EQ(cudaGetDeviceProperties_v2(properties.data(), 0), 0);
  const auto at = [&](std::size_t offset) {
    int value = 0;
    std::memcpy(&value, properties.data() + offset, sizeof(value));
    return value;
  };
  EXPECT_EQ(reinterpret_cast<const char*>(properties.data()), std::string("Tesla T4 (virtual)"));
  EXPECT_EQ(at(360), 7);
  EXPECT_EQ(at(388), 40);
  EXPECT_EQ(at(608), 5001000);
  EXPECT_EQ(at(616), 4194304);
  EXPECT_GT(at(348), 1000000);
  EXPECT_EQ(at(696), 65536);
  EXPECT_EQ(at(1032), 0) << "written past the end";
}

TEST(Cuda12Device, IsOfCuda12) {
  int version = 0;
  ASSERT_EQ(cudaRuntimeGetVersion(&version), 0);
  EXPECT_EQ(version / 1000, 12);
}

// As Python's packages find the runtime: by its name, and each call by the call's.
TEST(Cuda12Loaded, IsOfCuda12) {
  void* library = dlopen("libcudart.so.12", RTLD_NOW | RTLD_NOLOAD);
  ASSERT_NE(library, nullptr) << dlerror();
  const auto call = reinterpret_cast<int (*)(int*)>(dlsym(library, "cudaRuntimeGetVersion"));
  ASSERT_NE(call, nullptr);
  int version = 0;
  ASSERT_EQ(call(&version), 0);
  EXPECT_EQ(version / 1000, 12);
  EXPECT_NE(dlsym(library, "cudaGetDeviceProperties_v2"), nullptr);
}

TEST_F(Cuda12, LaunchesKernels) {
  void* arguments[] = {&d_out_};
  ASSERT_EQ(cudaLaunchKernel(kernel_, {}, {kCount}, arguments, 0, nullptr), 0);
  expect_numbers();
}

// Its runtime looks at shapes itself; what the driver refuses keeps the driver's code.
TEST_F(Cuda12, ABadShapeIsAnInvalidConfiguration) {
  constexpr int kInvalidValue = 1, kInvalidConfiguration = 9;
  void* arguments[] = {&d_out_};
  struct {
    Size3 grid, block;
    std::size_t shared_bytes;
    int code;
  } const cases[] = {{{}, {2048}, 0, kInvalidConfiguration},
                     {{0}, {1}, 0, kInvalidConfiguration},
                     {{1, 65536}, {1}, 0, kInvalidConfiguration},
                     {{}, {1, 1, 65}, 0, kInvalidConfiguration},
                     {{}, {1}, std::size_t{1} << 20, kInvalidValue}};
  for (const auto& [grid, block, shared_bytes, code] : cases) {
    EXPECT_EQ(cudaLaunchKernel(kernel_, grid, block, arguments, shared_bytes, nullptr), code);
    EXPECT_EQ(cudaGetLastError(), code);
  }
}

TEST_F(Cuda12, LaunchesOnTheOnlyOneOfSeveralDevices) {
  void* arguments[] = {&d_out_};
  LaunchParams launches[2] = {{kernel_, {}, {kCount}, arguments, 0, nullptr}, {}};
  void* stream = nullptr;
  ASSERT_EQ(cudaStreamCreate(&stream), 0);
  launches[0].stream = stream;
  EXPECT_NE(cudaLaunchCooperativeKernelMultiDevice(launches, 2, 0), 0);
  ASSERT_EQ(cudaLaunchCooperativeKernelMultiDevice(launches, 1, 0), 0);
  expect_numbers();
}

TEST(Cuda12Memory, TakesDevicesByTheirNumber) {
  constexpr int kPreferredLocation = 3, kCpu = -1;
  void* managed = nullptr;
  ASSERT_EQ(cudaMallocManaged(&managed, 4096, 1), 0);
  EXPECT_EQ(cudaMemAdvise(managed, 4096, kPreferredLocation, 0), 0);
  EXPECT_EQ(cudaMemPrefetchAsync(managed, 4096, 0, nullptr), 0);
  EXPECT_EQ(cudaMemPrefetchAsync(managed, 4096, kCpu, nullptr), 0);
  EXPECT_EQ(cudaFree(managed), 0);
}

TEST_F(Cuda12, GraphsHaveEdgesWithoutData) {
  void* stream = nullptr;
  void* graph = nullptr;
  ASSERT_EQ(cudaStreamCreate(&stream), 0);
  ASSERT_EQ(cudaStreamBeginCapture(stream, 0), 0);
  for (int value = 0; value < 3; ++value)
    ASSERT_EQ(cudaMemsetAsync(d_out_, value, kCount, stream), 0);
  int status = 0;
  unsigned long long id = 0;
  void* const* front = nullptr;
  std::size_t count = 0;
  ASSERT_EQ(cudaStreamGetCaptureInfo_v2(stream, &status, &id, nullptr, &front, &count), 0);
  EXPECT_EQ(status, 1);
  EXPECT_EQ(count, 1u);
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), 0);
  std::size_t edges = 0;
  ASSERT_EQ(cudaGraphGetEdges(graph, nullptr, nullptr, &edges), 0);
  EXPECT_EQ(edges, 2u);
  std::array<void*, 2> from{}, to{};
  ASSERT_EQ(cudaGraphGetEdges(graph, from.data(), to.data(), &edges), 0);
  EXPECT_EQ(to[0], from[1]);
  edges = 0;
  ASSERT_EQ(cudaGraphGetEdges_v2(graph, nullptr, nullptr, nullptr, &edges), 0);
  EXPECT_EQ(edges, 2u);
}

}  // namespace
