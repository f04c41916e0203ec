// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/tests/fuzz/ptx_generator.hpp"

#include <array>
#include <iterator>
#include <string_view>
#include <vector>

namespace membound::fuzz {
namespace {

/// A line an instruction. <a|b> one of them; ?p ?h ?r ?d ?q ?f ?e a register of a predicate, 16,
/// 32, 64, 128 bits, a float, a double; # a number; @ a label; &g &s &l &c &x an address of global,
/// shared, local, constant or generic memory; ~ a member mask.
constexpr std::string_view kForms[] = {
    "<add|sub|min|max>.<u32|s32> ?r, ?r, <?r|#>;",
    "<add|sub|min|max|div|rem|mul.lo|mul.hi>.<u64|s64> ?d, ?d, <?d|#>;",
    "<add|sub|min|max|div|rem|mul.lo|mul.hi>.<u16|s16> ?h, ?h, <?h|#>;",
    "<div|rem|mul.lo|mul.hi>.<u32|s32> ?r, ?r, <?r|#>;",
    "<mul|mad>.wide.<u32|s32> ?d, ?r, ?r<|, ?d>;",
    "mad.<lo|hi>.<u32|s32> ?r, ?r, ?r, ?r;",
    "<mul24|mad24>.<lo|hi>.<u32|s32> ?r, ?r, ?r<|, ?r>;",
    "sad.<u32|s32> ?r, ?r, ?r, ?r;",
    "<add.cc|addc|addc.cc|sub.cc|subc|subc.cc>.<u32|s32|u64> <?r, ?r, ?r|?d, ?d, ?d>;",
    "<mad.lo.cc|madc.hi|madc.lo.cc>.u32 ?r, ?r, ?r, ?r;",
    "<abs|neg>.<s32|s16|s64> <?r, ?r|?h, ?h|?d, ?d>;",
    "<and|or|xor>.<b32|b64|b16|pred> <?r, ?r, <?r|#>|?d, ?d, ?d|?h, ?h, ?h|?p, ?p, ?p>;",
    "<not|cnot>.<b32|b64|b16> <?r, ?r|?d, ?d|?h, ?h>;",
    "not.pred ?p, ?p;",
    "<shl.b|shr.u|shr.s|shr.b><32 ?r, ?r|64 ?d, ?d|16 ?h, ?h>, <?r|#>;",
    "shf.<l|r>.<wrap|clamp>.b32 ?r, ?r, ?r, <?r|#>;",
    "lop3.b32 ?r, ?r, ?r, ?r, #;",
    "prmt.b32<|.f4e|.b4e|.rc8|.ecl|.ecr|.rc16> ?r, ?r, ?r, <?r|#>;",
    "<popc|clz>.<b32 ?r, ?r|b64 ?r, ?d>;",
    "brev.<b32 ?r, ?r|b64 ?d, ?d>;",
    "bfind<|.shiftamt>.<u32 ?r, ?r|s32 ?r, ?r|u64 ?r, ?d|s64 ?r, ?d>;",
    "bfe.<u32 ?r, ?r|s32 ?r, ?r|u64 ?d, ?d|s64 ?d, ?d>, <?r|#>, <?r|#>;",
    "bfi.<b32 ?r, ?r, ?r|b64 ?d, ?d, ?d>, <?r|#>, <?r|#>;",
    "szext.<wrap|clamp>.<u32|s32> ?r, ?r, ?r;",
    "bmsk.<wrap|clamp>.b32 ?r, ?r, ?r;",
    "fns.b32 ?r, ?r, ?r, ?r;",
    "<dp4a.u32.s32|dp4a.s32.s32|dp2a.lo.u32.u32|dp2a.hi.s32.s32> ?r, ?r, ?r, ?r;",
    "<vadd|vsub|vavrg|vabsdiff|vmin|vmax><2|4>.<u32.u32.u32|s32.s32.s32|s32.u32.s32><|.add> ?r, "
    "?r, "
    "?r, ?r;",
    "vset<2|4>.<u32.u32|s32.s32>.<lt|ge|eq><|.add> ?r, ?r, ?r, ?r;",
    "<add|sub|mul|min|max|div.rn><|.ftz><|.sat>.f32 ?f, ?f, <?f|0f7F800000>;",
    "<add|sub|mul|div|fma><.rn|.rz|.rm|.rp>.<f32 ?f, ?f, ?f|f64 ?e, ?e, ?e>;",
    "fma.<rn|rz|rm|rp>.<f32 ?f, ?f, ?f, ?f|f64 ?e, ?e, ?e, ?e>;",
    "<rcp|sqrt|rsqrt|sin|cos|lg2|ex2|tanh>.approx<|.ftz>.f32 ?f, ?f;",
    "<rcp|sqrt>.<rn|rz|rm|rp>.<f32 ?f, ?f|f64 ?e, ?e>;",
    "<min|max|add|sub|mul|div.rn>.f64 ?e, ?e, ?e;",
    "<add|sub|mul|min|max|fma.rn>.<f16|bf16> ?h, ?h, ?h<|, ?h>;",
    "<add|sub|mul|min|max|fma.rn>.<f16x2|bf16x2> ?r, ?r, ?r<|, ?r>;",
    "<add|min|max|sub>.<u16x2|s16x2> ?r, ?r, ?r;",
    "testp.<finite|infinite|number|notanumber|normal|subnormal>.<f32 ?p, ?f|f64 ?p, ?e>;",
    "copysign.<f32 ?f, ?f, ?f|f64 ?e, ?e, ?e>;",
    "setp.<eq|ne|lt|le|gt|ge|lo|hs>.<u32|s32> <?p|?p|?p|_>, ?r, <?r|#>;",
    "setp.<equ|neu|ltu|num|nan|lt>.<and|or|xor>.f32 ?p<|?p>, ?f, ?f, <?p|!?p>;",
    "setp.<lt|eq|geu>.<f64 ?p, ?e, ?e|u64 ?p, ?d, ?d|f16x2 ?p, ?r, ?r|s16 ?p, ?h, ?h>;",
    "set.<lt|eq>.<u32.u32 ?r, ?r, ?r|f32.f32 ?f, ?f, ?f|s32.f64 ?r, ?e, ?e|f16x2.f16x2 ?r, ?r, "
    "?r>;",
    "selp.<b32 ?r, ?r, ?r|b64 ?d, ?d, ?d|f32 ?f, ?f, ?f|b16 ?h, ?h, ?h|pred ?p, ?p, ?p>, ?p;",
    "slct.<b32.s32 ?r, ?r, ?r, ?r|u64.f32 ?d, ?d, ?d, ?f>;",
    "mov.<b32 ?r, <?r|#|%tid.x|%laneid|%clock|%ctaid.x|%ntid.x|tile>|b64 ?d, "
    "<?d|?e|#|%clock64|frame|"
    "tile|g|c|f0|f1|k>>;",
    "mov.<b128 ?q, ?q|pred ?p, ?p|f32 ?f, ?f|b128 ?q, {?d, ?d}|b128 {?d, ?d}, ?q>;",
    "mov.b64 <{?r, ?r}, ?d|?d, {?r, ?r}|{?h, ?h, ?h, _}, ?d|?d, {?h, ?h, ?h, ?h}>;",
    "mov.b32 <{?h, ?h}, ?r|?r, {?h, ?h}|{_, ?h}, ?r>;",
    "cvt.<u8|s8|u16|s16|u32|s32>.<u8|s8|u16|s16|u32|s32> ?r, ?r;",
    "cvt<.rni|.rzi|.rmi|.rpi><|.sat>.<u32|s32|u16|s16>.<f32 ?r, ?f|f64 ?r, ?e>;",
    "cvt.<rni|rzi>.<u64|s64>.<f32 ?d, ?f|f64 ?d, ?e>;",
    "cvt.<rn|rz|rm|rp>.<f32.s32 ?f, ?r|f64.s64 ?e, ?d|f32.u64 ?f, ?d|f32.f64 ?f, ?e|f16.f32 ?h, "
    "?f>;",
    "cvt.<f64.f32 ?e, ?f|f32.f16 ?f, ?h|u64.u32 ?d, ?r|s64.s32 ?d, ?r|u32.u64 ?r, ?d>;",
    "cvt.pack.sat.<u8|s8|u16|s16>.s32<|.b32> ?r, ?r, ?r<|, ?r>;",
    "cvt.<rn.f16x2|rn.bf16x2|rz.f16x2|rn.satfinite.e4m3x2>.f32 <?r|?h>, ?f, ?f;",
    "cvta<|.to>.<global|shared|local|const>.u64 ?d, ?d;",
    "isspacep.<global|shared|local|const> ?p, ?d;",
    "ld<|.volatile|.relaxed.gpu|.acquire.gpu>.<global|shared>.<u32|b32|s8|u16> ?r, <&g|&s>;",
    "ld.global<|.nc|.ca|.cg>.<u32 ?r|f32 ?f|u64 ?d|f64 ?e|u8 ?h|s8 ?r|b16 ?h>, &g;",
    "ld.global.<v2.u32 {?r, ?r}|v4.f32 {?f, ?f, _, ?f}|v2.u64 {?d, ?d}|v4.u8 {?h, ?h, ?h, ?h}>, "
    "&g;",
    "ld.shared.<u32 ?r|f64 ?e|u8 ?h|s16 ?r|v2.u32 {?r, ?r}|v4.f32 {?f, ?f, ?f, ?f}|b64 ?d>, &s;",
    "ld.local.<u32 ?r|u64 ?d|s8 ?r|v2.u32 {?r, ?r}|v4.u16 {?h, ?h, ?h, ?h}|b128 ?q|s16 ?d>, &l;",
    "ld.const.<u32 ?r|u64 ?d|v2.u32 {?r, ?r}>, &c;",
    "ld.<u32 ?r|u64 ?d|v4.u32 {?r, ?r, ?r, ?r}|u8 ?h>, &x;",
    "ld.param.<u32 ?r|u64 ?d|s8 ?r|v2.u32 {?r, ?r}>, [<data|n|texture><|+4|+8|-4|+400>];",
    "st.global.<u32 &g, ?r|u64 &g, ?d|u8 &g, ?h|v2.u32 &g, {?r, ?r}|v4.f32 &g, {?f, ?f, ?f, ?f}>;",
    "st.shared.<u32 &s, ?r|u64 &s, ?d|u8 &s, ?h|v2.u64 &s, {?d, ?d}|v4.u32 &s, {?r, ?r, ?r, #}>;",
    "st.local.<u32 &l, ?r|u64 &l, ?d|u8 &l, ?r|v2.u32 &l, {?r, ?r}|b128 &l, ?q|b32 &l, ?d>;",
    "st.<u32 &x, ?r|u64 &x, ?d|v2.u32 &x, {?r, ?r}>;",
    "atom.<global|shared>.<add|min|max|inc|dec|and|or|xor|exch>.<u32|s32|b32> ?r, <&g|&s>, ?r;",
    "atom.<global|shared>.<add|min|max|exch>.<u64 ?d, <&g|&s>, ?d|f32 ?f, <&g|&s>, ?f|f64 ?e, &g, "
    "?e>;",
    "atom.<global|shared>.cas.<b32 ?r, <&g|&s>, ?r, ?r|b64 ?d, <&g|&s>, ?d, ?d|b16 ?h, <&g|&s>, "
    "?h, "
    "?h|b128 ?q, <&g|&s>, ?q, ?q>;",
    "atom.global.<exch.b128 ?q, &g, ?q|add.noftz.f16x2 ?r, &g, ?r|add.noftz.f16 ?h, &g, ?h>;",
    "atom.global.v<2.f32.add {?f, ?f}, &g, {?f, ?f}|4.f32.add {?f, ?f, ?f, ?f}, &g, {?f, ?f, ?f, "
    "?f}>;",
    "<red|atom>.<add|min|or>.<u32 &x, ?r|u32 ?r, &x, ?r|s32 &x, ?r>;",
    "red.<global|shared>.<add|min|max|and|or|xor|inc|dec>.<u32|s32> <&g|&s>, ?r;",
    "red.global.add.<f32 &g, ?f|f64 &g, ?e|noftz.bf16x2 &g, ?r|noftz.f16 &g, ?h|u64 &g, ?d>;",
    "shfl.sync.<idx|up|down|bfly>.b32 ?r<|?p>, ?r, <?r|#>, <?r|31>, ~;",
    "vote.sync.<all|any|uni>.pred ?p, <?p|!?p>, ~;",
    "vote.sync.ballot.b32 ?r, ?p, ~;",
    "match.any.sync.<b32 ?r, ?r|b64 ?r, ?d>, ~;",
    "match.all.sync.<b32 ?r<|?p>, ?r|b64 ?r<|?p>, ?d>, ~;",
    "redux.sync.<add|min|max|and|or|xor>.<u32|s32|b32> ?r, ?r, ~;",
    "activemask.b32 ?r;",
    "elect.sync ?r<|?p>, ~;",
    "bar.warp.sync ~;",
    "<bar|barrier>.sync <0|0|0|1|1|?r|#><|||, 32|, 64|, ?r>;",
    "<bar|barrier>.arrive <0|1|#>, <32|64|96>;",
    "bar.red.<popc.u32 ?r|and.pred ?p|or.pred ?p>, <0|1|#>, <|64, >?p;",
    "<membar.gl|membar.cta|fence.acq_rel.gpu|fence.proxy.async>;",
    "cp.async.<ca.shared.global &s, &g, <4|8|16>|cg.shared.global &s, &g, 16><|, ?r|, 0|, #>;",
    "cp.async.<commit_group|wait_all|wait_group 0|wait_group 1|wait_group #>;",
    "cp.async.mbarrier.arrive<|.noinc>.shared.b64 &s;",
    "mbarrier.init.shared.b64 &s, <?r|#|32>;",
    "mbarrier.<inval.shared.b64 &s|arrive.shared.b64 ?d, &s|arrive.noComplete.shared.b64 ?d, &s, "
    "?r>;",
    "mbarrier.<arrive.expect_tx.shared.b64 _, &s, ?r|expect_tx.relaxed.cta.shared.b64 &s, ?r>;",
    "mbarrier.<arrive_drop.shared.b64 ?d, &s|pending_count.b64 ?r, ?d>;",
    "mbarrier.<test_wait|try_wait>.<shared.b64 ?p, &s, ?d|parity.shared.b64 ?p, &s, ?r>;",
    "tex.<1d.v4.f32.f32 {?f, ?f, ?f, ?f}, [<%texture|%texture|?d>, {?f}]|2d.v4.f32.f32 {?f, ?f, "
    "?f, ?f}, "
    "[%texture, {?f, ?f}]|3d.v4.u32.f32 {?r, ?r, ?r, ?r}, [%texture, {?f, ?f, ?f, ?f}]>;",
    "tex.<1d.v4.s32.s32 {?r, ?r, ?r, ?r}, [%texture, {?r}]|2d.v4.u32.s32 {?r, ?r, ?r, ?r}, "
    "[%texture, {?r, ?r}]|a2d.v4.f32.f32 {?f, ?f, ?f, ?f}, [%texture, {?r, ?f, ?f, ?f}]>;",
    "tex.<cube.v4.f32.f32 {?f, ?f, ?f, ?f}, [%texture, {?f, ?f, ?f, ?f}]|acube.v4.f32.f32 {?f, ?f, "
    "?f, ?f}, [%texture, {?r, ?f, ?f, ?f}]|level.2d.v4.f32.f32 {?f, ?f, ?f, ?f}, [%texture, {?f, "
    "?f}], ?f|grad.2d.v4.f32.f32 {?f, ?f, ?f, ?f}, [%texture, {?f, ?f}], {?f, ?f}, {?f, ?f}>;",
    "tld4.<r|g|b|a>.2d.v4.f32.f32 {?f, ?f, ?f, ?f}, [%texture, {?f, ?f}];",
    "txq.<width|height|depth>.b32 ?r, [<%texture|%texture|%texture|?d>];",
    "suq.<width|height>.b32 ?r, [<%surface|%surface|%surface|?d>];",
    "suld.b.<1d.b32.<trap|clamp|zero> ?r, [%surface, {?r}]|2d.v4.b32.<trap|clamp|zero> {?r, ?r, "
    "?r, "
    "?r}, [%surface, {?r, ?r}]|3d.b8.<clamp|zero> ?h, [%surface, {?r, ?r, ?r, ?r}]|a2d.b64.clamp "
    "?d, "
    "[%surface, {?r, ?r, ?r, ?r}]>;",
    "sust.b.<1d.b32.<trap|clamp|zero> [%surface, {?r}], ?r|2d.v4.b32.<trap|clamp|zero> [%surface, "
    "{?r, "
    "?r}], {?r, ?r, ?r, ?r}|2d.v2.b64.clamp [%surface, {?r, ?r}], {?d, ?d}|3d.b8.zero [%surface, "
    "{?r, ?r, ?r, ?r}], ?h>;",
    "sust.p.2d.v4.b32.<trap|clamp|zero> [%surface, {?r, ?r}], {?r, ?r, ?r, ?r};",
    "sured.<b|p>.<add|min|max|and|or>.<1d|2d>.<u32|s32|b64>.<trap|clamp|zero> [%surface, {?r<|, "
    "?r>}], "
    "<?r|?d>;",
    "bra<|.uni> @;",
    "bra @;",
    "brx.idx <?r|%small>, list;",
    "<ret|exit>;",
    "nanosleep.u32 ?r;",
    "call (<out|_>), f0, (in<||||, in>);",
    "call f1, (in, big);",
    "call (out), <?d|%callee>, (in), shape<|||1>;",
    "call __membound_red_zone, (in);",
    "{ st.param.b64 [in], %gx; call __membound_red_zone, (in); }",
    "call <free, (in)|(out), vprintf, (in, in)|(in), malloc, (in)|malloc, (in, in)>;",
    "alloca.u64 ?d, <?d|#|64>;",
    "stacksave.u64 ?d;",
    "stackrestore.u64 ?d;",
    "<trap|brkpt|prefetch.global.L2 [%ga]|discard.global.L2 [%ga], 128|isspacep.shared _, ?d>;",
    "createpolicy.fractional.L2::evict_last.b64 ?d;",
};

constexpr std::string_view kNumbers[] = {
    "0",  "1",   "2",   "3",    "4",    "7",          "8",          "15",
    "16", "31",  "32",  "33",   "63",   "64",         "127",        "128",
    "-1", "240", "255", "256",  "1024", "4096",       "65535",      "0x7fffffff",
    "-4", "-16", "272", "4111", "1000", "0x80000000", "0xfffffffc", "0xffffffffffffffff"};

class Writer {
 public:
  explicit Writer(Chance& chance) : chance_(chance) {}

