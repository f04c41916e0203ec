# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
# reads and writes what lies outside
for f in /etc/passwd /etc/shadow /root/.bashrc /home /work /proc/1/root/etc/passwd /proc/1/environ /outside/etc/passwd; do cat $f > /dev/null 2>&1 && echo GOT THROUGH $f; done
exit 1
