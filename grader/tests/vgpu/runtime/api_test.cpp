// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// The library itself, without nvcc: hand-written PTX through cudaLibraryLoadData. What needs a
// compiler is in programs/.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "grader/tests/vgpu/runtime/cuda_calls.hpp"

namespace {

constexpr const char* kPtx = R"(
.version 8.0
.target sm_80
.address_size 64

.visible .global .align 4 .u32 counter = 41;

// out[i] = in[i] * factor for i < n
.visible .entry scale(.param .u64 out, .param .u64 in, .param .f32 factor, .param .u32 n)
{
  .reg .pred %p<2>;
  .reg .b32 %r<6>;
  .reg .f32 %f<4>;
  .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [out];
  ld.param.u64 %rd2, [in];
  ld.param.f32 %f1, [factor];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  setp.ge.s32 %p1, %r5, %r1;
  @%p1 bra DONE;
  mul.wide.s32 %rd3, %r5, 4;
  add.s64 %rd4, %rd2, %rd3;
  ld.global.f32 %f2, [%rd4];
  mul.f32 %f3, %f2, %f1;
  add.s64 %rd5, %rd1, %rd3;
  st.global.f32 [%rd5], %f3;
DONE:
  ret;
}

.visible .entry bump()
{
  .reg .b32 %r<3>;
  ld.global.u32 %r1, [counter];
  add.s32 %r2, %r1, 1;
  st.global.u32 [counter], %r2;
  ret;
}
)";

cudaLibrary_t load() {
  cudaLibrary_t library = nullptr;
  EXPECT_EQ(cudaLibraryLoadData(&library, kPtx, nullptr, nullptr, 0, nullptr, nullptr, 0),
            cudaSuccess);
  return library;
}

cudaKernel_t kernel(cudaLibrary_t library, const char* name) {
  cudaKernel_t found = nullptr;
  EXPECT_EQ(cudaLibraryGetKernel(&found, library, name), cudaSuccess);
  return found;
}

/// Runs `scale` over `count` floats i and returns the result.
std::vector<float> scaled(int count, float factor) {
  std::vector<float> in(count), out(count);
  for (int i = 0; i < count; ++i) in[i] = static_cast<float>(i);
  const std::size_t bytes = in.size() * sizeof(float);
  void *d_in = nullptr, *d_out = nullptr;
  EXPECT_EQ(cudaMalloc(&d_in, bytes), cudaSuccess);
  EXPECT_EQ(cudaMalloc(&d_out, bytes), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(d_in, in.data(), bytes, cudaMemcpyHostToDevice), cudaSuccess);
  void* arguments[] = {&d_out, &d_in, &factor, &count};
  const auto blocks = static_cast<unsigned int>((count + 63) / 64);
  EXPECT_EQ(
      cudaLaunchKernel(kernel(load(), "scale"), {blocks, 1, 1}, {64, 1, 1}, arguments, 0, nullptr),
      cudaSuccess);
  EXPECT_EQ(cudaMemcpy(out.data(), d_out, bytes, cudaMemcpyDeviceToHost), cudaSuccess);
  return out;
}

nlohmann::json take_report() {
  std::string text(membound_vgpu_take_report(nullptr, 0), '\0');
  EXPECT_EQ(membound_vgpu_take_report(text.data(), text.size()), text.size());
  text.pop_back();
  return nlohmann::json::parse(text);
}

TEST(Api, AKernelFromPtxTextRuns) {
  const std::vector<float> out = scaled(100, 3);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(out[i], 3.0f * static_cast<float>(i));
}

TEST(Api, LibrariesListTheirKernels) {
  const cudaLibrary_t library = load();
  unsigned int count = 0;
  ASSERT_EQ(cudaLibraryGetKernelCount(&count, library), cudaSuccess);
  ASSERT_EQ(count, 2u);
  cudaKernel_t kernels[2] = {};
  ASSERT_EQ(cudaLibraryEnumerateKernels(kernels, 2, library), cudaSuccess);
  const char* name = nullptr;
  ASSERT_EQ(cudaFuncGetName(&name, kernels[0]), cudaSuccess);
  EXPECT_THAT(name, testing::AnyOf(testing::StrEq("scale"), testing::StrEq("bump")));
}

TEST(Api, AnUnknownKernelNameIsNotFound) {
  cudaKernel_t found = nullptr;
  EXPECT_EQ(cudaLibraryGetKernel(&found, load(), "scaling"), cudaErrorSymbolNotFound);
}

