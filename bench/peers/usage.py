"""Measures what a call of a library costs."""

import re
import time
from typing import Any, Callable


def measured(call: Callable[[], Any]) -> tuple[Any, dict[str, float]]:
    """Returns the result of a call, its time, and the time of all its threads, in seconds."""
    start, processor_start = time.perf_counter(), time.process_time()
    answer = call()
    return answer, {
        "seconds": time.perf_counter() - start,
        "processorSeconds": time.process_time() - processor_start,
    }


def peak_memory_bytes() -> int:
    """Returns the peak memory of this process, which `getrusage` may report too high: it includes that of the parent
    before exec."""
    with open("/proc/self/status", encoding="ascii") as status:
        return 1024 * int(re.findall(r"VmHWM:\s+(\d+) kB", status.read())[0])
