"""A plain script: http.client and sqlite3, page after page on one connection."""

import http.client
import sys

from records import Records, Work

work = Work(sys.argv[1:])
records = Records(work.path, work.is_indexed)
connection = http.client.HTTPConnection(work.url.removeprefix("http://"))
for page in range(1, work.pages + 1):
    connection.request("GET", work.address(page))
    response = connection.getresponse()
    if response.status != 200:
        sys.exit(f"page {page}: {response.status}")
    records.save(work.rows(response.read()))
