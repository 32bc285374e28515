"""httpx, page after page on one connection."""

import sys

import httpx
from records import Records, Work

work = Work(sys.argv[1:])
records = Records(work.path)
with httpx.Client(base_url=work.url) as client:
    for page in range(1, work.pages + 1):
        response = client.get(work.address(page))
        response.raise_for_status()
        records.save(work.rows(response.content))
