// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/sandbox/jail/stage_image.hpp"

#include <fcntl.h>
#include <sys/mman.h>

#include <string>

// MEMBOUND_STAGE_PROGRAM is the path of the built stage; the assembler copies its bytes.
asm(R"(
  .pushsection .rodata
  .hidden membound_stage_begin
  .hidden membound_stage_end
  .global membound_stage_begin
  .global membound_stage_end
  .balign 16
membound_stage_begin:
  .incbin ")" MEMBOUND_STAGE_PROGRAM R"("
membound_stage_end:
  .popsection
)");

// Names of symbols, as the assembler has them. NOLINTBEGIN(readability-identifier-naming)
extern "C" {
extern const char membound_stage_begin[];
extern const char membound_stage_end[];
}
// NOLINTEND(readability-identifier-naming)

namespace membound::jail {
namespace {

#ifndef MFD_EXEC
constexpr unsigned kMfdExec = 0x10;  // Linux 6.3; older kernels refuse it and do not need it
#else
constexpr unsigned kMfdExec = MFD_EXEC;
#endif

base::Descriptor make_program() {
  const char* const name = "membound-stage";
  constexpr unsigned kFlags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  base::Descriptor file(memfd_create(name, kFlags | kMfdExec));
  if (!file.open()) file.reset(memfd_create(name, kFlags));
  const auto size = static_cast<std::size_t>(membound_stage_end - membound_stage_begin);
  if (!file.open() || write(file.get(), membound_stage_begin, size) != static_cast<ssize_t>(size) ||
      fcntl(file.get(), F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) != 0)
    return base::Descriptor();
  return file;
}

}  // namespace

const base::Descriptor& stage_program() {
  static const base::Descriptor program = make_program();
  return program;
}

}  // namespace membound::jail
