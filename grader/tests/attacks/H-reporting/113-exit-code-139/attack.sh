# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
# leaves with the code that a shell shows for a crash
exit 139
