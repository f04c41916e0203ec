# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
# a daemon in a session of its own that wants to stay
(setsid sh -c "sleep 1000" > /dev/null 2>&1 &)
exit 0
