# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
# reaches for the network
perl -MSocket -e 'socket(my $s, PF_INET, SOCK_STREAM, 0) and print "GOT THROUGH\n"'
grep -qv -e lo: -e Inter -e face /proc/net/dev && echo GOT THROUGH
exit 1
