// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/runtime/device/operation_executor.hpp"

#include <algorithm>

#include "grader/vgpu/runtime/device/data_movement.hpp"
#include "grader/vgpu/runtime/device/kernel_launch.hpp"
#include "grader/vgpu/runtime/device/stream_races.hpp"

namespace membound::vgpu::runtime {
namespace {

/// How an operation is to be run: on its own, or as one node of a graph.
struct Setting {
  Context& context;
  HostCalls& host_calls;
  Stream& stream;
  bool in_graph;
};

cudaError_t run(Setting& setting, Timeline& timeline, const Operation& operation);

/// Runs nodes in an order their edges allow; each starts when its dependencies end. `spans`, if it
/// is asked for, is when each of them ran.
cudaError_t run_nodes(Setting& setting, Timeline& timeline, const std::vector<GraphNode*>& order,
                      std::vector<TimeSpan>* spans = nullptr) {
  std::map<const GraphNode*, Timeline> done;
  Timeline latest = timeline;
  for (GraphNode* node : order) {
    Timeline mine = timeline;
    for (const GraphNode* dependency : node->dependencies)
      if (done[dependency].ready_ns >= mine.ready_ns) mine = done[dependency];
    setting.context.last_work = {};
    if (node->enabled)
      if (const cudaError_t code = run(setting, mine, node->operation); code != cudaSuccess)
        return code;
    if (spans != nullptr) spans->push_back(setting.context.last_work);
    done[node] = mine;
    if (mine.ready_ns >= latest.ready_ns) latest = mine;
  }
  timeline = latest;
  return cudaSuccess;
}

struct Execution {
  Setting& setting;
  Timeline& timeline;

  cudaError_t operator()(const EmptyOperation&) const { return cudaSuccess; }
  cudaError_t operator()(const KernelOperation& kernel) const {
    return run_traced(kernel, [&](exec::Footprint* footprint) {
      return run_kernel(setting.context, timeline, kernel, setting.stream.id, setting.in_graph,
                        footprint);
    });
  }
  cudaError_t operator()(const CopyOperation& copy) const {
    return run_traced(copy,
                      [&](exec::Footprint*) { return run_copy(setting.context, timeline, copy); });
  }
  cudaError_t operator()(const FillOperation& fill) const {
    return run_traced(fill,
                      [&](exec::Footprint*) { return run_fill(setting.context, timeline, fill); });
  }
  cudaError_t operator()(const HostOperation& call) const {
    // It may tell any thread of the host that the stream has come here.
    setting.context.stream_races.host_learns(setting.stream.past);
    setting.host_calls.push_back(call);
    return cudaSuccess;
  }
  cudaError_t operator()(const RecordOperation& record) const {
    Event* event = setting.context.streams.find_event(record.event);
    if (event == nullptr) return cudaErrorInvalidResourceHandle;
    event->recorded = true;
    event->time_ns = timeline.ready_ns;
    event->past = setting.stream.past;
    return cudaSuccess;
  }
  cudaError_t operator()(const WaitOperation& wait) const {
    const Event* event = setting.context.streams.find_event(wait.event);
    if (event == nullptr) return cudaErrorInvalidResourceHandle;
    setting.stream.past.learn(event->past);
    if (event->recorded && event->time_ns > timeline.ready_ns) {
      timeline.ready_ns = event->time_ns;
      timeline.after_kernel = false;
    }
    return cudaSuccess;
  }
  cudaError_t operator()(const ChildGraphOperation& child) const {
    const auto order = child.graph->in_order();
    return order ? run_nodes(setting, timeline, *order) : cudaErrorInvalidValue;
  }
  cudaError_t operator()(const AllocateOperation& made) const {
    if (traces_work(setting.context))
      trace_work(setting.context, setting.stream, traced_allocation(made.address, made.bytes));
    return cudaSuccess;
  }
  cudaError_t operator()(const FreeOperation& freed) const {
    const auto held = setting.context.memory.find(freed.address);
    if (held && traces_work(setting.context))
      trace_work(setting.context, setting.stream, traced_free(freed.address, held->size_bytes));
    // Whoever gets the memory next is ordered after this by the pool.
    setting.context.stream_races.host_knows_all();
    return cudaSuccess;
  }

