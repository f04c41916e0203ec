# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
#
# LLVM IR in, LLVM IR out: copies of 16, 32, 48 or 64 bytes between places at multiples of 16 become
# loads and stores of 16 bytes, as nvcc makes of them. clang (14 at least) knows no wider integer than
# 8 bytes, so that `out4[i] = in4[i]` would be two stores that fill half of each sector.
# compile.sh starts it, after clang's optimizer: what is still a copy then is one. Both spellings of
# pointers are read, `i8*` of LLVM 14 and `ptr` of later ones; a line of another form stays as it is.

/ call void @llvm\.mem(cpy|move)\.p/ && match($0, /, i64 (16|32|48|64), i1 false\)/) {
  bytes = substr($0, RSTART + 6) + 0
  rest = substr($0, RSTART + RLENGTH)
  inside = substr($0, index($0, "(") + 1, RSTART - 1 - index($0, "("))
  place = match(rest, /, !dbg ![0-9]+/) ? substr(rest, RSTART, RLENGTH) : ""
  fits = split(inside, side, ", ") == 2
  for (s = 1; s <= 2 && fits; ++s) {
    words = split(side[s], word, " ")
    type[s] = word[1] (word[2] ~ /^addrspace/ ? " " word[2] : "")
    name[s] = word[words]
    fits = side[s] ~ / align (16|32|64|128|256) / && name[s] ~ /^%[-a-zA-Z0-9._$]+$/
  }
  if (fits) {
    for (s = 1; s <= 2; ++s) {  # 1 is where to, 2 is where from
      wide[s] = type[s]
      if (sub(/^i8/, "<4 x i32>", wide[s])) {
        printf "  %%wide.%d.%d = bitcast %s %s to %s\n", NR, s, type[s], name[s], wide[s]
        name[s] = "%wide." NR "." s
      }
      for (k = 0; k < bytes / 16; ++k)
        printf "  %%wide.%d.%d.%d = getelementptr inbounds <4 x i32>, %s %s, i64 %d\n", NR, s, k,
               wide[s], name[s], k
    }
    # All loads before the first store: the two places may overlap.
    for (k = 0; k < bytes / 16; ++k)
      printf "  %%wide.%d.3.%d = load <4 x i32>, %s %%wide.%d.2.%d, align 16%s\n", NR, k, wide[2],
             NR, k, place
    for (k = 0; k < bytes / 16; ++k)
      printf "  store <4 x i32> %%wide.%d.3.%d, %s %%wide.%d.1.%d, align 16%s\n", NR, k, wide[1],
             NR, k, place
    next
  }
}
{ print }
