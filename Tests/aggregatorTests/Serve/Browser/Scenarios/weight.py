"""No page needs more than 50 KB before it can be read."""

PATHS = (
    "/",
    "/search?query=a",
    "/sql",
    "/changes/countries",
    "/sources/heroes",
    "/sources/countries?filters=shown&limit=100",
    "/sources/products",
)


def run(site):
    for path in PATHS:
        page = site.context().new_page()
        finished = []
        page.on("requestfinished", lambda request: finished.append(request))
        page.goto(site.origin + path, wait_until="load")
        kinds = {"document", "stylesheet", "script"}
        needed = [request for request in finished if request.resource_type in kinds]
        assert {request.resource_type for request in needed} == kinds, path
        sizes = [request.sizes() for request in needed]
        weight = sum(size["responseHeadersSize"] + size["responseBodySize"] for size in sizes)
        assert weight <= 50_000, f"{path}: {weight} bytes"
