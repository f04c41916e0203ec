# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
# computes longer than allowed
perl -e '1 while (times)[0] < 3.5; print "GOT THROUGH"'
