// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What belongs to the operands of one shape and to no other: modes, places, suffixes. An
/// instruction holds at most one of them.
/// Place in the chain: program/decoder fills it -> [details] -> exec's handler of that shape.
#pragma once

#include <cstdint>
#include <variant>

namespace membound::vgpu::program {

/// Comparison suffixes; the u-forms are true for NaN, lo/ls/hi/hs are unsigned lt/le/gt/ge.
enum class Comparison : std::uint8_t {
  kEq,
  kNe,
  kLt,
  kLe,
  kGt,
  kGe,
  kLo,
  kLs,
  kHi,
  kHs,
  kEqu,
  kNeu,
  kLtu,
  kLeu,
  kGtu,
  kGeu,
  kNum,
  kNan
};
/// How setp joins its third source.
enum class Combine : std::uint8_t { kNone, kAnd, kOr, kXor };
/// What an atomic (or a reduction, or redux, or bar.red) does.
enum class Atomic : std::uint8_t {
  kNone,
  kAdd,
  kMin,
  kMax,
  kInc,
  kDec,
  kCas,
  kExch,
  kAnd,
  kOr,
  kXor,
  kPopc
};
/// What a surface access outside the image does.
enum class Edge : std::uint8_t { kTrap, kClamp, kZero };

/// "No index": a branch without a target, a call through a register.
inline constexpr std::uint32_t kNoTarget = 0xFFFFFFFFu;

enum class ShuffleMode : std::uint8_t { kIdx, kUp, kDown, kBfly };
enum class VoteMode : std::uint8_t { kAll, kAny, kUni, kBallot };
enum class MatchMode : std::uint8_t { kAny, kAll };
enum class PermuteMode : std::uint8_t { kDefault, kF4e, kB4e, kRc8, kEcl, kEcr, kRc16 };
enum class TestMode : std::uint8_t {
  kFinite,
  kInfinite,
  kNumber,
  kNotANumber,
  kNormal,
  kSubnormal
};
enum class BarrierMode : std::uint8_t { kSync, kArrive, kRed, kWarp };
enum class CopyMode : std::uint8_t {
  kCopy,
  kCommit,
  kWaitGroup,
  kWaitAll,
  kArrive,
  kBulkLoad,    ///< cp.async.bulk to shared memory
  kBulkStore,   ///< and from there
  kBulkNothing  ///< of its groups: what is stored lands at once
};
enum class MbarrierMode : std::uint8_t {
  kInit,
  kInval,
  kArrive,
  kArriveDrop,
  kExpectTx,
  kCompleteTx,
  kArriveExpectTx,
  kTestWait,
  kTryWait,
  kTestWaitParity,
  kTryWaitParity,
  kPendingCount
};
/// Where a fetch takes its level of detail from.
enum class LevelMode : std::uint8_t { kNone, kGiven, kGradients };
/// Whether one lane of a warp does an atomic for all that take part; see joining.hpp.
enum class Joining : std::uint8_t {
  kNever,
  kIfUnused,
  kAlways,
  kByWordIfUnused  ///< the hardware counts the lanes of each word and adds them at once
};
enum class Query : std::uint8_t { kWidth, kHeight, kDepth, kOther };
enum class Geometry : std::uint8_t { k1d, k2d, k3d, kA1d, kA2d, kCube, kACube, k2dMs };
/// Registers that are read when executed.
enum class LiveRegister : std::uint8_t {
  kClock,
  kClockHi,
  kClock64,
  kGlobalTimer,
  kGlobalTimerLo,
  kGlobalTimerHi
};

/// add, sub, neg, min, max on two halfwords at a time.
enum class Halves : std::uint8_t { kNone, kUnsigned, kSigned };
enum class MoveWay : std::uint8_t { kCopy, kUnpack, kPack };

// The details, an example a line.

struct Compare {  ///< setp.lt.and.s32 p|q, a, b, r
  Comparison comparison = Comparison::kEq;
  Combine combine = Combine::kNone;
};
struct Arithmetic {  ///< add.u16x2 d, a, b
  Halves halves = Halves::kNone;
};
struct Packing {  ///< cvt.pack.sat.s8.s32.b32 d, a, b, c
  bool packs = false;
  bool is_signed = false;
  std::uint8_t part_bits = 0;  ///< 2 to 16; 0: not yet known
};
struct TruthTable {  ///< lop3.b32 d, a, b, c, 0x96
  std::uint8_t table = 0;
};
struct Permutation {  ///< prmt.b32.f4e d, a, b, c
  PermuteMode mode = PermuteMode::kDefault;
};
struct Property {  ///< testp.finite.f32 p, a
  TestMode mode = TestMode::kFinite;
};
struct Move {  ///< mov.b64 d, {a, b}
  MoveWay way = MoveWay::kCopy;
};
struct LiveRead {  ///< mov.u64 d, %clock64
  LiveRegister id = LiveRegister::kClock;
};
struct FrameAddress {  ///< mov.u64 d, variable
  std::int64_t offset = 0;
};
struct SpaceConversion {  ///< cvta.to.global.u64 d, a
  bool to_space = false;
};
struct Shuffle {  ///< shfl.sync.down.b32 d|p, a, b, c, members
  ShuffleMode mode = ShuffleMode::kIdx;
};
struct Vote {  ///< vote.sync.ballot.b32 d, p, members
  VoteMode mode = VoteMode::kAll;
};
struct Match {  ///< match.all.sync.b32 d|p, a, members
  MatchMode mode = MatchMode::kAny;
};
struct Joined {  ///< redux.sync.add.s32 d, a, members
  Atomic operation = Atomic::kNone;
};
struct BlockBarrier {  ///< bar.red.popc.u32 d, a, b, p
  BarrierMode mode = BarrierMode::kSync;
  Atomic operation = Atomic::kNone;
  bool counts_all = false;  ///< no thread count: waits for every thread
};
struct Access {  ///< ld.global.u32 d, [a + 16]
  std::int64_t offset = 0;
  std::uint8_t address_bits = 64;  ///< of the address register
  bool in_frame = false;           ///< relative to the lane's frame: locals and call parameters
};
struct AtomicAccess {  ///< atom.shared.cas.b32 d, [a], b, c
  Access at = {};
  Atomic operation = Atomic::kNone;
  Joining joining = Joining::kNever;
};
struct AsyncCopy {  ///< cp.async.ca.shared.global [to], [from], 16
  CopyMode mode = CopyMode::kCopy;
  std::uint8_t bytes = 0;    ///< a lane
  std::uint32_t groups = 0;  ///< kWaitGroup: that may stay open
  Access to = {};            ///< kArrive: the mbarrier
  std::int64_t from_offset = 0;
  Access from = {}, barrier = {};  ///< of bulk copies
};
struct MbarrierOperation {  ///< mbarrier.try_wait.parity.shared.b64 p, [a], b
  MbarrierMode mode = MbarrierMode::kInit;
  Access at = {};
};
struct Fetch {  ///< tld4.g.2d.v4.f32.f32 {d}, [texture, {x, y}]
  Geometry geometry = Geometry::k1d;
  LevelMode level = LevelMode::kNone;
  std::uint8_t channel = 0;  ///< of tld4
};
struct SurfaceAccess {  ///< sured.b.add.2d.u32.trap [surface, {x, y}], a
  Geometry geometry = Geometry::k1d;
  Edge edge = Edge::kTrap;
  Atomic operation = Atomic::kNone;
};
struct TextureQuery {  ///< txq.width.b32 d, [texture]
  Query what = Query::kOther;
};
struct Video {  ///< vset2.s32.u32.lt.add d, a, b, c
  bool signed_d = false, signed_a = false, signed_b = false;
  bool sums = false;
  Comparison comparison = Comparison::kEq;
};
struct Branch {                      ///< @p bra label
  std::uint32_t target = kNoTarget;  ///< an instruction; while decoding, perhaps a label
  bool is_label = false;
  std::uint32_t meeting = kNoTarget;  ///< where its two ways meet again (post-dominator)
};
struct BranchList {                ///< brx.idx a, list
  std::uint32_t list = kNoTarget;  ///< index into Function::branch_lists
};
struct CallSite {                    ///< call (d), function, (a)
  std::uint32_t callee = kNoTarget;  ///< function; kNoTarget: through s[0]
  std::uint32_t call = kNoTarget;    ///< index into Function::calls
};

using Detail =
    std::variant<std::monostate, Compare, Arithmetic, Packing, TruthTable, Permutation, Property,
                 Move, LiveRead, FrameAddress, SpaceConversion, Shuffle, Vote, Match, Joined,
                 BlockBarrier, Access, AtomicAccess, AsyncCopy, MbarrierOperation, Fetch,
                 SurfaceAccess, TextureQuery, Video, Branch, BranchList, CallSite>;

}  // namespace membound::vgpu::program
