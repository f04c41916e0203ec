# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
# sleeps a second longer than allowed
sleep 4
echo GOT THROUGH
