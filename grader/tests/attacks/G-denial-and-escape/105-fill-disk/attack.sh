# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
# fills the disk with many files
i=0
while head -c 1000000 /dev/zero > file$i; do i=$((i + 1)); [ $i -gt 100 ] && echo GOT THROUGH && exit 0; done 2> /dev/null
exit 1
