# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
# 100 MB where 64 MB are allowed
dd if=/dev/zero of=/dev/null bs=100M count=1 2> /dev/null && echo GOT THROUGH
exit 1
