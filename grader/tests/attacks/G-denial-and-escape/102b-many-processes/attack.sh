# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
# more processes at once than allowed
perl -e 'for (1..30) { my $p = fork(); exit 1 unless defined $p; if (!$p) { sleep 1000; exit } } print "GOT THROUGH"' || exit 1
