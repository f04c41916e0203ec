# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
# changes clock rates
for f in /sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq /proc/driver/nvidia/params /dev/nvidiactl; do
  (echo 0 > $f) 2>/dev/null && echo GOT THROUGH
done
exit 1
