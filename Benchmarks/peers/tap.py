"""A Singer tap: writes people as messages that a Singer target reads. Arguments as for plain.py."""

import http.client
import json
import sys

from records import Work

work = Work(sys.argv[1:])


def say(**message):
    sys.stdout.write(json.dumps(message) + "\n")


names = (
    "birthDate city country email firstName gender lastName nationality phone picture postcode"
    " registeredAt state title username uuid").split()
say(type="SCHEMA", stream="people", key_properties=["email"], schema={
    "type": "object", "properties": {name: {"type": ["null", "string"]} for name in names}})
connection = http.client.HTTPConnection(work.url.removeprefix("http://"))
for page in range(1, work.pages + 1):
    connection.request("GET", work.address(page))
    for _, _, encoded in work.rows(connection.getresponse().read()):
        say(type="RECORD", stream="people", record=json.loads(encoded))
    say(type="STATE", value={"page": page})
