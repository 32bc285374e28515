"""Made-up people and products, about 1 KB each, in the JSON of the services that they stand for.

Each is a function of its number, so two runs work on the same bytes.
"""

import itertools

GIVEN = (
    "Aino Brad Chloé Darius Eva Fergus Gül Henrik Ines Jonas Karin Léa Milan Nora Óscar Pia".split())
FAMILY = "Aksakal Berg Castro Dubois Eriksen Fernández Green Hansen Ivanov Jung Koç Lund Moreau".split()
THINGS = "lamp kettle chair jacket bottle guitar carpet camera tent mirror clock basket".split()
COLOURS = "amber teal ivory crimson olive navy silver copper violet sand".split()


def mixed(number):
    """64 bits that look like chance (SplitMix64)."""
    z = (number + 1) * 0x9E3779B97F4A7C15 & 0xFFFFFFFFFFFFFFFF
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & 0xFFFFFFFFFFFFFFFF
    z = (z ^ z >> 27) * 0x94D049BB133111EB & 0xFFFFFFFFFFFFFFFF
    return z ^ z >> 31


def person(n):
    """As randomuser.me sends people; the e-mail address is the key."""
    m = mixed(n)
    given, family = GIVEN[m % len(GIVEN)], FAMILY[m // 16 % len(FAMILY)]
    hexes = f"{m:016x}{mixed(m):016x}"
    sex, folder = ("female", "women") if m & 1 else ("male", "men")
    return (
        f'{{"gender":"{sex}","name":{{"title":"Mx","first":"{given}","last":"{family}"}},'
        f'"location":{{"street":{{"number":{m % 9999},"name":"Storgata nord"}},'
        f'"city":"Byen nummer {m % 5003}","state":"Møre og Romsdal","country":"Norway",'
        f'"postcode":"{m % 9999:04d}","coordinates":{{"latitude":"{m % 90}.1234",'
        f'"longitude":"-{m % 180}.4321"}},"timezone":{{"offset":"+1:00",'
        f'"description":"Brussels, Copenhagen, Madrid, Paris"}}}},'
        f'"email":"user{n}.{m % 997}@example.com","login":{{"uuid":"{hexes[:8]}-{hexes[8:12]}-4'
        f'{hexes[13:16]}-8{hexes[17:20]}-{hexes[20:32]}","username":"somebody{n}",'
        f'"password":"{hexes[:10]}","salt":"{hexes[3:11]}","md5":"{hexes}",'
        f'"sha1":"{hexes}{hexes[:8]}","sha256":"{hexes}{hexes}"}},'
        f'"dob":{{"date":"19{m % 50 + 40}-0{m % 9 + 1}-1{m % 10}T09:18:33.666Z","age":40}},'
        f'"registered":{{"date":"2010-0{m % 9 + 1}-1{m % 10}T10:08:29.745Z","age":10}},'
        f'"phone":"+47 {m % 99999999:08d}","cell":"+47 {m // 7 % 99999999:08d}",'
        f'"id":{{"name":"FN","value":"{m % 99999999999:011d}"}},'
        f'"picture":{{"large":"https://randomuser.me/api/portraits/{folder}/{m % 100}.jpg",'
        f'"medium":"https://randomuser.me/api/portraits/med/{folder}/{m % 100}.jpg",'
        f'"thumbnail":"https://randomuser.me/api/portraits/thumb/{folder}/{m % 100}.jpg"}},'
        f'"nat":"NO"}}'
    )


def product(n, is_changed=False):
    """As the products service sends them; `id` is the key. What changes is the title."""
    m = mixed(n)
    h = f"{m:016x}{mixed(m):016x}"
    colour, thing = COLOURS[m % len(COLOURS)], THINGS[m // 16 % len(THINGS)]
    images = ",".join(
        f'"https://cdn.example.com/shops/{m % 89}/pictures/{h}/{h[i:i + 12]}-1200x1200.jpg'
        f'?v={m % 999983}&crop=center"' for i in range(5))
    title = f"{'New: ' if is_changed else ''}{colour.title()} {thing} of the Façade collection, model {n}"
    return (
        f'{{"id":"{h[:8]}-{h[8:12]}-4{h[13:16]}-8{h[17:20]}-{h[20:32]}",'
        f'"createdAt":"2020-08-14T20:17:23.{m % 1000:03d}Z",'
        f'"updatedAt":"2020-08-{15 if is_changed else 14}T20:17:23.{m % 1000:03d}Z",'
        f'"title":"{title}, with a warranty of {m % 9 + 2} years and free returns",'
        f'"images":[{images}],'
        f'"url":"https://www.shop{m % 89}.example.com/collections/{thing}s/{colour}-{thing}-{n}'
        f'?variant={m % 99999999}&utm_source=catalogue",'
        f'"merchant":"Shop {m % 89}"}}'
    )


def write(path, make, count):
    """Writes rows, one a line, with a comma after each."""
    with open(path, "w", encoding="utf-8") as file:
        for start in range(0, count, 1000):
            file.write("".join(f"{make(n)},\n" for n in range(start, min(start + 1000, count))))


def write_crowd(path, count, repeated=1_000_000):
    """Writes a million people, again and again with other e-mail addresses: ten times as fast as making them up."""
    write(path, person, min(count, repeated))
    with open(path, "rb") as first, open(path, "ab") as file:
        for number in range(1, count // repeated):
            first.seek(0)
            for _ in range(repeated // 1000):
                people = b"".join(itertools.islice(first, 1000))
                file.write(people.replace(b'"email":"user', b'"email":"user%d-' % number))


def write_changed_products(path, count):
    """Writes products of which every hundredth has changed."""
    write(path, lambda n: product(n, n % 100 == 7), count)
