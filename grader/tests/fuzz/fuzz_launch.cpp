// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A fuzzer that executes: kernels by chance, parsed, linked and launched with small limits. What
/// it promises on every text: an error, a fault, or a result; no memory of ours is touched, nothing
/// is undefined, and it ends. AddressSanitizer and UndefinedBehaviorSanitizer see to that; without
/// them broken promises of the code (MEMBOUND_CHECK) and crashes are seen.
///   fuzz_launch [--seed N] [--count N | --seconds N] [--tells] [--last FILE] [--seeds FOLDER]
///               [FILE.ptx…]
/// --tells prints the errors of texts that are none, and the faults.
/// --last keeps the text that runs in FILE, for when it is the last one. --seeds: texts (.ptx, and
/// .ptxt as in grader/tests/ptx) that are mutated too. FILEs are run as they are.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "grader/device_code/checkers/checkers.hpp"
#include "grader/device_code/ptx/parser.hpp"
#include "grader/tests/fuzz/ptx_generator.hpp"
#include "grader/vgpu/exec/launch/launch.hpp"
#include "grader/vgpu/program/opcode_table.hpp"

namespace {

namespace checkers = membound::checkers;
namespace exec = membound::vgpu::exec;
namespace memory = membound::vgpu::memory;
namespace program = membound::vgpu::program;
namespace ptx = membound::ptx;
using membound::fuzz::Chance;

struct Options {
  std::uint64_t seed = 1, count = 1000, seconds = 0;
  bool tells = false;
  std::string last = {};
  std::vector<std::string> seeds = {}, texts = {};
};

struct Summary {
  std::uint64_t texts = 0, parsed = 0, linked = 0, launches = 0, faults = 0, instructions = 0;
  std::set<std::string> opcodes, kinds;
};

/// Objects of several formats and sizes; texels of each in memory of its own size.
class Objects final : public memory::TextureTable {
 public:
  Objects() {
    using memory::ChannelKind;
    add(image(16, 1, 1, 1, 1, 32, ChannelKind::kFloat));
    add(image(5, 3, 1, 1, 4, 32, ChannelKind::kUnsigned));
    add(image(3, 2, 1, 1, 1, 8, ChannelKind::kSigned));
    add(image(4, 3, 2, 1, 2, 16, ChannelKind::kFloat));
    add(image(4, 4, 1, 3, 4, 8, ChannelKind::kUnsigned));
    add(image(4, 4, 1, 12, 1, 32, ChannelKind::kFloat));
    for (std::size_t t = 0; t < textures_.size(); ++t) {
      memory::Texture& texture = textures_[t];
      texture.filter = t % 2 == 0 ? memory::FilterMode::kPoint : memory::FilterMode::kLinear;
      texture.normalized_coordinates = t % 3 == 1;
      texture.read_normalized_float = t % 3 != 0;
      for (std::size_t i = 0; i < 3; ++i)
        texture.address[i] = static_cast<memory::AddressMode>((t + i) % 4);
    }
    memory::Texture& levels = textures_[1];
    levels.smaller = {image(2, 1, 1, 1, 4, 32, memory::ChannelKind::kUnsigned),
                      image(1, 1, 1, 1, 4, 32, memory::ChannelKind::kUnsigned)};
    levels.level_filter = memory::FilterMode::kLinear;
    levels.lowest_level = -3;
    levels.highest_level = 9;
  }
  [[nodiscard]] const memory::Texture* texture(std::uint64_t handle) const override {
    return handle - 1 < textures_.size() ? &textures_[handle - 1] : nullptr;
  }
  [[nodiscard]] const memory::Surface* surface(std::uint64_t handle) const override {
    return handle - 1 < surfaces_.size() ? &surfaces_[handle - 1] : nullptr;
  }

 private:
  memory::Image image(std::uint32_t width, std::uint32_t height, std::uint32_t depth,
                      std::uint32_t layers, std::uint32_t channels, std::uint32_t channel_bits,
                      memory::ChannelKind kind) {
    memory::Image made;
    made.width = width;
    made.height = height;
    made.depth = depth;
    made.layers = layers;
    made.channels = channels;
    made.channel_bits = channel_bits;
    made.kind = kind;
    made.pitch_bytes = std::uint64_t{width} * channels * channel_bits / 8;
    made.slice_bytes = made.pitch_bytes * height;
    texels_.emplace_back(made.slice_bytes * depth * layers, std::byte{0x3F});
    made.texels = texels_.back().data();
    return made;
  }
  void add(const memory::Image& image) {
    textures_.push_back({.image = image});
    surfaces_.push_back({.image = image});
  }

