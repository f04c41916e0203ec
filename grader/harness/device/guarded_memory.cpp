// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/device/guarded_memory.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <set>
#include <utility>

#include "grader/base/failpoint.hpp"
#include "grader/base/result.hpp"
#include "grader/harness/cases/data.hpp"
#include "grader/harness/device/cuda_wrappers.hpp"
#include "grader/harness/device/runtime_extensions.hpp"

namespace membound::harness {
namespace {

/// Elements counted away from the array: 0 is its direct neighbour.
struct Changed {
  std::size_t count = 0, nearest = 0;
};

Changed changed_elements(std::span<const std::byte> now, std::span<const std::byte> before,
                         std::size_t element_bytes, Side side) {
  Changed changed;
  for (std::size_t away = 0; away < now.size(); away += element_bytes) {
    const std::size_t bytes = std::min(element_bytes, now.size() - away);
    const std::size_t at = side == Side::kBehind ? away : now.size() - away - bytes;
    if (std::memcmp(&now[at], &before[at], bytes) == 0) continue;
    if (changed.count++ == 0) changed.nearest = away / element_bytes;
  }
  return changed;
}

std::string elements_text(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " element" : " elements");
}

}  // namespace

std::vector<std::byte> guard_pattern(std::size_t size_bytes, std::uint16_t mark) {
  std::vector<std::byte> zone(size_bytes);
  for (std::size_t i = 0; i < size_bytes; i += sizeof(std::uint32_t)) {
    const std::uint32_t word = kGuardWords[i / sizeof(std::uint32_t) % 2] | mark;
    std::memcpy(&zone[i], &word, std::min(sizeof(word), size_bytes - i));
  }
  return zone;
}

std::optional<std::string> zone_damage(std::span<const std::byte> zone, std::uint16_t mark,
                                       Side side, std::size_t element_bytes,
                                       std::size_t element_count) {
  const Changed changed =
      changed_elements(zone, guard_pattern(zone.size(), mark), element_bytes, side);
  if (changed.count == 0) return std::nullopt;
  const bool before = side == Side::kBefore;
  const auto nearest = static_cast<std::int64_t>(changed.nearest);
  return elements_text(changed.count) + (before ? " in front of the first" : " past the last") +
         (changed.count == 1 ? " was" : " were") + " overwritten; the nearest is element " +
         std::to_string(before ? -1 - nearest
                               : static_cast<std::int64_t>(element_count) + nearest) +
         " of an array of " + std::to_string(element_count);
}

std::optional<std::string> input_damage(std::span<const std::byte> now,
                                        std::span<const std::byte> before,
                                        std::size_t element_bytes) {
  MEMBOUND_CHECK(now.size() == before.size());
  if (std::memcmp(now.data(), before.data(), now.size()) == 0) return std::nullopt;
  std::size_t count = 0, first = 0;
  for (std::size_t i = 0; i < now.size(); i += element_bytes) {
    if (std::memcmp(&now[i], &before[i], element_bytes) == 0) continue;
    if (count++ == 0) first = i / element_bytes;
  }
  return elements_text(count) + " of this input changed, the first is element " +
         std::to_string(first) + "; a kernel may only read its inputs";
}

namespace {

/// None where the virtual GPU's checkers look on: they know each allocation's bounds to the byte,
/// and would take a guard zone for a part of the array.
std::size_t guard_bytes() { return device_checks() ? 0 : kGuardBytes; }

/// Small arrays that are gone. The next one as large takes the place of the last of them, so that
/// other numbers come where a kernel has seen some before: what it has kept by an address is then
/// wrong, as on a GPU, whose driver hands out the same places again. Not where checkers look on,
/// which tell who uses what is gone.
class FormerPlaces {
 public:
  /// Null where there was none as large.
  static std::byte* take(std::size_t bytes) {
    const auto found = std::find_if(all().rbegin(), all().rend(),
                                    [&](const auto& place) { return place.second == bytes; });
    if (found == all().rend()) return nullptr;
    std::byte* const d_place = found->first;
    all().erase(std::next(found).base());
    return d_place;
  }

  /// False: the caller frees it.
  static bool keep(std::byte* d_place, std::size_t bytes) {
    if (device_checks() || bytes > kMostBytes) return false;
    all().emplace_back(d_place, bytes);
    if (all().size() <= kMost) return true;
    cudaFree(all().front().first);  // fails only after a fault, when the process ends anyway
    all().erase(all().begin());
    return true;
  }

