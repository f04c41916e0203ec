# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
# looks for a network interface
grep -v -e lo: -e Inter -e face /proc/net/dev > /dev/null && echo GOT THROUGH
exit 1
