// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The device's memory: one reserved window of addresses the host cannot touch (a host dereference
/// of a device pointer faults, as with a GPU) whose backing lies at a constant distance. Left out:
/// what an access costs (coalescer, shared_banks, cache) and who may race with whom (checkers).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "grader/base/result.hpp"
#include "grader/vgpu/memory/access_shadow.hpp"
#include "grader/vgpu/memory/initialised_bytes.hpp"
#include "grader/vgpu/memory/lazy_array.hpp"

namespace membound::vgpu::memory {

/// Why an allocation exists; the word used in messages.
enum class AllocationKind {
  kMalloc,
  kGlobalVariable,
  kConstant,
  kArray,
  kDeviceHeap,
  kHost,
  kManaged,
  kManagedVariable
};

/// What the owner of an allocation tells about it.
struct AllocationInfo {
  AllocationKind kind = AllocationKind::kMalloc;
  std::string name = {};     ///< the variable's name, or what made it ("cudaMalloc"); may be empty
  bool initialised = false;  ///< its bytes count as written from the start
  /// Its rows end at multiples of this, whatever is kept in them; 0: it has none.
  std::uint64_t row_multiple = 0;
};

/// One live (or, while `freed`, quarantined) allocation.
struct Allocation {
  std::uint64_t address = 0;
  std::uint64_t size_bytes = 0;
  AllocationInfo info;
  std::uint64_t serial = 0;  ///< counts up from 1: "allocation 3"
  bool freed = false;
  /// Kept free after it; of memory of the host, what lies there and a kernel may touch too.
  std::uint64_t red_zone_bytes = 0;
  bool was_lazy = false;  ///< while `freed`: no program's own array
};

/// Addresses [begin, end) an access may touch, and the distance from address to host byte.
struct Span {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::int64_t host_offset = 0;
  bool writable = true;
};

/// Where memory lies and what is allocated. All members may be called from several threads.
class AddressSpace {
 public:
  /// Size of the generic-address windows of shared and local memory.
  static constexpr std::uint64_t kSharedWindowBytes = std::uint64_t{1} << 24;
  static constexpr std::uint64_t kLocalWindowBytes = std::uint64_t{1} << 24;
  /// Memory is mapped in units of this size, as on a GPU: without memcheck only an access outside
  /// every mapped one is illegal.
  static constexpr std::uint64_t kMappingBytes = std::uint64_t{2} << 20;

  static constexpr std::uint64_t kPageBytes = InitialisedBytes::kPageBytes;
  /// The same of pinned and managed memory.
  static constexpr std::uint64_t kHostMappingBytes = std::uint64_t{64} << 10;

  /// `capacity_bytes` is what cudaMemGetInfo calls total; exceeding it is "out of memory".
  explicit AddressSpace(std::uint64_t capacity_bytes);
  ~AddressSpace();
  AddressSpace(const AddressSpace&) = delete;
  AddressSpace& operator=(const AddressSpace&) = delete;

  /// A device address, or nothing when the capacity is exhausted. `alignment` is a power of two;
  /// at least 256 is used.
  [[nodiscard]] std::optional<std::uint64_t> allocate(std::uint64_t bytes, std::uint64_t alignment,
                                                      const AllocationInfo& info);
  /// False when no live allocation starts at `address`.
  bool free(std::uint64_t address);

  /// The live allocation that holds `address`.
  [[nodiscard]] std::optional<Allocation> find(std::uint64_t address) const;
  /// The allocation nearest to `address`, live first, then recently freed.
  [[nodiscard]] std::optional<Allocation> nearest(std::uint64_t address) const;
  /// The recently freed allocation that held `address`.
  [[nodiscard]] std::optional<Allocation> find_freed(std::uint64_t address) const;
  [[nodiscard]] std::vector<Allocation> live() const;
  /// Those among them that are variables of a program which host and device share.
  [[nodiscard]] std::vector<Allocation> managed_variables() const;

