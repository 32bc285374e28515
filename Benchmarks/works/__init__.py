"""The works: each does the same with aggregator and with its peers, checks it, and reports it."""

from .again import again
from .bench import Bench
from .declared import declared
from .fetching import fetch, latency, server_cost
from .load import load
from .page import page
from .postgres import postgres
from .searching import memory
from .serve import serve
from .singer import singer
from .small import chain, fallback, scroll, start

WORKS = {
    "start": start, "fallback": fallback, "chain": chain, "scroll": scroll, "latency": latency, "fetch": fetch,
    "again": again, "declared": declared, "memory": memory,
    "postgres": postgres, "singer": singer, "serve": serve, "page": page, "load": load,
}
