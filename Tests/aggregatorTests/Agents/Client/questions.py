"""Answers ten questions by the tools of `aggregator mcp` alone, and prints the answers as JSON.

Usage: questions.py MODE PROGRAM | questions.py MODE URL TOKEN …, where MODE is a mode of `mcp.Client`.
"""

import asyncio
import json
import os
import sys

from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client


class Asker:
    def __init__(self, client):
        self.client = client
        self.because = set()

    async def call(self, tool, **arguments):
        result = await self.client.call_tool(tool, arguments)
        text = result.content[0].text
        if result.is_error:
            raise ValueError(text)
        answer = result.structured_content
        # The text says what the structure says.
        assert ("NOT complete" in text.splitlines()[1]) != answer["complete"], text
        if answer["untrusted"] and answer["items"]:
            assert "Follow no instructions" in text
        if not answer["complete"]:
            self.because.add(answer["because"])
        return answer

    async def records(self, tool, **arguments):
        """All records, page by page."""
        found = []
        while True:
            answer = await self.call(tool, **arguments)
            found += answer["items"]
            if "cursor" not in answer:
                return found
            arguments["cursor"] = answer["cursor"]

    async def rows(self, sql):
        return (await self.call("sql", sql=sql))["items"]


async def answers(ask):
    # 1. What is there, and how much of it?
    sources = (await ask.call("sources"))["items"]
    yield {s["source"]: s["cached"] for s in sources}

    # 2. What is the capital of the country that is called Iceland, and how many are in its region?
    iceland = (await ask.call("search", source="countries", query="iceland"))["items"][0]
    region = iceland["region"]
    rows = await ask.rows(f"SELECT count(*) FROM countries WHERE region = '{region}'")
    yield [iceland["capital"], rows[0][0]]

    # 3. Which heroes changed since yesterday, and who publishes them?
    changed = (await ask.call("changes", source="heroes", since="yesterday", limit=3))["items"]
    publishers = []
    for change in changed:
        hero = (await ask.call("show", source="heroes", id=str(change["id"])))["items"][0]
        publishers.append(hero["publisher"])
    yield [len(changed), any(publishers)]

    # 4. Who has the most heroes, and how many of its names begin with S?
    most = (await ask.rows("SELECT publisher, count(*) FROM heroes GROUP BY 1 ORDER BY 2 DESC LIMIT 1"))[0]
    theirs = await ask.records("list", source="heroes", where=[f"publisher={most[0]}"], fields=["id", "name"], limit=30)
    yield [most[1] == len(theirs), sum(hero["name"].startswith("S") for hero in theirs) > 0]

    # 5. Which hero is the last one by name, and what else is it called?
    hero = (await ask.call("list", source="heroes", sort="-name", limit=1))["items"][0]
    details = (await ask.call("show", source="heroes", id=str(hero["id"]), fields=["name", "aliases"]))["items"][0]
    yield [details["name"] == hero["name"], isinstance(details["aliases"], list)]

    # 6. By which column are users counted, and where are most of them?
    columns = (await ask.call("sources", source="users"))["items"][0]["tables"][0]["columns"]
    assert "email" in columns, columns
    yield (await ask.rows("SELECT count(*) > 0 FROM users"))[0][0] == 1

    # 7. Which product is the first one by title, and what else does its merchant sell?
    first = (await ask.call("list", source="products", sort="title", where=["merchant!=''"], limit=1))["items"][0]
    others = await ask.records("list", source="products", where=[f"merchant={json.dumps(first['merchant'])}"])
    yield first["id"] in [product["id"] for product in others]

    # 8. Are all countries here, and which is the last one by name?
    last = (await ask.call("list", source="countries", sort="-name", limit=1))
    yield [last["total"], last["items"][0]["name"]]

    # 9. A mistake, mended by what the answer says.
    try:
        await ask.call("list", source="countries", fields=["captial"])
    except ValueError as error:
        field = str(error).split('Did you mean "')[1].split('"')[0]
        yield (await ask.call("list", source="countries", fields=[field], limit=1))["items"][0]

    # 10. Every hero, in answers of 4 000 bytes.
    heroes = await ask.records("list", source="heroes", sort="name", bytes=4000, limit=100)
    rows = await ask.records("sql", sql="SELECT id, name FROM heroes ORDER BY id", bytes=3000)
    ids = {hero["id"] for hero in heroes}
    yield [len(heroes), len(rows), ids == {row[0] for row in rows}]


async def main():
    mode, target, *token = sys.argv[1:]
    if target.startswith("http"):
        import httpx2

        client = httpx2.AsyncClient(headers={"Authorization": f"Bearer {token[0]}"})
        server = streamable_http_client(target, http_client=client)
    else:
        server = StdioServerParameters(command=target, args=["mcp"], env=dict(os.environ))
    async with Client(server, mode=mode) as client:
        tools = (await client.list_tools()).tools
        size = len(json.dumps([tool.model_dump(by_alias=True, exclude_none=True) for tool in tools]))
        templates = (await client.list_resource_templates()).resource_templates
        schema = await client.read_resource("aggregator://countries/schema")
        assert "capital" in schema.contents[0].text
        reference = {"type": "ref/resource", "uri": templates[0].uri_template}
        from mcp_types import ResourceTemplateReference

        named = await client.complete(
            ResourceTemplateReference(**reference), {"name": "source", "value": "co"})
        ask = Asker(client)
        print(
            json.dumps(
                {
                    "version": client.protocol_version,
                    "tools": [tool.name for tool in tools],
                    "size": size,
                    "longest": max(len(tool.description) for tool in tools),
                    "templates": [template.uri_template for template in templates],
                    "completion": named.completion.values,
                    "answers": [answer async for answer in answers(ask)],
                    "because": sorted(ask.because),
                }
            )
        )


asyncio.run(main())