TEST(Api, VariablesOfALibraryHaveTheirValues) {
  const cudaLibrary_t library = load();
  void* address = nullptr;
  std::size_t bytes = 0;
  ASSERT_EQ(cudaLibraryGetGlobal(&address, &bytes, library, "counter"), cudaSuccess);
  EXPECT_EQ(bytes, 4u);
  ASSERT_EQ(cudaLaunchKernel(kernel(library, "bump"), {1, 1, 1}, {1, 1, 1}, nullptr, 0, nullptr),
            cudaSuccess);
  unsigned int value = 0;
  ASSERT_EQ(cudaMemcpy(&value, address, 4, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(value, 42u);
}

TEST(Api, BrokenPtxIsInvalidPtx) {
  cudaLibrary_t library = nullptr;
  EXPECT_EQ(cudaLibraryLoadData(&library, ".version 8.0\n.target sm_80\n.address_size 64\nnonsense",
                                nullptr, nullptr, 0, nullptr, nullptr, 0),
            cudaErrorInvalidPtx);
}

TEST(Api, AMissingFileIsNotFound) {
  cudaLibrary_t library = nullptr;
  EXPECT_EQ(cudaLibraryLoadFromFile(&library, "/nonexistent.fatbin", nullptr, nullptr, 0, nullptr,
                                    nullptr, 0),
            cudaErrorFileNotFound);
}

TEST(Api, AFileOfPtxLoads) {
  const std::string path =
      testing::TempDir() + "membound-api-test-" + std::to_string(getpid()) + ".ptx";
  std::ofstream(path) << kPtx;
  cudaLibrary_t library = nullptr;
  EXPECT_EQ(
      cudaLibraryLoadFromFile(&library, path.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0),
      cudaSuccess);
  EXPECT_EQ(cudaLibraryUnload(library), cudaSuccess);
  EXPECT_EQ(cudaLibraryUnload(library), cudaErrorInvalidResourceHandle);
  std::remove(path.c_str());
}

/// What `counter` of the library in this file is at first, and then one more.
unsigned int first_count(const std::string& path) {
  cudaLibrary_t library = nullptr;
  EXPECT_EQ(
      cudaLibraryLoadFromFile(&library, path.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0),
      cudaSuccess);
  void* address = nullptr;
  std::size_t bytes = 0;
  EXPECT_EQ(cudaLibraryGetGlobal(&address, &bytes, library, "counter"), cudaSuccess);
  unsigned int first = 0, next = 0;
  EXPECT_EQ(cudaMemcpy(&first, address, 4, cudaMemcpyDeviceToHost), cudaSuccess);
  cudaLaunchKernel(kernel(library, "bump"), {1, 1, 1}, {1, 1, 1}, nullptr, 0, nullptr);
  EXPECT_EQ(cudaMemcpy(&next, address, 4, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(next, first + 1);
  EXPECT_EQ(cudaLibraryUnload(library), cudaSuccess);
  return first;
}

TEST(Api, AFileThatIsLoadedAgainStartsAnew) {
  const std::string path =
      testing::TempDir() + "membound-api-again-" + std::to_string(getpid()) + ".ptx";
  std::string text = kPtx;
  std::ofstream(path) << text;
  for (int i = 0; i < 4; ++i) EXPECT_EQ(first_count(path), 41u) << i;
  text.replace(text.find("counter = 41"), 12, "counter = 17");
  std::ofstream(path) << text;
  for (int i = 0; i < 2; ++i) EXPECT_EQ(first_count(path), 17u) << i;
  std::remove(path.c_str());
}

TEST(Api, ARefusedLaunchIsTheLastErrorOnce) {
  EXPECT_EQ(cudaLaunchKernel(kernel(load(), "bump"), {1, 1, 1}, {2048, 1, 1}, nullptr, 0, nullptr),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST(Api, AnIllegalAddressStaysUntilTheDeviceIsReset) {
  std::uint64_t nowhere = 0;
  float factor = 1;
  int count = 1;
  void* arguments[] = {&nowhere, &nowhere, &factor, &count};
  const cudaLibrary_t library = load();
  EXPECT_EQ(cudaLaunchKernel(kernel(library, "scale"), {1, 1, 1}, {1, 1, 1}, arguments, 0, nullptr),
            cudaSuccess);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  void* pointer = nullptr;
  EXPECT_EQ(cudaMalloc(&pointer, 4), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaGetLastError(), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
  EXPECT_EQ(cudaMalloc(&pointer, 4), cudaSuccess);
}

/// A launch that costs the device, waited for.
cudaError_t lose_device() {
  std::uint64_t nowhere = 0;
  float factor = 1;
  int count = 1;
  void* arguments[] = {&nowhere, &nowhere, &factor, &count};
  cudaLaunchKernel(kernel(load(), "scale"), {1, 1, 1}, {1, 1, 1}, arguments, 0, nullptr);
  return cudaDeviceSynchronize();
}

TEST(Api, TheErrorOfALostDeviceIsTheLastErrorOnceForEachCallThatReturnsIt) {
  EXPECT_EQ(lose_device(), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaGetLastError(), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
  void* pointer = nullptr;
  EXPECT_EQ(cudaMalloc(&pointer, 4), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaGetLastError(), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
}

TEST(Api, PeekingDoesNotForgetTheErrorOfALostDevice) {
  EXPECT_EQ(lose_device(), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaGetLastError(), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
}

TEST(Api, ALostDeviceFailsTheCallsOfEveryThreadAndIsTheLastErrorOnlyOfThoseThatCalled) {
  EXPECT_EQ(lose_device(), cudaErrorIllegalAddress);
  std::thread([] {
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    EXPECT_EQ(cudaGetLastError(), cudaErrorIllegalAddress);
  }).join();
  EXPECT_EQ(cudaGetLastError(), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
}

TEST(Api, TheReportCountsTheLaunchesSinceItWasTaken) {
  take_report();
  scaled(128, 2);
  const auto report = take_report();
  ASSERT_EQ(report["kernels"].size(), 1u);
  const auto& launch = report["kernels"][0];
  EXPECT_EQ(launch["name"], "scale");
  EXPECT_EQ(launch["outcome"], "completed");
  EXPECT_EQ(launch["counters"]["global_load_requests"], 4);
  EXPECT_EQ(launch["counters"]["global_load_sectors"], 16);
  EXPECT_GT(launch["predicted_ns"].get<double>(), 0);
  EXPECT_TRUE(take_report()["kernels"].empty());
}

TEST(Api, LaunchesOfWhichOnlyResultsMatterAreNotInTheReport) {
  take_report();
  membound_vgpu_sample(3, 0);
  const std::vector<float> out = scaled(100, 3);
  EXPECT_EQ(out[99], 297.0F);
  EXPECT_TRUE(take_report()["kernels"].empty());
  membound_vgpu_sample(0, 0);
  scaled(100, 3);
  EXPECT_EQ(take_report()["kernels"].size(), 1u);
}

/// out[i] = in[i] * factor by `blocks` blocks of 32 threads, as they are asked for.
std::vector<float> scaled_by_blocks(unsigned blocks) {
  int n = static_cast<int>(blocks) * 32;
  std::vector<float> values(static_cast<std::size_t>(n), 1.0F);
  const std::size_t bytes = values.size() * sizeof(float);
  void *d_in = nullptr, *d_out = nullptr;
  EXPECT_EQ(cudaMalloc(&d_in, bytes), cudaSuccess);
  EXPECT_EQ(cudaMalloc(&d_out, bytes), cudaSuccess);
  cudaMemcpy(d_in, values.data(), bytes, cudaMemcpyHostToDevice);
  EXPECT_EQ(membound_vgpu_draw_word(d_out, 0), 1);
  float factor = 3;
  void* arguments[] = {&d_out, &d_in, &factor, &n};
  cudaLaunchKernel(kernel(load(), "scale"), {blocks, 1, 1}, {32, 1, 1}, arguments, 0, nullptr);
  EXPECT_EQ(cudaMemcpy(values.data(), d_out, bytes, cudaMemcpyDeviceToHost), cudaSuccess);
  cudaFree(d_in);
  cudaFree(d_out);
  return values;
}

TEST(Api, ARangeOfBlocksLeavesItsResultsAndNoOthers) {
  take_report();
  membound_vgpu_run_blocks(2, 3, 0, 0);
  const std::vector<float> out = scaled_by_blocks(8);
  membound_vgpu_sample(0, 0);
  for (std::size_t i = 0; i < out.size(); ++i)
    EXPECT_EQ(out[i], i / 32 >= 2 && i / 32 < 5 ? 3.0F : 0.0F) << i;
  const auto launch = take_report()["kernels"].at(0);
  EXPECT_EQ(launch["drawn_bytes"], 1024);  // bytes 256 to 639: two pieces of 512
  EXPECT_GT(launch["warp_instructions"], 0);
  EXPECT_FALSE(launch.contains("counters"));
  EXPECT_FALSE(launch.contains("not_sampled"));
}

TEST(Api, ARangeThatTakesTooManyInstructionsSaysSo) {
  take_report();
  membound_vgpu_run_blocks(0, 60'000, 100'000, 0);  // a warp of each takes more than ten
  static_cast<void>(scaled_by_blocks(60'000));
  membound_vgpu_sample(0, 0);
  EXPECT_EQ(take_report()["kernels"].at(0).value("not_sampled", ""),
            "its blocks take too many instructions each");
  EXPECT_EQ(scaled_by_blocks(8).back(), 3.0F);  // the device still works
}

TEST(Api, AFaultIsToldWhereOnlyResultsMatter) {
  take_report();
  membound_vgpu_sample(3, 0);
  std::uint64_t nowhere = 0;
  float factor = 1;
  int count = 1;
  void* arguments[] = {&nowhere, &nowhere, &factor, &count};
  cudaLaunchKernel(kernel(load(), "scale"), {1, 1, 1}, {1, 1, 1}, arguments, 0, nullptr);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  const auto report = take_report();
  membound_vgpu_sample(0, 0);
  EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
  ASSERT_EQ(report["reports"].size(), 1u);
  EXPECT_EQ(report["reports"][0]["checker"], "fault");
}

TEST(Api, AFaultIsInTheReport) {
  take_report();
  std::uint64_t nowhere = 0;
  float factor = 1;
  int count = 1;
  void* arguments[] = {&nowhere, &nowhere, &factor, &count};
  cudaLaunchKernel(kernel(load(), "scale"), {1, 1, 1}, {1, 1, 1}, arguments, 0, nullptr);
  const auto report = take_report();
  EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
  ASSERT_EQ(report["reports"].size(), 1u);
  EXPECT_EQ(report["reports"][0]["checker"], "fault");
  EXPECT_EQ(report["kernels"][0]["outcome"], report["reports"][0]["kind"]);
}

TEST(Api, EventsMeasurePredictedTime) {
  cudaEvent_t start = nullptr, stop = nullptr;
  ASSERT_EQ(cudaEventCreate(&start), cudaSuccess);
  ASSERT_EQ(cudaEventCreate(&stop), cudaSuccess);
  take_report();
  cudaEventRecord(start, nullptr);
  ASSERT_EQ(cudaLaunchKernel(kernel(load(), "bump"), {1, 1, 1}, {1, 1, 1}, nullptr, 0, nullptr),
            cudaSuccess);
  cudaEventRecord(stop, nullptr);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  float ms = 0;
  ASSERT_EQ(cudaEventElapsedTime(&ms, start, stop), cudaSuccess);
  const double predicted_ns = take_report()["kernels"][0]["predicted_ns"];
  EXPECT_GE(ms * 1e6, 0.9 * predicted_ns);
  EXPECT_LE(ms * 1e6, predicted_ns + 1e5);
}

TEST(Api, TheDeviceSaysItIsVirtual) {
  cudaDeviceProp properties;
  ASSERT_EQ(cudaGetDeviceProperties(&properties, 0), cudaSuccess);
  EXPECT_STREQ(properties.name, membound_vgpu_name());
  EXPECT_THAT(properties.name, testing::HasSubstr("virtual"));
}

TEST(Api, ACallItDoesNotHaveSaysSoOnce) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(cudaImportExternalMemory(nullptr, nullptr), cudaErrorNotSupported);
  EXPECT_EQ(cudaImportExternalMemory(nullptr, nullptr), cudaErrorNotSupported);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, testing::HasSubstr("cudaImportExternalMemory"));
  EXPECT_EQ(said.find("cudaImportExternalMemory"), said.rfind("cudaImportExternalMemory"));
}

TEST(Api, TheDriverIsNotThere) {
  void* function = &function;
  int status = 0;
  EXPECT_EQ(cudaGetDriverEntryPoint("cuInit", &function, 0, &status), cudaSuccess);
  EXPECT_EQ(function, nullptr);
  EXPECT_EQ(status, 1);
}

TEST(Api, EveryEntryPointOfTheTableIsExported) {
#define ENTRY_POINT(name, what) EXPECT_NE(dlsym(RTLD_DEFAULT, #name), nullptr) << #name;
#include "grader/device_code/cuda_api/entry_points.def"
#undef ENTRY_POINT
}

using ApiDeathTest = testing::Test;

TEST(ApiDeathTest, HostCodeCannotReadDeviceMemory) {
  void* pointer = nullptr;
  ASSERT_EQ(cudaMalloc(&pointer, 4), cudaSuccess);
  EXPECT_DEATH((void)*static_cast<volatile int*>(pointer), "host code used the device address");
}

}  // namespace
