# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
# takes memory without end
perl -e 'my @all; while (1) { push @all, "a" x (1 << 20); } print "GOT THROUGH"'
