import AggregatorFormats
import Testing

/// Formats are recognised by the content type, then by the first bytes.
struct BodyFormatTests {
  static let bodies: [(type: String?, path: String, head: String, format: BodyFormat?)] = [
    ("application/json", "/", #"{"a": 1}"#, nil),
    ("application/json", "/", #"[{"a": 1}]"#, nil),
    ("application/json", "/x.csv", #"{"a": 1}"#, nil),
    (nil, "/", "{\n  \"a\": {}\n}", nil),
    ("application/x-ndjson", "/", #"{"a": 1}"#, .ndjson),
    ("", "/rows.ndjson", #"{"a": 1}"#, .ndjson),
    (nil, "/rows.jsonl.gz", #"{"a": 1}"#, .ndjson),
    ("application/jsonl; charset=utf-8", "/", "{}", .ndjson),
    ("text/plain", "/", "{\"a\": 1}\n\n{\"a\": 2}", .ndjson),
    ("application/json", "/", "[1]\r\n[2]\r\n", .ndjson),
    ("text/csv", "/", "id,name\n", .csv),
    ("Text/CSV; header=present", "/", "id\n1\n", .csv),
    ("text/tab-separated-values", "/", "id\tname\n", .tsv),
    ("text/plain", "/data/rows.CSV", "id\n1\n", .csv),
    ("application/octet-stream", "/rows.tsv.gz", "id\tname\n", .tsv),
    ("text/plain", "/", "id,name\n1,x\n", .csv),
    ("text/plain", "/", "id\tname\n1\tx\n", .tsv),
    ("text/plain", "/", "Sorry, try again later", nil),
    ("text/plain", "/", "Sorry, we are down\nTry again", nil),
    ("application/json", "/", "a,b\n1,2\n", nil),
    ("application/rss+xml", "/", "<rss><channel/></rss>", .xml),
    ("text/xml", "/", "\u{FEFF}<?xml version=\"1.0\"?><a/>", .xml),
    ("text/html", "/feed", "<?xml version=\"1.0\"?><rss/>", .xml),
    ("text/html", "/", "<p>Sorry</p>", nil),
    ("application/xml", "/", "<?xml version=\"1.0\"?><!DOCTYPE html><html>", nil),
    ("text/csv", "/", "<!doctype html><title>Sign in</title>", nil),
    (nil, "/", "", nil),
  ]

  @Test(arguments: bodies)
  func `a body has the format that it says or shows`(
    type: String?, path: String, head: String, format: BodyFormat?
  ) {
    #expect(BodyFormat(contentType: type, path: path, head: Array(head.utf8)) == format)
  }
}
