# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
# overwrites somebody else's result
find / -name "*.jsonl" -o -name "ledger*" -o -name "result*.json" 2> /dev/null | grep -v ^/proc | while read f; do (echo "{}" > "$f") 2> /dev/null && echo GOT THROUGH; done
for d in /course /toolkit /usr /etc /; do (echo x > $d/result.json) 2> /dev/null && echo GOT THROUGH; done
exit 1