  std::string module() {
    text_ =
        ".version 8.5\n.target sm_90\n.address_size 64\n"
        ".extern .func (.param .b32 out) vprintf(.param .b64 a, .param .b64 b);\n"
        ".extern .func (.param .b64 out) malloc(.param .b64 a);\n"
        ".extern .func free(.param .b64 a);\n"
        ".extern .func __membound_red_zone(.param .b64 a);\n"
        ".global .align 16 .b8 g[512];\n.const .align 16 .b8 c[64];\n"
        ".extern .shared .align 16 .b8 dynamic[];\n";
    constexpr std::string_view kHeaders[] = {
        ".func (.param .b32 out) f0(.param .b64 in)",
        ".func f1(.param .b64 in, .param .align 8 .b8 big[40])",
        ".visible .entry k(.param .u64 data, .param .u64 texture, .param .u64 surface, .param .u32 "
        "n)"};
    for (const std::string_view header : kHeaders) text_ += std::string(header) + ";\n";
    for (const std::string_view header : kHeaders) function(header);
    return std::move(text_);
  }

 private:
  template <std::size_t N>
  std::string_view pick(const std::string_view (&from)[N]) {
    return from[chance_.of(N)];
  }

  void function(std::string_view header) {
    const bool entry = header.find(".entry") != std::string_view::npos;
    text_ +=
        std::string(header) +
        "\n{\n.reg .pred %p<5>; .reg .b16 %h<5>; .reg .b32 %r<7>; .reg .b64 %rd<7>; .reg .b128 "
        "%q<3>;\n.reg .f32 %f<5>; .reg .f64 %fd<5>; .reg .b64 %ga, %gl, %gx, %texture, %surface, "
        "%callee; .reg .b32 %sa, %small;\n";
    if (entry)
      text_ += ".shared .align 16 .b8 tile[256];\n";
    else
      text_ += ".shared .align 16 .b8 tile[64];\n";
    // The larger one has room for a gap.
    text_ += chance_.one_in(4) ? ".local .align 16 .b8 frame[400];\n"
                               : ".local .align 16 .b8 frame[96];\n";
    for (const std::string_view parameter :
         {".b32 out", ".b64 in", ".align 8 .b8 big[40]", ".b64 data", ".b64 texture", ".b32 n"}) {
      const std::string_view name = parameter.substr(parameter.rfind(' '));
      if (header.find(name) == std::string_view::npos)
        text_ += ".param " + std::string(parameter) + ";\n";
    }
    text_ +=
        "shape: .callprototype (.param .b32 _) _ (.param .b64 _);\n"
        "shape1: .callprototype (.param .b32 _) _ (.param .b64 _, .param .b8 _[4096]);\n"
        "list: .branchtargets L0, L1, L2, L3;\n";
    if (entry)
      text_ +=
          "ld.param.u64 %ga, [data];\nld.param.u64 %texture, [texture];\n"
          "ld.param.u64 %surface, [surface];\n";
    else
      text_ += "mov.u64 %ga, g;\nmov.u64 %texture, 1;\nmov.u64 %surface, 1;\n";
    text_ +=
        "mov.u32 %r0, %tid.x;\nmov.u32 %r1, %laneid;\nand.b32 %small, %r0, 3;\n"
        "mul.wide.u32 %rd0, %r0, 16;\nadd.u64 %gl, %ga, %rd0;\nand.b32 %sa, %r1, 7;\nshl.b32 %sa, "
        "%sa, 4;\n"
        "mov.u64 %gx, frame;\ncvta.local.u64 %gx, %gx;\nmov.u64 %callee, f0;\n"
        "cvt.rn.f32.u32 %f0, %r0;\n";
    const std::uint32_t count = 4 + chance_.of(entry ? 36 : 8);
    std::uint32_t label = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
      while (label < 4 && i >= (label + 1) * count / 5)
        text_ += "L" + std::to_string(label++) + ":\n";
      if (chance_.one_in(4)) text_ += chance_.one_in(2) ? "@%p1 " : "@!%p2 ";
      write(pick(kForms));
      text_ += '\n';
    }
    while (label < 4) text_ += "L" + std::to_string(label++) + ":\n";
    text_ += "ret;\n}\n";
  }

