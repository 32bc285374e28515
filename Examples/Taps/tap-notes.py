#!/usr/bin/env python3
"""A tap of the notes in a folder: each file is a record, and those that have changed are sent."""
import argparse
import json
import pathlib

SCHEMA = {"type": "object", "properties": {
    "path": {"type": "string"}, "text": {"type": "string"}, "modified": {"type": "number"}}}
STREAM = {
    "tap_stream_id": "notes", "stream": "notes", "schema": SCHEMA,
    "key_properties": ["path"],
    "metadata": [{"breadcrumb": [], "metadata": {
        "replication-method": "INCREMENTAL", "replication-key": "modified"}}],
}

arguments = argparse.ArgumentParser()
arguments.add_argument("--config", required=True)
arguments.add_argument("--discover", action="store_true")
arguments.add_argument("--catalog")
arguments.add_argument("--state")
options = arguments.parse_args()


def say(message):
    print(json.dumps(message), flush=True)


if options.discover:
    say({"streams": [STREAM]})
else:
    folder = pathlib.Path(json.load(open(options.config))["folder"])
    since = json.load(open(options.state))["modified"] if options.state else -1
    files = [(file.stat().st_mtime, file) for file in folder.rglob("*.md")]
    say({"type": "SCHEMA", "stream": "notes", "schema": SCHEMA, "key_properties": ["path"]})
    # The last one again: another may have the same time.
    for modified, file in sorted(entry for entry in files if entry[0] >= since):
        record = {"path": str(file.relative_to(folder)), "text": file.read_text(), "modified": modified}
        say({"type": "RECORD", "stream": "notes", "record": record})
        say({"type": "STATE", "value": {"modified": modified}})