  std::vector<std::vector<std::byte>> texels_;
  std::vector<memory::Texture> textures_;
  std::vector<memory::Surface> surfaces_;
};

class Heap final : public exec::DeviceCalls {
 public:
  explicit Heap(memory::AddressSpace& space) : space_(space) {}
  bool print(std::string_view text) override { return text.size() < 64; }
  std::uint64_t allocate(std::uint64_t bytes, const exec::Place* /*where*/) override {
    if (bytes > 4096 || ++taken_ > 64) return 0;
    return space_.allocate(bytes, 16, {memory::AllocationKind::kDeviceHeap, "malloc"}).value_or(0);
  }
  bool release(std::uint64_t address) override { return space_.free(address); }

 private:
  memory::AddressSpace& space_;
  std::uint32_t taken_ = 0;
};

/// Gives every global a place, and its first bytes. False: too large for this.
bool place_globals(program::Program& linked, memory::AddressSpace& space) {
  for (std::size_t g = 0; g < linked.globals().size(); ++g) {
    const auto& global = linked.globals()[g];
    if (global.size_bytes > 1u << 20) return false;
    const auto kind = global.is_constant ? memory::AllocationKind::kConstant
                                         : memory::AllocationKind::kGlobalVariable;
    const auto address = space.allocate(std::max<std::uint64_t>(1, global.size_bytes),
                                        global.alignment_bytes, {kind, global.name, true});
    if (!address) return false;
    linked.place_global(g, *address);
  }
  for (std::size_t g = 0; g < linked.globals().size(); ++g) {
    const auto image = linked.initial_image(g);
    space.copy_in(linked.globals()[g].device_address, image.data(), image.size());
  }
  return true;
}

exec::LaunchRequest request_for(const program::Program& linked, const program::Kernel& kernel,
                                Chance& chance) {
  exec::LaunchRequest request;
  request.program = &linked;
  request.kernel = &kernel;
  request.grid = {1 + chance.of(3), 1, 1};
  request.block = {1 + chance.of(chance.one_in(2) ? 96 : 33), 1, 1};
  request.dynamic_shared_bytes = 16 * chance.of(32);
  request.limits.warp_instructions = 4000;
  request.limits.worker_threads = chance.one_in(8) ? 2 : 1;
  request.limits.resident_blocks = 1 + chance.of(2);
  request.limits.local_bytes = 1 << 14;
  request.limits.stack_bytes = chance.one_in(4) ? 1 << 14 : 1024;
  if (!chance.one_in(4)) {
    for (const checkers::CheckerInfo& checker : checkers::kCheckers)
      if (chance.one_in(2)) request.checks.switch_on(checker.name);
    request.checks.memcheck = !chance.one_in(4);  // other lanes go on behind a bad access
  }
  if (chance.one_in(4)) request.scheduling = exec::Scheduling::kLockstep;
  if (chance.one_in(4)) request.shuffle_seed = chance.bits();
  request.cooperative = chance.one_in(8);
  request.caches.enabled = chance.one_in(4);
  request.sm_count = 4;
  request.lists_opcodes = true;
  return request;
}

void launch(program::Program& linked, Chance& chance, const Options& options, Summary& summary) {
  memory::AddressSpace space(std::uint64_t{64} << 20);
  if (chance.one_in(2)) space.track_initialised(true);
  if (!place_globals(linked, space)) return;
  const auto data = space.allocate(4096, 256, {});
  space.fill(*data, std::byte{1}, 2048);
  Heap heap(space);
  const Objects objects;
  for (const program::Kernel& kernel : linked.kernels()) {
    if (kernel.static_shared_bytes > 1u << 16 || kernel.parameter_bytes > 1u << 12) continue;
    const std::uint64_t values[] = {*data, 1 + chance.of(6), 1 + chance.of(6), chance.of(100)};
    std::vector<std::byte> parameters(kernel.parameter_bytes);
    for (std::size_t i = 0; i < parameters.size(); ++i)
      parameters[i] = static_cast<std::byte>(values[i / 8 % 4] >> (8 * (i % 8)));
    exec::LaunchRequest request = request_for(linked, kernel, chance);
    request.parameters = parameters;
    request.memory = &space;
    request.textures = &objects;
    request.device_calls = &heap;
    const exec::LaunchReport report = exec::launch(request);
    ++summary.launches;
    summary.instructions += report.warp_instructions;
    for (const auto& opcode : report.opcodes) summary.opcodes.emplace(opcode.name);
    if (!report.fault) continue;
    ++summary.faults;
    if (options.tells)
      std::printf("%s: %s: %s\n", std::string(exec::to_string(report.fault->kind)).c_str(),
                  report.fault->place.instruction.c_str(), report.fault->text.c_str());
    summary.kinds.emplace(exec::to_string(report.fault->kind));
  }
}

void run(const std::string& text, Chance& chance, const Options& options, Summary& summary) {
  if (!options.last.empty()) std::ofstream(options.last) << text;
  ++summary.texts;
  const auto module = ptx::parse(text, "fuzz.ptx");
  if (!module) {
    if (options.tells) std::printf("%s\n", to_string(module.error()).c_str());
    return;
  }
  ++summary.parsed;
  auto linked = program::Program::link({&*module, 1});
  if (!linked) {
    if (options.tells) std::printf("%s\n", to_string(linked.error()).c_str());
    return;
  }
  ++summary.linked;
  launch(*linked, chance, options, summary);
}

/// The PTX of a .ptx or of a .ptxt, whose PTX stands between two lines.
std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::size_t begin = text.find("--- ptx\n"), end = text.find("--- expect");
  if (begin == std::string::npos || end == std::string::npos) return text;
  text = text.substr(begin + 8, end - begin - 8);
  if (text.find(".version") == std::string::npos)
    text = ".version 8.0\n.target sm_90\n.address_size 64\n" + text;
  return text;
}