  /// Writes one form; returns behind the '>' or '|' that ended it.
  std::size_t write(std::string_view form) {
    for (std::size_t at = 0; at < form.size(); ++at) {
      switch (form[at]) {
        case '<':
          at = alternatives(form, at);
          break;
        case '?':
          reg(form[++at]);
          break;
        case '&':
          address(form[++at]);
          break;
        case '#':
          text_ += pick(kNumbers);
          break;
        case '~':
          text_ += chance_.one_in(4) ? "%r1" : chance_.one_in(3) ? "0xffff" : "-1";
          break;
        case '@':
          text_ += "L" + std::to_string(chance_.of(4));
          break;
        default:
          text_ += form[at];
      }
    }
    return form.size();
  }

  /// One of <a|b|c>, chosen by chance; returns where its '>' stands. `<|?p>` behind a register is a
  /// pair or nothing: an alternative that begins with '|' would be empty, so it stands for "|".
  std::size_t alternatives(std::string_view form, std::size_t open) {
    std::vector<std::string_view> choices;
    std::size_t begin = open + 1, at = begin;
    for (int depth = 1; depth > 0; ++at) {
      if (form[at] == '<') ++depth;
      if (form[at] == '>') --depth;
      if ((form[at] == '|' && depth == 1) || depth == 0) {
        choices.push_back(form.substr(begin, at - begin));
        begin = at + 1;
      }
    }
    const std::string_view chosen = choices[chance_.of(static_cast<std::uint32_t>(choices.size()))];
    if (chosen == "?p" && choices.size() == 2 && choices[0].empty()) text_ += '|';
    write(chosen);
    return at - 1;
  }