  /// Host memory the device may use under the host's own address (pinned or managed). `room_bytes`
  /// after it a kernel may touch, too, as on a GPU, which maps whole pages; and what lies before it
  /// in its first page.
  void register_host_range(void* pointer, std::uint64_t bytes, AllocationInfo info,
                           std::uint64_t room_bytes = 0);
  bool unregister_host_range(void* pointer);
  /// What to map for an array of the host of `bytes` that the runtime gives out: room after it as
  /// after one of the device, in whole units.
  [[nodiscard]] std::uint64_t host_array_bytes(std::uint64_t bytes) const;

  /// Host bytes behind [address, address + bytes), or null if not all of it lies in one allocation.
  [[nodiscard]] std::byte* host_bytes(std::uint64_t address, std::uint64_t bytes) const;

  /// False (and nothing is done) when a device range is not inside one allocation.
  bool copy_in(std::uint64_t to, const void* from, std::uint64_t bytes);
  bool copy_out(void* to, std::uint64_t from, std::uint64_t bytes);
  bool copy(std::uint64_t to, std::uint64_t from, std::uint64_t bytes);
  bool fill(std::uint64_t to, std::byte value, std::uint64_t bytes);

  /// From now on the bytes of the allocation at `address` are made by `source` when they are first
  /// touched; until it is freed, or the host writes all of it, or asks for much of it at once.
  /// False when none starts there. Not while a kernel runs. Ends track_initialised: a flag for each
  /// byte would be all that is saved. An output is one that launches are to write.
  bool generate_lazily(std::uint64_t address, ByteSource source, bool is_output = false);
  /// Is some array generated lazily? As lazy_about(), a running kernel may ask.
  [[nodiscard]] bool any_lazy() const { return !lazy_.empty(); }
  /// The lazily generated array at `address`, or null.
  [[nodiscard]] const LazyArray* lazy_at(std::uint64_t address) const;

  /// What is there of all lazily generated arrays.
  [[nodiscard]] std::uint64_t lazy_bytes() const;
  /// Whether anything is there of a drawn output.
  [[nodiscard]] bool lazy_output_was_touched() const;

  /// What an access at `address` may touch around it: with `precise`, its allocation; else all the
  /// mapped memory about it; of a lazily generated array what is there. Nothing when the address is
  /// illegal.
  [[nodiscard]] std::optional<Span> span_of(std::uint64_t address, bool precise) const;
  /// The lazily generated array that holds `address`; none: null. Lanes far apart in one have a
  /// span each, a page at most: whoever asks for many had better hold the array.
  struct LazyPlace {
    LazyArray* array = nullptr;
    std::uint64_t begin = 0;  ///< address
    [[nodiscard]] bool holds(std::uint64_t address, std::uint64_t bytes) const {
      return array != nullptr && address - begin < array->size_bytes() &&
             bytes <= array->size_bytes() - (address - begin);
    }
  };
  [[nodiscard]] LazyPlace lazy_about(std::uint64_t address) const {
    for (const auto& [begin, array] : lazy_)  // a few
      if (address - begin < array->size_bytes()) return {array.get(), begin};
    return {};
  }

  [[nodiscard]] bool is_device_address(std::uint64_t address) const {
    return address - window_ < window_bytes_;
  }
  [[nodiscard]] std::uint64_t shared_window() const { return window_; }
  /// Size of the whole window; it begins at shared_window().
  [[nodiscard]] std::uint64_t window_bytes() const { return window_bytes_; }
  [[nodiscard]] std::uint64_t local_window() const { return window_ + kSharedWindowBytes; }
  [[nodiscard]] std::uint64_t capacity_bytes() const { return capacity_bytes_; }
  [[nodiscard]] std::uint64_t used_bytes() const;