Options read_options(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const auto is = [&](const char* name) {
      return std::strcmp(argv[i], name) == 0 && i + 1 < argc;
    };
    if (is("--seed")) {
      options.seed = std::strtoull(argv[++i], nullptr, 10);
    } else if (is("--count")) {
      options.count = std::strtoull(argv[++i], nullptr, 10);
    } else if (is("--seconds")) {
      options.seconds = std::strtoull(argv[++i], nullptr, 10);
    } else if (is("--last")) {
      options.last = argv[++i];
    } else if (std::strcmp(argv[i], "--tells") == 0) {
      options.tells = true;
    } else if (is("--seeds")) {
      std::set<std::filesystem::path> paths;  // in the same order everywhere
      for (const auto& entry : std::filesystem::directory_iterator(argv[++i])) paths.insert(entry);
      for (const auto& path : paths) options.seeds.push_back(text_of(path));
    } else {
      options.texts.push_back(text_of(argv[i]));
    }
  }
  return options;
}

/// Text `number` of a run: each has a seed of its own, so that one can be run alone.
void run_one(std::uint64_t number, const Options& options, Summary& summary) {
  Chance chance(options.seed * 1'000'000'007 + number);
  std::string text;
  if (!options.seeds.empty() && chance.one_in(4))
    text = options.seeds[chance.of(static_cast<std::uint32_t>(options.seeds.size()))];
  else
    text = membound::fuzz::generate_ptx(chance);
  if (chance.one_in(2)) text = membound::fuzz::mutate_ptx(text, chance);
  run(text, chance, options, summary);
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = read_options(argc, argv);
  Summary summary;
  for (const std::string& text : options.texts) {
    for (std::uint64_t seed = 0; seed < 8; ++seed) {  // with several shapes and checks
      Chance chance(seed);
      run(text, chance, options, summary);
    }
  }
  const auto start = std::chrono::steady_clock::now();
  const auto running = [&](std::uint64_t done) {
    if (options.seconds == 0) return done < options.count;
    return std::chrono::steady_clock::now() - start < std::chrono::seconds(options.seconds);
  };
  if (options.texts.empty())
    for (std::uint64_t number = 0; running(number); ++number) run_one(number, options, summary);
  if (options.tells)
    for (const program::OpcodeInfo& info : program::all_opcodes())
      if (!summary.opcodes.contains(std::string(info.name)))
        std::printf("never executed: %s\n", std::string(info.name).c_str());
  std::printf(
      "%llu texts, %llu parsed, %llu linked, %llu launches, %llu faults, %llu warp instructions, "
      "%zu opcodes\nfaults:",
      static_cast<unsigned long long>(summary.texts),
      static_cast<unsigned long long>(summary.parsed),
      static_cast<unsigned long long>(summary.linked),
      static_cast<unsigned long long>(summary.launches),
      static_cast<unsigned long long>(summary.faults),
      static_cast<unsigned long long>(summary.instructions), summary.opcodes.size());
  for (const std::string& kind : summary.kinds) std::printf(" %s;", kind.c_str());
  std::puts("");
  // A generator whose texts nobody executes finds nothing.
  const bool worked = summary.launches * 2 > summary.texts;
  return worked ? 0 : 1;
}
