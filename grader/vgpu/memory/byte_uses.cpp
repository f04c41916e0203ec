// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/memory/byte_uses.hpp"

#include "grader/vgpu/memory/watched_lines.hpp"

namespace membound::vgpu::memory {

void ByteMap::add(std::uint64_t line, const LineBytes& bytes) {
  Part& part = parts_[line % parts_.size()];
  const std::lock_guard lock(part.mutex);
  part.lines[line].add(bytes);
}

LineBytes ByteMap::of(std::uint64_t line) const {
  const Part& part = parts_[line % parts_.size()];
  const std::lock_guard lock(part.mutex);
  const auto found = part.lines.find(line);
  return found == part.lines.end() ? LineBytes{} : found->second;
}

std::uint64_t ByteMap::count() const {
  std::uint64_t all = 0;
  for (const Part& part : parts_) {
    const std::lock_guard lock(part.mutex);
    for (const auto& [line, bytes] : part.lines) all += bytes.count();
  }
  return all;
}

void SectorSample::add(std::uint64_t sector) {
  constexpr std::size_t kMost = 64;
  const std::uint64_t hash = mixed(sector);
  if (kept_.size() == kMost) {
    const auto last = std::prev(kept_.end());
    if (hash >= last->first) return;
    if (kept_.contains(hash)) return;
    kept_.erase(last);
  }
  kept_.emplace(hash, sector);
}

void SectorSample::add(const SectorSample& other) {
  for (const auto& [hash, sector] : other.kept_) add(sector);
}

}  // namespace membound::vgpu::memory