  /// Starts (or stops) remembering which bytes were written; memory written before counts as
  /// written only if it was allocated or copied to while remembering.
  void track_initialised(bool on);
  /// Marks bytes as written.
  void mark_initialised(std::uint64_t address, std::uint64_t bytes);
  /// The same of all that is allocated.
  void mark_all_initialised();
  /// Marks bytes as never written; their values stay.
  void forget_writes(std::uint64_t address, std::uint64_t bytes);
  /// A kernel stores words of `word_bytes` (a power of two) in the page at `offset` from
  /// shared_window(); only while tracked.
  void note_stored_words(std::uint64_t offset, std::uint32_t word_bytes) {
    initialised_->note_words(offset, word_bytes);
  }
  /// Of [address, address + bytes) of one allocation, the bytes that nobody has written and that
  /// are no padding between members of a struct; none where that is not tracked.
  [[nodiscard]] UnwrittenBytes unwritten(std::uint64_t address, std::uint64_t bytes) const;
  /// From now on at least so many bytes lie between two allocations. memcheck takes an index that
  /// is too large for one of the next allocation where it leads there.
  void keep_distance(std::uint64_t bytes);
  /// Does every byte of the pages with these bytes count as written? Offsets from shared_window(),
  /// at most a page; only while tracked. Kernels neither make this true nor end it: what the host
  /// has filled need not be looked at byte by byte.
  [[nodiscard]] bool whole_pages_written(std::uint64_t offset, std::uint64_t bytes) const {
    return initialised_->whole_pages(offset, bytes);
  }
  /// One byte per byte of device memory, 1 = written; null when not tracked. Index it by
  /// `address - shared_window()`.
  [[nodiscard]] std::uint8_t* initialised_shadow() const {
    return initialised_ == nullptr ? nullptr : initialised_->flags();
  }
  /// The race checker's memory, in cells of 1 << `cell_shift` (0 … 2) bytes, of one worker thread;
  /// made when first asked for.
  [[nodiscard]] AccessShadow& access_shadow(std::uint32_t cell_shift, std::size_t worker);
  /// Distance from a device address to its host byte.
  [[nodiscard]] std::int64_t host_offset() const { return host_offset_; }

 private:
  [[nodiscard]] static std::uint64_t extent(const Allocation& allocation);
  void use_mappings(std::uint64_t begin, std::uint64_t end, int change);
  void set_initialised(std::uint64_t address, std::uint64_t bytes, bool written);
  [[nodiscard]] std::optional<std::uint64_t> allocate_again(std::uint64_t bytes,
                                                            std::uint64_t alignment,
                                                            const AllocationInfo& info);
  void retire(const Allocation& allocation);
  [[nodiscard]] const Allocation* holder(std::uint64_t address) const;
  [[nodiscard]] std::optional<Span> host_span(std::uint64_t address, bool precise) const;
  void forget_lazy(std::uint64_t address, std::uint64_t bytes);
  void spread(std::uint64_t address) const;
  [[nodiscard]] std::byte* resolve(std::uint64_t address, std::uint64_t bytes) const;

  std::uint64_t capacity_bytes_;
  std::uint64_t window_ = 0;
  std::uint64_t window_bytes_ = 0;
  std::int64_t host_offset_ = 0;
  std::unique_ptr<InitialisedBytes> initialised_;                             // null: not tracked
  std::array<std::vector<std::unique_ptr<AccessShadow>>, 3> access_shadows_;  // by cell_shift
  std::uint64_t red_zone_bytes_;
  std::uint64_t used_bytes_ = 0;
  std::uint64_t next_serial_ = 1;
  mutable std::mutex mutex_;
  std::map<std::uint64_t, Allocation> live_;  // by address
  /// By address. Changed by the host's calls alone, so that a running kernel may look without the
  /// mutex.
  mutable std::map<std::uint64_t, std::unique_ptr<LazyArray>> lazy_;
  std::set<std::uint64_t> lazy_outputs_;          // addresses of those among them
  std::map<std::uint64_t, std::uint64_t> holes_;  // free ranges: begin -> end
  std::deque<Allocation> quarantine_;             // freed, not to be used again just yet
  std::deque<Allocation> freed_of_host_;          // the last of them
  std::set<std::uint64_t> managed_variables_;     // addresses
  std::vector<std::uint32_t> mapping_users_;      // live allocations touching each of them
};

}  // namespace membound::vgpu::memory
