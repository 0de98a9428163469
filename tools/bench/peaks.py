# SPDX-License-Identifier: MIT
"""peaks.py LOOK LIBRARY ROW...: what the memory of rows is made of at their peaks, a Markdown table in MiB.

The row's program is stopped again and again (SIGSTOP), some 20 us of its time apart.  Whenever it has at least
99 % of the most resident memory so far, tools/look and /proc/PID/smaps tell what that is; the stop with the least
free memory is the one that is told: what was free then had been needed before.  Each row runs five rounds, twice."""
import json
import os
import signal
import subprocess
import sys

PAGE, MIB = 4096, 1 << 20
look, library = sys.argv[1:3]


def written(pid, at, size):
    """Bytes of the range that are resident and this process's own: not the page of zeroes."""
    with open(f"/proc/{pid}/pagemap", "rb") as file:
        file.seek(at // PAGE * 8)
        words = file.read(((at + size + PAGE - 1) // PAGE - at // PAGE) * 8)
    return PAGE * sum(byte & 0x81 == 0x81 for byte in words[7::8])


def mappings(pid):
    """[from, to, name, resident] of each."""
    found = []
    with open(f"/proc/{pid}/smaps") as file:
        for line in file:
            word = line.split()
            if word[0] == "Rss:":
                found[-1][3] = int(word[1]) * 1024
            elif not word[0].endswith(":"):
                found.append([*(int(x, 16) for x in word[0].split("-")), word[5] if len(word) > 5 else "", 0])
    return found


def compose(pid, owner_bytes=8192):
    # Its status is 1 where a thread is amid a change.
    told = json.loads(subprocess.run([look, "--json", str(pid)], capture_output=True, check=False).stdout)
    classes, regions = told["classes"], told["regions"]
    rss, own, last = 0, 0, 0
    for begin, end, name, resident in mappings(pid):
        rss += resident
        if name == library or (name == "" and begin == last):
            own, last = own + resident, end if name == library else last
    blocks = [min(c["taken"] * c["size"], c["resident"] - c["resident_empty"]) for c in classes]
    part = {"resident": rss, "blocks": sum(blocks), "spans": sum(s["resident"] for s in told["large"])}
    part["partly"] = sum(c["resident"] - c["resident_empty"] for c in classes) - part["blocks"]
    part["empty"] = sum(c["resident_empty"] for c in classes)
    part["chunks"] = sum(r["resident_free"] for r in regions)
    part["units"] = told["resident"] - sum(v for k, v in part.items() if k != "resident")
    # The first region's and the first thread's records are in the library's .bss.
    part["records"] = own + sum(written(pid, int(r["records_at"], 16), r["metadata"]) for r in regions[1:])
    part["records"] += sum(written(pid, int(o["record"], 16), owner_bytes) for o in told["owners"][1:])
    part["slabs"] = sum(c["slabs"] for c in classes)
    part["classes"] = sum(c["slabs"] > 0 for c in classes)
    return part


def free(part):
    return part["units"] + part["chunks"] + part["empty"]


def at_peak(command):
    environment = dict(os.environ, LD_PRELOAD=library)
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
    found, most = [], 0
    with open(f"/proc/{process.pid}/statm", "rb", buffering=0) as statm:
        while True:
            os.kill(process.pid, signal.SIGSTOP)
            if not os.WIFSTOPPED(os.waitpid(process.pid, os.WUNTRACED)[1]):
                break
            statm.seek(0)
            now = int(statm.read().split()[1]) * PAGE
            if now > most * 0.99 and now > 2 * MIB:
                try:
                    found.append(compose(process.pid))
                    most = max(most, found[-1]["resident"])
                except ValueError:
                    pass  # before the heap is there
            os.kill(process.pid, signal.SIGCONT)
    peak = int(process.stdout.read().split("peak")[1].split()[0]) * 1024
    found = [p for p in found if p["resident"] >= most * 0.99]
    best = min(found, key=free)
    heap = ("blocks", "spans", "partly", "empty", "units", "chunks", "records")
    # The benchmark's own tables are not in its peak.
    return best, peak, peak - (most - best["resident"]) - sum(best[k] for k in heap)


print("| row | peak | blocks | spans | partly free slabs (classes, slabs) | empty slabs | free units | free chunks |"
      " records, library | the process |")
print("|---|---|---|---|---|---|---|---|---|---|")
for row in sys.argv[3:]:
    command = [os.path.join(os.path.dirname(look), "bench/micro-hosted"), *row.split(), "exact"]
    part, peak, rest = min((at_peak(command) for _ in range(2)), key=lambda told: free(told[0]))
    mib = {k: f"{v / MIB:.2f}" for k, v in part.items()}
    print(f"| {row.replace('tests/traces/', '').replace('.trace', '')} | {peak / MIB:.2f} | {mib['blocks']} | {mib['spans']} |"
          f" {mib['partly']} ({part['classes']}, {part['slabs']}) | {mib['empty']} | {mib['units']} | {mib['chunks']} |"
          f" {mib['records']} | {rest / MIB:.2f} |", flush=True)
