"""A plain script: csv and sqlite3, a thousand rows of a file at a time."""

import csv
import io
import itertools
import sys
import urllib.request

from records import Records, product

url, path = sys.argv[1:]
records = Records(path)
with urllib.request.urlopen(url) as response:
    rows = csv.DictReader(io.TextIOWrapper(response, encoding="utf-8", newline=""))
    while batch := list(itertools.islice(rows, 1000)):
        records.save([product(row) for row in batch])