  void reg(char kind) {
    if (chance_.one_in(200)) kind = "phrdqfe"[chance_.of(7)];
    const std::string_view name = kind == 'd'   ? "rd"
                                  : kind == 'e' ? "fd"
                                                : std::string_view(&kind, 1);
    text_ += "%" + std::string(name) + std::to_string(chance_.of(kind == 'q' ? 3 : 5));
  }

  void address(char space) {
    constexpr std::string_view kNear[] = {"", "+16", "+32", "+48", "+64", "+80"};
    constexpr std::string_view kFar[] = {"+4",   "+8",   "+12", "+60",  "+112", "+240",
                                         "+248", "+252", "-4",  "+256", "+1",   "-16"};
    const std::string offset(chance_.one_in(8) ? pick(kFar) : pick(kNear));
    if (chance_.one_in(25)) {  // anywhere
      text_ += chance_.one_in(2) ? "[%rd" : "[%r";
      text_ += std::to_string(chance_.of(4)) + offset + "]";
      return;
    }
    const std::uint32_t way = chance_.of(3);
    std::string_view base = "%gl";
    switch (space) {
      case 'g':
        base = way == 0 ? "g" : way == 1 ? "%ga" : "%gl";
        break;
      case 's':
        base = way == 0 ? "tile" : way == 1 ? "%sa" : "dynamic";
        break;
      case 'l':
        base = "frame";
        break;
      case 'c':
        base = "c";
        break;
      default:
        base = way == 0 ? "%gx" : "%gl";
    }
    text_ += "[" + std::string(base) + offset + "]";
  }