 private:
  static constexpr std::size_t kMost = 8;
  static constexpr std::size_t kMostBytes = std::size_t{1} << 20;
  static std::vector<std::pair<std::byte*, std::size_t>>& all() {
    static std::vector<std::pair<std::byte*, std::size_t>> places;
    return places;
  }
};

}  // namespace

struct GuardedMemory::Block {
  std::byte* d_allocation = nullptr;
  std::size_t size_bytes = 0;
  std::size_t element_bytes = 1;
  Role role = Role::kOutput;
  std::uint16_t mark = next_mark();  // of its guard zones
  std::vector<std::byte> initial;    // inputs only: what must still be there after a launch

  [[nodiscard]] std::byte* d_data() const { return d_allocation + guard_bytes(); }
  [[nodiscard]] std::size_t whole_bytes() const {
    return std::max<std::size_t>(1, size_bytes + 2 * guard_bytes());
  }

  // Arrays made one after the other have marks that differ in many bits. Never 0, so that zeros
  // show, too.
  static std::uint16_t next_mark() {
    static std::uint16_t mark = 0;
    mark = static_cast<std::uint16_t>(mark + 0x9E37);
    return mark == 0 ? next_mark() : mark;
  }

  // All blocks alive. A list of the process, because a launch must find the arrays that a test made
  // without being told of them. Only the main thread makes arrays and launches.
  static std::set<Block*>& all() {
    static std::set<Block*> blocks;
    return blocks;
  }

  ~Block() {
    all().erase(this);
    if (d_allocation == nullptr || FormerPlaces::keep(d_allocation, whole_bytes())) return;
    cudaFree(d_allocation);  // fails only after a fault, when the process ends anyway
  }
};

namespace {

std::vector<std::byte> poison_bytes(std::size_t size_bytes) {
  std::vector<std::byte> bytes(size_bytes);
  if (size_bytes == 0 || base::switched_off("harness.poison")) return bytes;
  std::size_t done = std::min(sizeof(kPoisonWord), size_bytes);
  std::memcpy(bytes.data(), &kPoisonWord, done);
  for (; done < size_bytes; done = std::min(2 * done, size_bytes))  // whole words, again
    std::memcpy(&bytes[done], bytes.data(), std::min(done, size_bytes - done));
  return bytes;
}

constexpr std::size_t kPatternBytes = std::size_t{1} << 20;  // whole poison words
constexpr std::size_t kLittleBytes = std::size_t{1} << 16;

void put(std::byte* d_target, std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  cuda_check(cudaMemcpy(d_target, bytes.data(), bytes.size(), cudaMemcpyHostToDevice),
             "filling an array");
}

void read_back(const std::byte* d_source, std::span<std::byte> bytes) {
  if (bytes.empty()) return;
  cuda_check(cudaMemcpy(bytes.data(), d_source, bytes.size(), cudaMemcpyDeviceToHost),
             "reading device memory back");
}

/// One pattern comes from the host: the device copies it on and on. A submission chooses the size
/// of its scratch: the host's memory must not grow with it.
void fill_with_poison(std::byte* d_data, std::size_t size_bytes) {
  std::size_t done = std::min(kPatternBytes, size_bytes);
  put(d_data, poison_bytes(done));
  while (done < size_bytes) {
    const std::size_t now = std::min(done, size_bytes - done);
    cuda_check(cudaMemcpy(d_data + done, d_data, now, cudaMemcpyDeviceToDevice),
               "filling an array");
    done += now;
  }
}

/// Damage of an input of which a copy is kept. Compared part by part: most are whole.
std::optional<std::string> input_damage_on_device(const std::byte* d_data,
                                                  const std::vector<std::byte>& before,
                                                  std::size_t element_bytes) {
  std::vector<std::byte> part(std::min(kPatternBytes, before.size()));
  bool whole = true;
  for (std::size_t begin = 0; whole && begin < before.size(); begin += part.size()) {
    const std::size_t bytes = std::min(part.size(), before.size() - begin);
    read_back(d_data + begin, std::span(part).first(bytes));
    whole = std::memcmp(part.data(), &before[begin], bytes) == 0;
  }
  if (whole) return std::nullopt;
  part.resize(before.size());
  read_back(d_data, part);
  return input_damage(part, before, element_bytes);
}

}  // namespace

