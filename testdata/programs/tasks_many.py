"""Many tasks that wait, most of them for ever.

    tasks_many.py           HEAPSIFT_TASKS=N, HEAPSIFT_TRUTH=FILE, HEAPSIFT_CORE_BY=kernel: as in truth.py
"""

import asyncio
import json
import os
import signal
import time

kept = []


async def handle(queue, number):
    request = {"number": number, "body": b"x" * 100}
    item = await queue.get()
    return request, item


async def sleeps(number):
    await asyncio.sleep(1000 + number)


async def nested(depth):
    if depth == 0:
        return await asyncio.get_running_loop().create_future()
    return await nested(depth - 1)


async def main():
    count = int(os.environ["HEAPSIFT_TASKS"])
    queue = asyncio.Queue()
    loop = asyncio.get_running_loop()
    never = 0
    for number in range(count - 1):
        if number % 10 == 0:
            kept.append(loop.create_task(sleeps(number)))
        else:
            kept.append(loop.create_task(nested(4) if number % 10 == 1 else handle(queue, number)))
            never += 1
    del queue
    await asyncio.sleep(0)
    with open(os.environ["HEAPSIFT_TRUTH"], "w", encoding="ascii") as out:
        json.dump({"tasks": count, "never": never}, out)
    print(os.getpid(), flush=True)
    if os.environ.get("HEAPSIFT_CORE_BY") == "kernel":
        os.kill(os.getpid(), signal.SIGABRT)
    while True:
        time.sleep(1000)


if __name__ == "__main__":
    asyncio.run(main())