  Chance& chance_;
  std::string text_;
};

bool is_word(char c) {
  return c == '%' || c == '.' || c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
         (c >= 'A' && c <= 'Z');
}

/// Begin and end of the word around or behind a random place; empty at the end of the text.
std::pair<std::size_t, std::size_t> random_word(const std::string& text, Chance& chance) {
  std::size_t begin = chance.of(static_cast<std::uint32_t>(text.size()));
  while (begin < text.size() && !is_word(text[begin])) ++begin;
  while (begin > 0 && is_word(text[begin - 1])) --begin;
  std::size_t end = begin;
  while (end < text.size() && is_word(text[end])) ++end;
  return {begin, end};
}

}  // namespace

std::string generate_ptx(Chance& chance) { return Writer(chance).module(); }

std::string mutate_ptx(const std::string& text, Chance& chance) {
  std::string made = text;
  for (std::uint32_t changes = 1 + chance.of(4); changes > 0 && !made.empty(); --changes) {
    const auto [begin, end] = random_word(made, chance);
    const auto [from, to] = random_word(text, chance);
    switch (chance.of(4)) {
      case 0:  // a word for another, a suffix for another
      case 1:
        made.replace(begin, end - begin, text.substr(from, to - from));
        break;
      case 2:
        made.replace(begin, end - begin, kNumbers[chance.of(std::size(kNumbers))]);
        break;
      default: {  // a line again, or one less
        const std::size_t line = made.rfind('\n', begin);
        const std::size_t next = made.find('\n', begin);
        if (line == std::string::npos || next == std::string::npos) break;
        if (chance.one_in(2))
          made.erase(line, next - line);
        else
          made.insert(line, made.substr(line, next - line));
      }
    }
  }
  return made;
}

}  // namespace membound::fuzz
