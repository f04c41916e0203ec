// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Where the host code of a student's program stands when its time is nearly over, or when a signal
/// ends it: the addresses of its calls, a line on stderr that the harness takes out again and looks
/// lines up for. Only where MEMBOUND_PLACE_AFTER says after how many seconds: people's own code,
/// which runs without a jail. A student's program is free to print such a line itself: it decides
/// nothing, and is wrong advice to whoever wrote it.
#include <execinfo.h>
#include <link.h>
#include <sys/time.h>
#include <unistd.h>
#include <csignal>
#include <cstdint>
#include <cstdlib>

#include "grader/base/processor.hpp"
#include "grader/sandbox/runner/channel.hpp"

namespace membound::forward {
namespace {

constexpr int kMostFrames = 64;
constexpr std::size_t kStackBytes = std::size_t{1} << 16;

/// The program's own code in memory: what its calls of libraries lead to has no line of the
/// student.
struct ProgramCode {
  std::uintptr_t base = 0, begin = 0, end = 0;
};
ProgramCode program_code;

int note_program(dl_phdr_info* object, std::size_t, void*) {
  program_code.base = object->dlpi_addr;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const auto& part = object->dlpi_phdr[i];
    if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
    program_code.begin = object->dlpi_addr + part.p_vaddr;
    program_code.end = program_code.begin + part.p_memsz;
  }
  return 1;  // the program is the first object
}

/// Writes "MARK ADDRESS ADDRESS ...", the innermost call first, addresses as in the program's file,
/// after a '=' the one whose instruction was next: the program runs there, and waits for no call.
void tell_place(int, siginfo_t*, void* context) {
  void* frames[kMostFrames];
  const int count = backtrace(frames, kMostFrames);
  const std::uintptr_t now = base::next_instruction(*static_cast<const ucontext_t*>(context));
  char line[kMostFrames * 20 + 64];
  std::size_t length = 0;
  for (const char letter : runner::kPlaceMark) line[length++] = letter;
  for (int i = 0; i < count; ++i) {
    auto address = reinterpret_cast<std::uintptr_t>(frames[i]);
    if (address < program_code.begin || address >= program_code.end) continue;
    // A call returns to what follows it, which may be another line.
    line[length++] = address == now ? '=' : ' ';
    address -= program_code.base + (address == now ? 0 : 1);
    for (int shift = 60; shift >= 0; shift -= 4)
      line[length++] = "0123456789abcdef"[(address >> shift) & 15U];
  }
  line[length++] = '\n';
  const ssize_t written = write(STDERR_FILENO, line, length);
  (void)written;
}

[[gnu::constructor]] void watch_program() {
  const char* const text = std::getenv("MEMBOUND_PLACE_AFTER");
  const double seconds = text == nullptr ? 0 : std::atof(text);
  if (seconds <= 0) return;
  dl_iterate_phdr(note_program, nullptr);
  void* first[1];
  backtrace(first, 1);  // loads what it needs, which a handler could not
  // A program whose recursion does not end has no stack left for a handler.
  static char stack[kStackBytes];
  const stack_t other{stack, 0, sizeof stack};
  sigaltstack(&other, nullptr);
  struct sigaction action = {};
  action.sa_sigaction = tell_place;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  sigaction(SIGALRM, &action, nullptr);
  // What raised one of these does it again, and ends the program as it would have.
  action.sa_flags |= static_cast<int>(SA_RESETHAND);
  for (const int fatal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT})
    sigaction(fatal, &action, nullptr);
  itimerval timer = {};
  timer.it_value.tv_sec = static_cast<time_t>(seconds);
  timer.it_value.tv_usec = static_cast<suseconds_t>(1e6 * (seconds - static_cast<time_t>(seconds)));
  setitimer(ITIMER_REAL, &timer, nullptr);
}

}  // namespace
}  // namespace membound::forward
