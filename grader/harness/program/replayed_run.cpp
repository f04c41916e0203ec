// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/program/replayed_run.hpp"

#include <sys/mman.h>
#include <sys/socket.h>
#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <thread>
#include <utility>

#include "grader/base/result.hpp"
#include "grader/harness/cases/data.hpp"
#include "grader/harness/program/data_flow.hpp"
#include "grader/harness/program/program_test.hpp"
#include "grader/sandbox/runner/call_record.hpp"
#include "grader/sandbox/runner/channel.hpp"
#include "grader/sandbox/runner/protocol.hpp"

namespace membound::harness {
namespace {

constexpr std::size_t kWordBytes = sizeof(std::uint32_t);
/// Inputs that a copy may begin with, as a quick way; all others are found word by word.
constexpr std::size_t kMostTried = 8;

}  // namespace

void OtherInputs::add(std::vector<std::uint32_t> given, std::vector<std::uint32_t> other) {
  MEMBOUND_CHECK(given.size() == other.size());
  inputs_.push_back({std::move(given), std::move(other)});
}

void OtherInputs::add_copied(const CopiedBack& back, std::size_t first) {
  inputs_.push_back({{}, {}, &back, first, back.first.size() - first});
}

std::pair<OtherInputs::Words, OtherInputs::Words> OtherInputs::words_of(const Input& input) {
  if (input.back == nullptr) return {input.given, input.other};
  return {Words(input.back->first).subspan(input.first, input.count),
          Words(input.back->again).subspan(input.first, input.count)};
}

bool OtherInputs::replace_part(std::span<std::byte> copied, std::size_t input, std::size_t word) {
  if (input >= inputs_.size()) return false;
  const auto [given, other] = words_of(inputs_[input]);
  const std::size_t count = copied.size() / kWordBytes;
  if (word > given.size() || count > given.size() - word) return false;
  if (std::memcmp(copied.data(), given.data() + word, count * kWordBytes) != 0) return false;
  std::memcpy(copied.data(), other.data() + word, count * kWordBytes);
  next_input_ = input;
  next_word_ = word + count;
  return true;
}

std::size_t OtherInputs::replace_in(std::span<std::byte> copied) {
  const std::size_t count = copied.size() / kWordBytes;
  if (count == 0) return 0;
  if (replace_part(copied, next_input_, next_word_)) return count;
  for (std::size_t input = 0; input < std::min(inputs_.size(), kMostTried); ++input)
    if (replace_part(copied, input, 0)) return count;
  for (; mapped_ < inputs_.size(); ++mapped_) {
    const auto [given, other] = words_of(inputs_[mapped_]);
    for (std::size_t i = 0; i < given.size(); ++i) other_of_.emplace(given[i], other[i]);
  }
  std::size_t replaced = 0;
  for (std::size_t i = 0; i < count; ++i) {
    std::byte* const at = copied.data() + i * kWordBytes;
    std::uint32_t word = 0;
    std::memcpy(&word, at, kWordBytes);
    const auto found = other_of_.find(word);
    if (found == other_of_.end()) continue;
    std::memcpy(at, &found->second, kWordBytes);
    ++replaced;
  }
  return replaced;
}

std::int64_t other_integer(std::int64_t value, std::int64_t low, std::int64_t high,
                           std::uint64_t key) {
  MEMBOUND_CHECK(low <= value && value <= high && low < high);
  const std::int64_t range = high - low + 1, place = value - low;
  const std::int64_t at =
      place +
      base::integer_value(random_bits(key, static_cast<std::uint64_t>(place)), 1, range - 1);
  return low + (at < range ? at : at - range);
}

namespace {

using runner::kind_of;
using runner::ServedRequest;

/// Questions about what is done by now, and what only the program's side has to do with. Copies to
/// the host are made at once in a replay, so there is nothing to take later.
constexpr std::array kLeftOut = {kind_of<runner::TakeCopy>(),       kind_of<runner::AskStream>(),
                                 kind_of<runner::AskEvent>(),       kind_of<runner::AskElapsed>(),
                                 kind_of<runner::NoteErrorCheck>(), kind_of<runner::TakeReport>(),
                                 kind_of<runner::AskMemory>(),      kind_of<runner::Goodbye>()};
/// Their answers are numbers that later requests hold.
constexpr std::array kAnswersCount = {
    kind_of<runner::LoadModule>(),    kind_of<runner::Allocate>(),
    kind_of<runner::AllocateAsync>(), kind_of<runner::FindVariable>(),
    kind_of<runner::CreateStream>(),  kind_of<runner::CreateEvent>(),
    kind_of<runner::EndCapture>(),    kind_of<runner::InstantiateGraph>()};

bool holds(const auto& kinds, std::uint32_t kind) {
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

std::int32_t code_of(std::span<const std::byte> answer) {
  std::int32_t code = 0;
  if (answer.size() >= sizeof code) std::memcpy(&code, answer.data(), sizeof code);
  return code;
}

/// The kind of a request as people call it: "Launch".
std::string short_name(std::uint32_t kind) {
  const std::string name = runner::name_of(kind);
  return name.substr(name.rfind(' ') + 1);
}

base::Error replay_error(const std::string& found) {
  return {base::ErrorKind::kMachine, "a program's requests, done once more", found,
          "a runner that does as the first one did", "run it again; report it if it comes again"};
}

void append_words(std::vector<std::uint32_t>& words, std::span<const std::byte> bytes) {
  const std::size_t before = words.size(), count = bytes.size() / sizeof(std::uint32_t);
  words.resize(before + count);
  if (count > 0) std::memcpy(words.data() + before, bytes.data(), count * sizeof(std::uint32_t));
}

/// Nobody looks on in a replay. Where memcheck did, memory was laid out for it, and has to be
/// again: kernels were given addresses.
Setting without_checkers(Setting setting) {
  std::string& checks = setting.runner_environment["MEMBOUND_CHECK"];
  const bool was_spread = checks == "all" || checks.find("memcheck") != std::string::npos;
  checks = "none";
  setting.runner_environment["MEMBOUND_LAYOUT"] = was_spread ? "checked" : "usual";
  setting.runner_environment.erase("MEMBOUND_CHECK_BLOCKS");
  return setting;
}

/// The judge's end of the second runner.
class Player {
 public:
  Player(runner::Descriptor socket, runner::SharedBuffer buffer, OtherInputs& inputs,
         Replay& result)
      : channel_(std::move(socket)), buffer_(std::move(buffer)), inputs_(inputs), result_(result) {}

  /// Does all of them, until one goes otherwise; then result.stopped says so.
  base::Status play(const std::vector<ServedRequest>& requests) {
    if (const auto sent = channel_.send_descriptor(buffer_.fd()); !sent) return sent;
    for (std::size_t i = 0; i < requests.size(); ++i) {
      if (holds(kLeftOut, requests[i].kind)) continue;
      if (auto done = play(requests[i]); !done) return done;
      if (!result_.stopped.empty()) return base::Done{};
    }
    static_cast<void>(ask(kind_of<runner::Goodbye>(), runner::encode(runner::Goodbye{})));
    return base::Done{};
  }

 private:
  base::Status play(const ServedRequest& request) {
    const auto payload = prepared(request);
    if (!payload) return payload.error();
    const auto answer = ask(request.kind, *payload);
    if (!answer) {
      result_.stopped = "the request " + short_name(request.kind) + " did not come to its end";
      return base::Done{};
    }
    const std::int32_t code = code_of(*answer), first_code = code_of(request.answer);
    if (code != first_code) {
      result_.stopped = "the request " + short_name(request.kind) + " gave CUDA error " +
                        std::to_string(code) + (first_code == 0 ? "" : " instead of ") +
                        (first_code == 0 ? "" : std::to_string(first_code));
      return base::Done{};
    }
    if (holds(kAnswersCount, request.kind) && !std::ranges::equal(*answer, request.answer))
      return replay_error("the answer to " + short_name(request.kind) + " is another one");
    if (code == 0) take_copy(request);
    return base::Done{};
  }

  /// What is sent for it, with its bytes in the shared buffer.
  base::Result<std::vector<std::byte>> prepared(const ServedRequest& request) {
    auto decoded = runner::decode_request(request.kind, request.payload);
    if (!decoded) return decoded.error();
    std::vector<std::byte> payload(request.payload.begin(), request.payload.end());
    // Nothing was copied by a request that failed.
    if (code_of(request.answer) != 0) return payload;
    if (auto* const few = std::get_if<runner::UploadInline>(&*decoded)) {
      result_.replaced += inputs_.replace_in(few->data);
      return runner::encode(*few);
    }
    if (auto* const out = std::get_if<runner::CopyOut>(&*decoded)) {
      out->pinned = 0;
      return runner::encode(*out);
    }
    std::uint64_t at = 0;
    if (const auto* const upload = std::get_if<runner::Upload>(&*decoded)) at = upload->at;
    const bool is_copy =
        request.kind == kind_of<runner::Upload>() || request.kind == kind_of<runner::CopyIn>();
    if (!is_copy && request.kind != kind_of<runner::LoadModule>()) return payload;
    if (at > runner::kSharedBytes || request.copied.size() > runner::kSharedBytes - at)
      return replay_error("a copy is larger than the buffer it came through");
    std::byte* const to = buffer_.data() + at;
    std::copy(request.copied.begin(), request.copied.end(), to);
    if (is_copy) result_.replaced += inputs_.replace_in({to, request.copied.size()});
    return payload;
  }

  void take_copy(const ServedRequest& request) {
    const bool is_download = request.kind == kind_of<runner::Download>();
    if (!is_download && request.kind != kind_of<runner::CopyOut>()) return;
    std::uint64_t at = 0;
    if (is_download) {
      const auto decoded = runner::decode_request(request.kind, request.payload);
      at = std::get<runner::Download>(*decoded).at;
    }
    if (at > runner::kSharedBytes || request.copied.size() > runner::kSharedBytes - at) return;
    CopiedBack& back = result_.back;
    const std::size_t before = back.first.size();
    append_words(back.first, request.copied);
    append_words(back.again, {buffer_.data() + at, request.copied.size()});
    back.ends.push_back(back.first.size());
    inputs_.add_copied(back, before);
  }

  base::Result<std::vector<std::byte>> ask(std::uint32_t kind,
                                           const std::vector<std::byte>& payload) {
    if (const auto sent = channel_.send(++sequence_, kind, payload); !sent) return sent.error();
    auto frame = channel_.receive();
    if (!frame) return frame.error();
    return std::move(frame->payload);
  }

  runner::Channel channel_;
  runner::SharedBuffer buffer_;
  OtherInputs& inputs_;
  Replay& result_;
  std::uint32_t sequence_ = 0;
};

}  // namespace

base::Result<Replay> replay(const Setting& setting, const RunEnd& run, OtherInputs inputs,
                            std::uint64_t orders) {
  MEMBOUND_CHECK(run.requests != nullptr);
  const auto requests = runner::requests_of(std::as_bytes(std::span(*run.requests)));
  if (!requests) return requests.error();
  Replay result;
  if (!requests->is_whole) {
    result.stopped = "the program copied more than " +
                     std::to_string(runner::RequestLog::kMostBytes >> 20) + " MB";
    return result;
  }
  auto sockets = runner::make_socket_pair();
  if (!sockets) return sockets.error();
  auto buffer = runner::SharedBuffer::make();
  if (!buffer) return buffer.error();
  const Setting quiet = without_checkers(setting);
  const runner::Descriptor calls(memfd_create("membound-calls", MFD_CLOEXEC));
  if (!calls) return replay_error("a file in memory cannot be made");
  runner::Descriptor& runners_end = sockets->second;

  base::Result<jail::JailOutcome> ended = jail::JailOutcome{};
  std::thread beside([&] {
    RunnerFiles files;
    files.socket = runners_end.get();
    files.calls = calls.get();
    files.follows_data = true;
    files.orders = orders;
    ended = run_runner(quiet, files);
    runners_end = {};
  });
  base::Status played = base::Done{};
  {
    Player player(std::move(sockets->first), *std::move(buffer), inputs, result);
    played = player.play(requests->all);
  }
  beside.join();
  if (!ended) return ended.error();
  if (!played) return played.error();
  constexpr int kRunnerWithoutDevice = 3;
  if (ended->exit_code == kRunnerWithoutDevice) return replay_error(ended->output);
  if (!result.stopped.empty() && ended->limit != jail::LimitHit::kNone)
    result.stopped += ": the limit of " + std::string(to_string(ended->limit)) + " was reached";
  const auto text = read_whole(calls);
  if (!text) return text.error();
  auto noted = runner::calls_from_text(*text);
  if (!noted) return noted.error();
  result.calls = *std::move(noted);
  return result;
}

base::Result<RunEnd> run_with_changed_copies(const Given& given, Setting setting,
                                             std::uint64_t key) {
  setting.keeps_requests = false;
  setting.orders = 0;
  // Some bit of every word, among them one of a float's exponent: no rounding explains it.
  constexpr std::uint32_t kAlwaysChanged = (1U << 25) | 1;
  setting.changed_bits = static_cast<std::uint32_t>(key) | kAlwaysChanged;
  setting.runner_environment["MEMBOUND_CHECK"] = "none";
  // A program may print each of them before it ends.
  setting.program_limits.output_bytes = 64 * jail::kMegabyte;
  return run_program(setting, given);
}

namespace {

/// `orders`: as replay() has it.
ReplayedTest replayed_in(std::uint64_t orders, const HostTest& test, const ProgramTest& first,
                         const Setting& setting, std::uint64_t key) {
  ProgramTest again(
      first,
      [&](const RunEnd& run, OtherInputs inputs) {
        return replay(setting, run, std::move(inputs), orders);
      },
      key);
  const testing::AssertionResult result = test.body(again);
  ReplayedTest told;
  told.name = test.name;
  told.abort = again.abort();
  if (!result) told.message = result.message();
  told.arrived = again.arrived();
  for (const runner::Call& call : again.replayed_calls())
    if (has_worked(call)) told.uses.push_back(call.uses);
  const auto worked = std::ranges::count_if(first.end().calls, has_worked);
  // Both runners were asked for the same and answered the same.
  MEMBOUND_CHECK(told.arrived.empty() ||
                 static_cast<std::ptrdiff_t>(told.arrived.size()) == worked);
  return told;
}

/// In drawn orders of turns, and where that does not come out right, in the usual ones, too: then
/// that alone says why.
ReplayedTest replayed(const HostTest& test, const ProgramTest& first, const Setting& setting,
                      std::uint64_t key) {
  ReplayedTest told = replayed_in(key | 1, test, first, setting, key);
  if (told.message.empty()) return told;
  told = replayed_in(0, test, first, setting, key);
  told.hangs_on_order = told.message.empty();
  return told;
}

void run_with_other_copies(const ProgramTest& first, const Setting& setting, std::uint64_t key,
                           ReplayedTest& told) {
  const auto run = run_with_changed_copies(first.given(), setting, key);
  if (!run) {
    told.abort = course::Cause::kCrash;
    told.message = base::to_string(run.error());
    return;
  }
  if (run->program.exit_code != 0) return;
  for (const auto& [name, output] : first.end().outputs)
    if (const auto changed = run->outputs.find(name);
        changed != run->outputs.end() && told.message.empty())
      told.message = why_not_as_copied(output, changed->second, name);
}

}  // namespace

std::future<ReplayedTest> begin_replay(const HostTest& test,
                                       std::shared_ptr<const ProgramTest> first,
                                       const Setting& setting, std::uint64_t key, bool runs_again) {
  return std::async(std::launch::async,
                    [&test, first = std::move(first), setting, key, runs_again] {
                      if (!runs_again) return replayed(test, *first, setting, key);
                      ReplayedTest told;
                      told.name = test.name;
                      run_with_other_copies(*first, setting, key, told);
                      return told;
                    });
}

}  // namespace membound::harness
