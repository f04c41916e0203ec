// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/cli/interrupt.hpp"

#include <signal.h>

#include <initializer_list>

namespace membound::cli {
namespace {

// A signal handler can reach nothing else.
std::atomic<bool> interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free);

}  // namespace

const std::atomic<bool>* catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = [](int) { interrupted = true; };
  // Back to the default after the first; no SA_RESTART, so that waiting calls wake up.
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaction(number, &action, nullptr);
  return &interrupted;
}

}  // namespace membound::cli
