# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
# shared memory, key rings, message queues, io_uring
for f in /dev/shm/x /dev/mqueue/x /tmp/x /var/tmp/x /run/x; do (echo x > $f) 2> /dev/null && echo GOT THROUGH; done
# keyctl, add_key, io_uring_setup, shmget, msgget
perl -e 'for my $call (250, 248, 425, 29, 68) { my $r = syscall($call, 0, $call == 29 ? 4096 : 0, 0600, 0, 0); print "GOT THROUGH $call\n" if $r != -1 }'
exit 1