  /// With its footprint, where somebody asks.
  template <typename Work, typename Run>
  cudaError_t run_traced(const Work& operation, Run run) const {
    Context& context = setting.context;
    const bool for_races = traces_work(context);
    if (!for_races && !context.uses) return run(nullptr);
    TracedWork work = traced(operation);
    const cudaError_t code = run(&work.footprint);
    if (code != cudaSuccess) return code;
    if (context.uses) context.uses->push_back(work.footprint);
    if (for_races) trace_work(context, setting.stream, std::move(work));
    return code;
  }
};

cudaError_t run(Setting& setting, Timeline& timeline, const Operation& operation) {
  return std::visit(Execution{setting, timeline}, operation);
}

/// Calls host functions that are due, without the lock: they may take their time, and other threads
/// may call CUDA meanwhile.
void make_calls(std::unique_lock<std::mutex>& lock, const HostCalls& calls) {
  if (calls.empty()) return;
  lock.unlock();
  for (const HostOperation& call : calls) {
    if (call.function != nullptr) call.function(call.data);
    if (call.callback != nullptr) call.callback(call.stream, cudaSuccess, call.data);
  }
  lock.lock();
}

void capture(Stream& stream, Operation operation) {
  // Other streams join a capture by waiting for an event recorded in it.
  GraphNode& node = stream.capture->graph->add(std::move(operation), stream.capture_front);
  stream.capture_front = {&node};
}

/// Whether the stream would wait for work of another capture than its own.
bool merges_captures(Context& context, const Stream& stream, const Operation& operation) {
  const auto* wait = std::get_if<WaitOperation>(&operation);
  if (wait == nullptr) return false;
  const Event* event = context.streams.find_event(wait->event);
  return event->capture && event->capture != stream.capture;
}

/// An event recorded or waited for while capturing moves the fronts of streams, not time.
bool capture_event(Context& context, Stream& stream, const Operation& operation) {
  if (const auto* record = std::get_if<RecordOperation>(&operation)) {
    Event* event = context.streams.find_event(record->event);
    event->capture = stream.capture;
    event->captured_front = stream.capture_front;
    return true;
  }
  if (const auto* wait = std::get_if<WaitOperation>(&operation)) {
    const Event* event = context.streams.find_event(wait->event);
    if (!event->capture) return true;  // recorded before the capture: nothing left to wait for
    for (GraphNode* node : event->captured_front)
      if (std::find(stream.capture_front.begin(), stream.capture_front.end(), node) ==
          stream.capture_front.end())
        stream.capture_front.push_back(node);
    return true;
  }
  return false;
}

/// What has ended before the next work of the stream: by its own order, the default stream's rule,
/// and what the host has waited for.
void order_work(Context& context, Stream& stream) {
  if (!context.settings.checks.racecheck) return;
  stream.past = context.streams.past_of(stream);
  stream.past.learn(context.stream_races.host());
}

/// Legacy default stream work is not allowed while another stream captures in global mode.
bool breaks_a_capture(Context& context, const Stream& stream) {
  return context.streams.is_legacy(stream) &&
         context.streams.any_capturing(cudaStreamCaptureModeGlobal);
}

}  // namespace

Submitted submit(Context& context, std::unique_lock<std::mutex>& lock, Stream& stream,
                 Operation operation) {
  if (stream.capture) {
    if (merges_captures(context, stream, operation)) return {cudaErrorStreamCaptureMerge, true};
    if (!capture_event(context, stream, operation)) capture(stream, std::move(operation));
    return {cudaSuccess, true};
  }
  if (const auto* wait = std::get_if<WaitOperation>(&operation)) {
    // Waiting for an event of a capturing stream is how a stream joins the capture.
    const Event* event = context.streams.find_event(wait->event);
    if (event != nullptr && event->capture) {
      stream.capture = event->capture;
      stream.capture_front = event->captured_front;
      ++stream.capture->joined_streams;
      return {cudaSuccess, true};
    }
  }
  if (breaks_a_capture(context, stream)) return {cudaErrorStreamCaptureImplicit, false};
  context.clock.host_works(kSubmitNs);
  const double earliest = std::max(context.streams.earliest_ns(stream), context.clock.host_ns());
  if (earliest > stream.timeline.ready_ns) stream.timeline = {earliest, false};
  order_work(context, stream);
  context.host_watch.open();
  HostCalls calls;
  Setting setting{context, calls, stream, false};
  const cudaError_t code = run(setting, stream.timeline, operation);
  make_calls(lock, calls);
  return {code, false};
}

cudaError_t submit_and_wait(Context& context, std::unique_lock<std::mutex>& lock, Stream& stream,
                            Operation operation) {
  if (stream.capture) return cudaErrorStreamCaptureUnsupported;
  const Submitted submitted = submit(context, lock, stream, std::move(operation));
  if (submitted.code != cudaSuccess) return submitted.code;
  wait_for(context, stream);
  return context.error_seen_by(true);
}

cudaError_t launch_graph(Context& context, std::unique_lock<std::mutex>& lock, Stream& stream,
                         ExecutableGraph& graph) {
  if (stream.capture) {
    capture(stream, ChildGraphOperation{graph.graph->clone()});
    return cudaSuccess;
  }
  if (breaks_a_capture(context, stream)) return cudaErrorStreamCaptureImplicit;
  context.clock.host_works(kSubmitNs);
  // A graph that still runs is waited for, in whichever stream that is.
  const double earliest =
      std::max({context.streams.earliest_ns(stream), context.clock.host_ns(), graph.busy_until_ns});
  if (earliest > stream.timeline.ready_ns) stream.timeline = {earliest, false};
  order_work(context, stream);
  context.host_watch.open();
  HostCalls calls;
  Setting setting{context, calls, stream, true};
  context.graph_work.clear();
  const cudaError_t code = run_nodes(setting, stream.timeline, graph.order, &context.graph_work);
  graph.busy_until_ns = stream.timeline.ready_ns;
  make_calls(lock, calls);
  return code;
}

void wait_for(Context& context, const Stream& stream) {
  context.clock.host_waits_until(context.streams.earliest_ns(stream));
  context.stream_races.host_learns(context.streams.past_of(stream));
  context.services.flush_output();
}

void wait_for_all(Context& context) {
  context.clock.host_waits_until(context.streams.all_done_ns());
  context.stream_races.host_knows_all();
  context.services.flush_output();
}

}  // namespace membound::vgpu::runtime
