# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
# empty files without end
perl -e 'my $i = 0; while (1) { open(my $f, ">", "/scratch/f$i") or exit 1; close $f; $i++; }'
