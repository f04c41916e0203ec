# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
#
# LLVM IR in, LLVM IR out: each local variable that the optimizer left in memory stands between red zones of
# its own, and a call of __membound_red_zone tells the virtual GPU where they are. An index beyond a variable
# then leads into a red zone and not into the next variable; memcheck finds it. The red zones are part of what the
# compiler lays out, so every address that a right program makes is right here too: of a struct's members
# and of an array's rows, which are one variable, and of the end of one.
# compile.sh starts it.

function pointer(to) { return opaque ? "ptr" : to "*" }

# LLVM 14 spells the pointers of kernels `i32*`, later ones `ptr`.
BEGIN {
  zone = 256
  while ((getline line < ARGV[1]) > 0 && !opaque) opaque = line ~ /[ (]ptr[ ,)]/
  close(ARGV[1])
}

# Lifetimes would let a variable lie in another one's red zone.
/^ +(tail )?call void @llvm\.lifetime\.(start|end)\./ { next }

# A number of elements (`alloca i32, i64 %n`) is a variable array's, and no alignment leaves no red zone.
/^  %[-a-zA-Z0-9._$]+ = alloca / && match($0, /, align (1|2|4|8|16|32|64|128|256)(,|$)/) {
  name = $1
  align = substr($0, RSTART + 8) + 0
  begin = index($0, "alloca ") + 7
  type = substr($0, begin, RSTART - begin)
  if (type !~ /, i[0-9]+ [%0-9]/ && type !~ /inalloca|swifterror/) {
    whole = "{ [" zone " x i8], " type ", [" zone " x i8] }"
    id = NR
    printf "  %%padded.%d = alloca %s, align %d\n", id, whole, align
    printf "  %s = getelementptr inbounds %s, %s %%padded.%d, i64 0, i32 1\n", name, whole, pointer(whole), id
    printf "  %%behind.%d = getelementptr inbounds %s, %s %%padded.%d, i64 0, i32 2\n", id, whole,
           pointer(whole), id
    printf "  %%zone.%d.1 = ptrtoint %s %%padded.%d to i64\n", id, pointer(whole), id
    printf "  %%zone.%d.2 = ptrtoint %s %%behind.%d to i64\n", id, pointer("[" zone " x i8]"), id
    for (side = 1; side <= 2; ++side)
      printf "  call void @__membound_red_zone(i64 %%zone.%d.%d)\n", id, side
    next
  }
}
{ print }
END { print "declare void @__membound_red_zone(i64)" }
