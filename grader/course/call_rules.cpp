// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/course/call_rules.hpp"

#include <algorithm>

namespace membound::course {
namespace {

constexpr CallRule kRules[] = {
    {"device-results", "ResultsComeFromTheDevice", "",
     "what the program hands in is what kernels made of the inputs that it copied to the device, "
     "copied back from where they wrote it; asked of the last test's run and of one drawn from the "
     "others",
     "Copy the inputs to the device, launch the kernels on them, and hand in what you copy back "
     "from where they wrote; what the CPU computes earns nothing."},
    {"printed-figures", "PrintsWhatWasMeasured", "",
     "of the times that the program prints (\"0.012 ms\") one is a time between its events, and "
     "of the rates (\"800 GB/s\") one is made of it",
     "Print the time that cudaEventElapsedTime gives, and the bytes of the kernel's arrays divided "
     "by it."},
    {"launches", "LaunchesItsKernel", "at least so many",
     "the stage's kernel is launched, and the launches succeed",
     "Launch it with <<<blocks, threads>>>; what the CPU computes earns nothing."},
    {"calls-succeed", "EveryCallSucceeds", "", "no call gives an error",
     "Look at what each call returns, and print cudaGetErrorString of it."},
    {"copies-back", "CopiesTheResultBack", "at least so many bytes",
     "so many bytes are copied from the device to the host",
     "Copy the result with cudaMemcpy…(…, cudaMemcpyDeviceToHost)."},
    {"checks-launches", "ChecksEveryLaunch", "",
     "each launch is followed by a look at the last error before the next launch",
     "Call cudaGetLastError() right after <<<…>>>: a launch returns nothing itself."},
    {"frees-memory", "FreesItsMemory", "", "no device memory is allocated at the end",
     "Give each cudaMalloc its cudaFree."},
    {"times-with-events", "TimesWithEvents", "",
     "an event before a launch, one behind it, and the time between them asked for",
     "cudaEventRecord before and after the launch, cudaEventSynchronize, cudaEventElapsedTime."},
    {"streams", "UsesItsStreams", "at least so many",
     "the stage's kernel is launched in so many different streams",
     "Make streams with cudaStreamCreate and name one as the fourth number in <<<…>>>."},
    {"kernels-overlap", "KernelsRunSideBySide", "at least this share, 0 to 1",
     "of the time that the kernels take one by one, so much is saved by running several at once",
     "Put each in a stream of its own, and no waiting between the launches."},
    {"copies-overlap", "CopiesBesideKernels", "at least this share, 0 to 1",
     "of the time that copies between host and device take, a kernel runs during so much",
     "Cut the work into pieces, one stream each, cudaMemcpyAsync, memory from cudaMallocHost."},
    {"stream-waits", "StreamsWaitForEvents", "at least so many",
     "a stream waits for an event that was recorded in another",
     "cudaEventRecord in the one stream, cudaStreamWaitEvent in the other."},
    {"orders-work", "WaitsForItsData", "",
     "where two pieces of work use the same memory and one writes it, a stream, an event or the "
     "host orders them; and the host waits for each copy to it, before memory is freed",
     "cudaEventRecord behind the first, cudaStreamWaitEvent before the second; or one stream. The "
     "host waits with cudaDeviceSynchronize before it reads."},
    {"host-waits", "HostWaitsSeldom", "at most so often",
     "the host waits for the device so often at most, copies that return when they are done "
     "included",
     "Let streams wait for events; the host waits once, at the end."},
    {"graph-launches", "LaunchesAGraph", "at least so often",
     "one graph with the stage's kernel in it is made ready once and launched so often",
     "cudaStreamBeginCapture, the work of one round, cudaStreamEndCapture and cudaGraphInstantiate "
     "once; then cudaGraphLaunch in the loop."}};

}  // namespace

std::span<const CallRule> call_rules() { return kRules; }

const CallRule* find_call_rule(std::string_view name) {
  const auto found = std::find_if(std::begin(kRules), std::end(kRules),
                                  [&](const CallRule& rule) { return rule.name == name; });
  return found == std::end(kRules) ? nullptr : found;
}

}  // namespace membound::course
