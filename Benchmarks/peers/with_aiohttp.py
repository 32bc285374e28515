"""aiohttp with 8 requests in flight; pages are stored in order, beside them."""

import asyncio
import collections
import sys

import aiohttp
from records import Records, Work

IN_FLIGHT = 8


async def main():
    work = Work(sys.argv[1:])
    records = Records(work.path)

    async def fetch(page):
        async with client.get(work.url + work.address(page)) as response:
            response.raise_for_status()
            return await response.read()

    def store(body):
        records.save(work.rows(body))

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=IN_FLIGHT)) as client:
        flying = collections.deque()
        for page in range(1, work.pages + 1):
            flying.append(asyncio.create_task(fetch(page)))
            if len(flying) == IN_FLIGHT:
                await asyncio.to_thread(store, await flying.popleft())
        while flying:
            await asyncio.to_thread(store, await flying.popleft())


asyncio.run(main())
