# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
# sleeps
sleep 1000
echo GOT THROUGH