GuardedMemory::GuardedMemory(std::size_t size_bytes, std::size_t element_bytes, const void* initial,
                             Role role)
    : block_(std::make_unique<Block>()) {
  block_->size_bytes = size_bytes;
  block_->element_bytes = element_bytes;
  block_->role = role;
  void* d_allocation = FormerPlaces::take(block_->whole_bytes());
  if (d_allocation == nullptr)
    cuda_check(cudaMalloc(&d_allocation, block_->whole_bytes()), "allocating an array");
  block_->d_allocation = static_cast<std::byte*>(d_allocation);
  Block::all().insert(block_.get());

  const std::vector<std::byte> zone = guard_pattern(guard_bytes(), block_->mark);
  const auto* const bytes = static_cast<const std::byte*>(initial);
  if (initial != nullptr && role == Role::kInput) block_->initial.assign(bytes, bytes + size_bytes);
  if (size_bytes > kLittleBytes) {
    put(block_->d_allocation, zone);
    if (initial == nullptr)
      fill_with_poison(block_->d_data(), size_bytes);
    else
      put(block_->d_data(), {bytes, size_bytes});
    put(block_->d_data() + size_bytes, zone);
  } else {  // one way to the device instead of three
    std::vector<std::byte> content = zone;
    if (initial == nullptr) {
      const std::vector<std::byte> poison = poison_bytes(size_bytes);
      content.insert(content.end(), poison.begin(), poison.end());
    } else {
      content.insert(content.end(), bytes, bytes + size_bytes);
    }
    content.insert(content.end(), zone.begin(), zone.end());
    put(block_->d_allocation, content);
  }
  if (initial == nullptr) forget_writes(d_allocation, size_bytes);
}

GuardedMemory::GuardedMemory(GuardedMemory&& other) noexcept = default;
GuardedMemory& GuardedMemory::operator=(GuardedMemory&& other) noexcept = default;
GuardedMemory::~GuardedMemory() = default;

void* GuardedMemory::data() const { return block_->d_data(); }
std::size_t GuardedMemory::size_bytes() const { return block_->size_bytes; }

void GuardedMemory::copy_to(void* host) const {
  if (block_->size_bytes == 0) return;
  cuda_check(cudaMemcpy(host, block_->d_data(), block_->size_bytes, cudaMemcpyDeviceToHost),
             "reading an array back");
}

std::size_t GuardedMemory::all_bytes() {
  std::size_t bytes = 0;
  for (const Block* block : Block::all()) bytes += block->size_bytes;
  return bytes;
}

std::optional<GuardedMemory::Damage> GuardedMemory::find_damage() {
  for (const Block* block : Block::all()) {
    const std::size_t count = block->size_bytes / block->element_bytes;
    const bool is_input = block->role == Role::kInput && block->size_bytes != 0 &&
                          !base::switched_off("harness.inputs");
    // A little more costs less than another way to the device.
    const bool whole = block->size_bytes <= kLittleBytes;
    const std::size_t zone = guard_bytes(), behind = zone + block->size_bytes;
    std::vector<std::byte> all(whole ? behind + zone : zone);
    if (whole) read_back(block->d_allocation, all);
    const auto damage = [&](std::size_t begin, Side side) {
      if (base::switched_off("harness.guard-zones")) return std::optional<std::string>();
      if (!whole) read_back(block->d_allocation + begin, all);
      return zone_damage(std::span(all).subspan(whole ? begin : 0, zone), block->mark, side,
                         block->element_bytes, count);
    };
    if (auto text = damage(0, Side::kBefore))
      return Damage{block->d_data(), DamageKind::kOutside, *text};
    if (auto text = damage(behind, Side::kBehind))
      return Damage{block->d_data(), DamageKind::kOutside, *text};
    if (!is_input) continue;
    const auto text =
        whole ? input_damage(std::span(all).subspan(zone, block->size_bytes), block->initial,
                             block->element_bytes)
              : input_damage_on_device(block->d_data(), block->initial, block->element_bytes);
    if (text) return Damage{block->d_data(), DamageKind::kInputChanged, *text};
  }
  return std::nullopt;
}

}  // namespace membound::harness
