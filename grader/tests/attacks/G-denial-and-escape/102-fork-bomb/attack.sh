# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
# a fork bomb
bomb() { bomb | bomb & }
bomb
wait
sleep 100
