// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The dotted words after an opcode as fields of an Instruction.
#include <array>
#include <optional>

#include "grader/vgpu/program/link/decoder.hpp"

namespace membound::vgpu::program {
namespace {

template <typename T>
struct Word {
  std::string_view text;
  T value;
};

template <typename T, std::size_t N>
std::optional<T> look_up(const std::array<Word<T>, N>& table, std::string_view text) {
  for (const Word<T>& word : table) {
    if (word.text == text) return word.value;
  }
  return std::nullopt;
}

constexpr auto kRoundings = std::to_array<Word<Rounding>>({{".rn", Rounding::kRn},
                                                           {".rz", Rounding::kRz},
                                                           {".rm", Rounding::kRm},
                                                           {".rp", Rounding::kRp},
                                                           {".rna", Rounding::kRna},
                                                           {".rni", Rounding::kRni},
                                                           {".rzi", Rounding::kRzi},
                                                           {".rmi", Rounding::kRmi},
                                                           {".rpi", Rounding::kRpi}});
constexpr auto kComparisons = std::to_array<Word<Comparison>>({{".eq", Comparison::kEq},
                                                               {".ne", Comparison::kNe},
                                                               {".lt", Comparison::kLt},
                                                               {".le", Comparison::kLe},
                                                               {".gt", Comparison::kGt},
                                                               {".ge", Comparison::kGe},
                                                               {".lo", Comparison::kLo},
                                                               {".ls", Comparison::kLs},
                                                               {".hi", Comparison::kHi},
                                                               {".hs", Comparison::kHs},
                                                               {".equ", Comparison::kEqu},
                                                               {".neu", Comparison::kNeu},
                                                               {".ltu", Comparison::kLtu},
                                                               {".leu", Comparison::kLeu},
                                                               {".gtu", Comparison::kGtu},
                                                               {".geu", Comparison::kGeu},
                                                               {".num", Comparison::kNum},
                                                               {".nan", Comparison::kNan}});
constexpr auto kCombines = std::to_array<Word<Combine>>(
    {{".and", Combine::kAnd}, {".or", Combine::kOr}, {".xor", Combine::kXor}});
constexpr auto kAtomics = std::to_array<Word<Atomic>>({{".add", Atomic::kAdd},
                                                       {".min", Atomic::kMin},
                                                       {".max", Atomic::kMax},
                                                       {".inc", Atomic::kInc},
                                                       {".dec", Atomic::kDec},
                                                       {".cas", Atomic::kCas},
                                                       {".exch", Atomic::kExch},
                                                       {".and", Atomic::kAnd},
                                                       {".or", Atomic::kOr},
                                                       {".xor", Atomic::kXor},
                                                       {".popc", Atomic::kPopc}});
constexpr auto kOrders = std::to_array<Word<Order>>({{".weak", Order::kWeak},
                                                     {".volatile", Order::kVolatile},
                                                     {".relaxed", Order::kRelaxed},
                                                     {".acquire", Order::kAcquire},
                                                     {".release", Order::kRelease},
                                                     {".acq_rel", Order::kAcqRel},
                                                     {".mmio", Order::kVolatile},
                                                     {".sc", Order::kSc}});
constexpr auto kScopes = std::to_array<Word<Scope>>({{".cta", Scope::kCta},
                                                     {".cluster", Scope::kCluster},
                                                     {".gpu", Scope::kGpu},
                                                     {".sys", Scope::kSys},
                                                     {".gl", Scope::kGpu}});
constexpr auto kGeometries = std::to_array<Word<Geometry>>({{".1d", Geometry::k1d},
                                                            {".2d", Geometry::k2d},
                                                            {".3d", Geometry::k3d},
                                                            {".a1d", Geometry::kA1d},
                                                            {".a2d", Geometry::kA2d},
                                                            {".cube", Geometry::kCube},
                                                            {".acube", Geometry::kACube},
                                                            {".2dms", Geometry::k2dMs}});
constexpr auto kPermutes = std::to_array<Word<PermuteMode>>({{".f4e", PermuteMode::kF4e},
                                                             {".b4e", PermuteMode::kB4e},
                                                             {".rc8", PermuteMode::kRc8},
                                                             {".ecl", PermuteMode::kEcl},
                                                             {".ecr", PermuteMode::kEcr},
                                                             {".rc16", PermuteMode::kRc16}});
constexpr auto kTests = std::to_array<Word<TestMode>>({{".finite", TestMode::kFinite},
                                                       {".infinite", TestMode::kInfinite},
                                                       {".number", TestMode::kNumber},
                                                       {".notanumber", TestMode::kNotANumber},
                                                       {".normal", TestMode::kNormal},
                                                       {".subnormal", TestMode::kSubnormal}});
constexpr auto kShuffles = std::to_array<Word<ShuffleMode>>({{".idx", ShuffleMode::kIdx},
                                                             {".up", ShuffleMode::kUp},
                                                             {".down", ShuffleMode::kDown},
                                                             {".bfly", ShuffleMode::kBfly}});
constexpr auto kVotes = std::to_array<Word<VoteMode>>({{".all", VoteMode::kAll},
                                                       {".any", VoteMode::kAny},
                                                       {".uni", VoteMode::kUni},
                                                       {".ballot", VoteMode::kBallot}});
constexpr auto kEdges = std::to_array<Word<Edge>>(
    {{".trap", Edge::kTrap}, {".clamp", Edge::kClamp}, {".zero", Edge::kZero}});
constexpr auto kBarriers = std::to_array<Word<BarrierMode>>({{".arrive", BarrierMode::kArrive},
                                                             {".red", BarrierMode::kRed},
                                                             {".warp", BarrierMode::kWarp}});
constexpr auto kMatches =
    std::to_array<Word<MatchMode>>({{".any", MatchMode::kAny}, {".all", MatchMode::kAll}});
constexpr auto kHalves =
    std::to_array<Word<Halves>>({{".u16x2", Halves::kUnsigned}, {".s16x2", Halves::kSigned}});
constexpr auto kLevels = std::to_array<Word<LevelMode>>(
    {{".level", LevelMode::kGiven}, {".grad", LevelMode::kGradients}});
constexpr auto kChannels =
    std::to_array<Word<std::uint8_t>>({{".r", 0}, {".g", 1}, {".b", 2}, {".a", 3}});
constexpr auto kFlags = std::to_array<Word<std::uint32_t>>({{".ftz", kFtz},
                                                            {".sat", kSat},
                                                            {".satfinite", kSat},
                                                            {".cc", kCarryOut},
                                                            {".hi", kHi},
                                                            {".wide", kWide},
                                                            {".lo", 0},
                                                            {".approx", kApprox},
                                                            {".full", kFull},
                                                            {".relu", kRelu},
                                                            {".NaN", kNanFlag},
                                                            {".xorsign", kXorSign},
                                                            {".abs", kAbsFlag},
                                                            {".uni", kUniform},
                                                            {".aligned", kAligned},
                                                            {".shiftamt", kShiftAmt},
                                                            {".wrap", kWrap},
                                                            {".clamp", 0},
                                                            {".l", kLeft},
                                                            {".r", 0},
                                                            {".noftz", 0},
                                                            {".sync", 0},
                                                            {".nc", kNonCoherent},
                                                            {".noComplete", kNoComplete},
                                                            {".noinc", kNoComplete}});
// Hints and words without an effect on values here.
constexpr std::array kHints = {".ca", ".cg", ".cs", ".lu",  ".cv",      ".wb",
                               ".wt", ".b",  ".p",  ".idx", ".unified", ".to"};

std::optional<ptx::StateSpace> space_of(std::string_view text) {
  const std::size_t qualifier = text.find("::");
  if (text.starts_with(".const[")) return ptx::StateSpace::kConst;
  return ptx::state_space_of(text.substr(0, qualifier));
}

bool is_hint(std::string_view text) {
  if (text.starts_with(".L1::") || text.starts_with(".L2::")) return true;
  for (const char* hint : kHints) {
    if (text == hint) return true;
  }
  return false;
}

std::optional<std::uint8_t> vector_of(std::string_view text) {
  if (text == ".v2") return 2;
  if (text == ".v4") return 4;
  if (text == ".v8") return 8;
  return std::nullopt;
}

/// cvt.pack: the type packed into; narrower ones than a byte have no name elsewhere.
std::uint8_t packed_bits(std::string_view text) {
  return text == ".u2" || text == ".s2"     ? 2
         : text == ".u4" || text == ".s4"   ? 4
         : text == ".u8" || text == ".s8"   ? 8
         : text == ".u16" || text == ".s16" ? 16
                                            : 0;
}

/// Puts what `table` says of the word into a field of the instruction's detail. False: no such
/// word.
template <typename T, std::size_t N, typename D>
bool take(const std::array<Word<T>, N>& table, std::string_view text, Instruction& out,
          T D::*field) {
  const auto found = look_up(table, text);
  if (found) out.make<D>().*field = *found;
  return found.has_value();
}

/// A video instruction on packed values names up to three types; the last is that of b.
bool take_video_word(std::string_view text, Instruction& out) {
  auto& video = out.make<Video>();
  if (text == ".add") return video.sums = true;
  if (text != ".u32" && text != ".s32") return take(kComparisons, text, out, &Video::comparison);
  out.type = ptx::ScalarType::kB32;
  video.signed_d = video.signed_a;
  video.signed_a = video.signed_b;
  video.signed_b = text == ".s32";
  return true;
}

/// cvt.pack: the type packed into comes first of those after .pack.
bool take_packing_word(std::string_view text, Instruction& out) {
  if (text == ".pack") return out.make<Packing>().packs = true;
  if (!out.as<Packing>().packs || out.as<Packing>().part_bits != 0 || packed_bits(text) == 0)
    return false;
  out.make<Packing>().part_bits = packed_bits(text);
  out.make<Packing>().is_signed = text[1] == 's';
  out.type = ptx::ScalarType::kB32;
  return true;
}

bool take_barrier_word(std::string_view text, Instruction& out) {
  if (text == ".sync") return true;  // keeps kRed and kWarp chosen before it
  return take(kBarriers, text, out, &BlockBarrier::mode) ||
         take(kAtomics, text, out, &BlockBarrier::operation);
}

/// Words that only some opcodes know. True when taken. A detail is made by a word of its own, or
/// by the decoder.
bool take_own_word(Suffixes suffixes, std::string_view text, Instruction& out) {
  switch (suffixes) {
    case Suffixes::kComparison:
      return take(kComparisons, text, out, &Compare::comparison) ||
             take(kCombines, text, out, &Compare::combine);
    case Suffixes::kAtomic:
      return take(kAtomics, text, out, &AtomicAccess::operation);
    case Suffixes::kJoined:
      return take(kAtomics, text, out, &Joined::operation);
    case Suffixes::kBarrier:
      return take_barrier_word(text, out);
    case Suffixes::kHalves:
      if (!take(kHalves, text, out, &Arithmetic::halves)) return false;
      out.type = ptx::ScalarType::kB32;
      return true;
    case Suffixes::kPacking:
      return take_packing_word(text, out);
    case Suffixes::kPermutation:
      return take(kPermutes, text, out, &Permutation::mode);
    case Suffixes::kProperty:
      return take(kTests, text, out, &Property::mode);
    case Suffixes::kShuffle:
      return take(kShuffles, text, out, &Shuffle::mode);
    case Suffixes::kVote:
      return take(kVotes, text, out, &Vote::mode);
    case Suffixes::kMatch:
      return take(kMatches, text, out, &Match::mode);
    case Suffixes::kTexture:
    case Suffixes::kGather:
      if (suffixes == Suffixes::kGather && take(kChannels, text, out, &Fetch::channel)) return true;
      return take(kLevels, text, out, &Fetch::level) ||
             take(kGeometries, text, out, &Fetch::geometry);
    case Suffixes::kSurface:
    case Suffixes::kSurfaceReduction:
      if (suffixes == Suffixes::kSurfaceReduction &&
          take(kAtomics, text, out, &SurfaceAccess::operation))
        return true;
      return take(kEdges, text, out, &SurfaceAccess::edge) ||
             take(kGeometries, text, out, &SurfaceAccess::geometry);
    case Suffixes::kVideo:
      return take_video_word(text, out);
    case Suffixes::kCommon:
    case Suffixes::kFree:
      return false;
  }
  return false;
}

bool take_common_word(std::string_view text, Instruction& out) {
  if (const auto type = ptx::scalar_type_of(text)) {
    (out.type == ptx::ScalarType::kNone ? out.type : out.type2) = *type;
    return true;
  }
  if (const auto space = space_of(text)) {
    if (out.space == ptx::StateSpace::kNone) out.space = *space;
    return true;
  }
  if (const auto rounding = look_up(kRoundings, text)) return out.rounding = *rounding, true;
  if (const auto flag = look_up(kFlags, text)) return out.flags |= *flag, true;
  if (const auto order = look_up(kOrders, text)) return out.order = *order, true;
  if (const auto scope = look_up(kScopes, text)) return out.scope = *scope, true;
  if (const auto vector = vector_of(text)) return out.vector = *vector, true;
  return is_hint(text);
}

}  // namespace

std::string_view read_suffixes(const ptx::Instruction& in, const OpcodeInfo& info,
                               Instruction& out) {
  for (const std::string_view text : in.suffixes) {
    if (take_own_word(info.suffixes, text, out) || take_common_word(text, out)) continue;
    if (info.suffixes != Suffixes::kFree) return text;
  }
  if (info.opcode == Opcode::kBar && out.as<BlockBarrier>().mode != BarrierMode::kWarp)
    out.flags |= kAligned;
  return {};
}

}  // namespace membound::vgpu::program
