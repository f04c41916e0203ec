# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
# makes namespaces of its own to get rights in them
unshare -U true 2> /dev/null && echo GOT THROUGH
unshare -m true 2> /dev/null && echo GOT THROUGH
exit 1
