"""dlt's rest_api source into SQLite or PostgreSQL: with_dlt.py append|merge|keyed, then as for plain.py.

As dlt makes tables by default, merging compares each row with each: `keyed` merges into tables with
primary keys. It makes no search index, which is work that it is not asked to do.
"""

import sys

import dlt
from dlt.sources.rest_api import rest_api_source

from records import Work

mode, work = sys.argv[1], Work(sys.argv[2:])
if work.kind == "people":
    path, key = "api/", "email"
    parameters = {"seed": "bench", "results": work.size}
    paginator = {
        "type": "page_number", "base_page": 1, "page_param": "page", "total_path": None,
        "maximum_page": work.pages + 1,
    }
else:
    path, key, parameters = "products/offset", "id", {}
    paginator = {
        "type": "offset", "limit": work.size, "offset_param": "skip", "limit_param": "take",
        "total_path": None, "maximum_offset": work.size * work.pages,
    }
source = rest_api_source({
    "client": {"base_url": work.url, "paginator": paginator},
    "resources": [{
        "name": work.kind, "primary_key": key, "write_disposition": "append" if mode == "append" else "merge",
        "endpoint": {"path": path, "params": parameters, "data_selector": work.list},
    }],
})
source.max_table_nesting = 0
if work.path.startswith("postgresql:"):
    # It insists on a password, which the server does not ask for.
    directory = "postgres-dlt"
    destination = dlt.destinations.postgres(work.path.replace("@", ":none@", 1))
else:
    directory = f"{work.path}-dlt"
    destination = dlt.destinations.sqlalchemy(
        f"sqlite:///{work.path}", create_primary_keys=mode == "keyed")
pipeline = dlt.pipeline(
    "bench", dataset_name="main", pipelines_dir=directory, destination=destination)
pipeline.run(source).raise_on_failed_jobs()
