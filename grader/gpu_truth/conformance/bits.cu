// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Conformance: bits: logic, shifts, counts, fields, permutations (PTX ISA 9.0, "Logic and Shift
/// Instructions").
#include "grader/gpu_truth/conformance/conformance.cuh"

OP2(and_b32, "and.b32", U32, U32, U32)
OP2(or_b32, "or.b32", U32, U32, U32)
OP2(xor_b32, "xor.b32", U32, U32, U32)
OP2(and_b64, "and.b64", U64, U64, U64)
OP2(xor_b16, "xor.b16", U16, U16, U16)
OP1(not_b16, "not.b16", U16, U16)
OP1(not_b32, "not.b32", U32, U32)
OP1(not_b64, "not.b64", U64, U64)
OP1(cnot_b32, "cnot.b32", U32, U32)
OP1(cnot_b64, "cnot.b64", U64, U64)
OP2(shl_b16, "shl.b16", U16, U16, U32)
OP2(shl_b32, "shl.b32", U32, U32, U32)
OP2(shl_b64, "shl.b64", U64, U64, U32)
OP2(shr_s16, "shr.s16", U16, U16, U32)
OP2(shr_u16, "shr.u16", U16, U16, U32)
OP2(shr_s32, "shr.s32", U32, U32, U32)
OP2(shr_u32, "shr.u32", U32, U32, U32)
OP2(shr_b32, "shr.b32", U32, U32, U32)
OP2(shr_s64, "shr.s64", U64, U64, U32)
OP2(shr_u64, "shr.u64", U64, U64, U32)
OP3(shf_l_wrap, "shf.l.wrap.b32", U32, U32, U32, U32)
OP3(shf_r_wrap, "shf.r.wrap.b32", U32, U32, U32, U32)
OP3(shf_l_clamp, "shf.l.clamp.b32", U32, U32, U32, U32)
OP3(shf_r_clamp, "shf.r.clamp.b32", U32, U32, U32, U32)
OP1(popc_b32, "popc.b32", U32, U32)
OP1(popc_b64, "popc.b64", U32, U64)
OP1(clz_b32, "clz.b32", U32, U32)
OP1(clz_b64, "clz.b64", U32, U64)
OP1(bfind_u32, "bfind.u32", U32, U32)
OP1(bfind_s32, "bfind.s32", U32, U32)
OP1(bfind_u64, "bfind.u64", U32, U64)
OP1(bfind_s64, "bfind.s64", U32, U64)
OP1(bfind_shift_u32, "bfind.shiftamt.u32", U32, U32)
OP1(bfind_shift_s32, "bfind.shiftamt.s32", U32, U32)
OP1(brev_b32, "brev.b32", U32, U32)
OP1(brev_b64, "brev.b64", U64, U64)
OP3(bfe_u32, "bfe.u32", U32, U32, U32, U32)
OP3(bfe_s32, "bfe.s32", U32, U32, U32, U32)
OP3(bfe_u64, "bfe.u64", U64, U64, U32, U32)
OP3(bfe_s64, "bfe.s64", U64, U64, U32, U32)
OP2(bmsk_clamp, "bmsk.clamp.b32", U32, U32, U32)
OP2(bmsk_wrap, "bmsk.wrap.b32", U32, U32, U32)
OP2(szext_clamp_s32, "szext.clamp.s32", U32, U32, U32)
OP2(szext_wrap_u32, "szext.wrap.u32", U32, U32, U32)
OP3(prmt_b32, "prmt.b32", U32, U32, U32, U32)
OP3(prmt_f4e, "prmt.b32.f4e", U32, U32, U32, U32)
OP3(prmt_b4e, "prmt.b32.b4e", U32, U32, U32, U32)
OP3(prmt_rc8, "prmt.b32.rc8", U32, U32, U32, U32)
OP3(prmt_ecl, "prmt.b32.ecl", U32, U32, U32, U32)
OP3(prmt_ecr, "prmt.b32.ecr", U32, U32, U32, U32)
OP3(prmt_rc16, "prmt.b32.rc16", U32, U32, U32, U32)

/// Bit field insertion takes four operands.
#define INSERT(name, text, K)                                                              \
  CASE(name, WORDS_OF(K)) {                                                                \
    for (int i = lane; i < 64; i += 32) {                                                  \
      const TYPE_##K a = conformance::input_##K(i), b = conformance::input_##K(i * 5 + 7); \
      const std::uint32_t start = conformance::input_U32(i * 3), length = (i * 7) % 70;    \
      TYPE_##K r;                                                                          \
      asm volatile(text " %0, %1, %2, %3, %4;"                                             \
                   : "=" CONSTRAINT_##K(r)                                                 \
                   : CONSTRAINT_##K(a), CONSTRAINT_##K(b), "r"(start), "r"(length));       \
      conformance::put(out, i, r);                                                         \
    }                                                                                      \
  }
INSERT(bfi_b32, "bfi.b32", U32)
INSERT(bfi_b64, "bfi.b64", U64)

/// Three-input logic with every kind of table: the operation is an immediate.
#define LOP3(name, table)                                          \
  CASE(name, 32) {                                                 \
    const std::uint32_t a = conformance::input_U32(lane);          \
    const std::uint32_t b = conformance::input_U32(lane * 5 + 7);  \
    const std::uint32_t c = conformance::input_U32(lane * 11 + 3); \
    asm volatile("lop3.b32 %0, %1, %2, %3, " table ";"             \
                 : "=r"(out[lane])                                 \
                 : "r"(a), "r"(b), "r"(c));                        \
  }
LOP3(lop3_majority, "0xe8")
LOP3(lop3_parity, "0x96")
LOP3(lop3_select, "0xca")
LOP3(lop3_and_or_not, "0x1b")

/// Finds the n-th set bit from a base upward or downward.
CASE(fns_up_and_down, 64) {
  for (int i = lane; i < 64; i += 32) {
    const std::uint32_t mask = conformance::input_U32(i), base = i % 32;
    const int offset = i % 9 - 4;
    asm volatile("fns.b32 %0, %1, %2, %3;" : "=r"(out[i]) : "r"(mask), "r"(base), "r"(offset));
  }
}
CASE(intrinsics_ffs_clz_popc, 128) {
  const std::uint32_t a = conformance::input_U32(lane);
  const std::uint64_t b = conformance::input_U64(lane);
  out[lane] = __ffs(a);
  out[lane + 32] = __ffsll(b);
  out[lane + 64] = __clz(a) * 100 + __popc(a);
  out[lane + 96] = __brev(a) ^ __byte_perm(a, static_cast<std::uint32_t>(b), 0x5140);
}
CASE(rotations_by_variables, 64) {
  const std::uint32_t a = conformance::input_U32(lane);
  out[lane] = __funnelshift_l(a, a, lane);
  out[lane + 32] = __funnelshift_rc(a, ~a, lane + 10);
}

CONFORMANCE_MAIN()
