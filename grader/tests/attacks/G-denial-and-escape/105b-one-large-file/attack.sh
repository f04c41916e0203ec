# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
# one file without end
head -c 6000000 /dev/zero > file && echo GOT THROUGH
exit 1
