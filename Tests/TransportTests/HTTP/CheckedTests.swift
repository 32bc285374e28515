import AggregatorKit
import Foundation
import Testing

@Suite
struct CheckedTests {
  let now = Date(timeIntervalSince1970: 784_111_777)  // Sun, 06 Nov 1994 08:49:37 GMT

  @Test(arguments: [
    (300, SourceError.Code.rejected), (304, .rejected), (400, .rejected), (401, .invalidKey),
    (403, .rejected), (404, .rejected), (407, .invalidKey), (408, .timedOut), (410, .rejected),
    (418, .rejected), (420, .rateLimited), (425, .rateLimited), (429, .rateLimited),
    (500, .serverError), (503, .serverError), (599, .serverError), (999, .serverError),
    (0, .rejected), (-1, .rejected),
  ])
  func `names the failure behind a status`(status: Int, code: SourceError.Code) throws {
    let error = #expect(throws: SourceError.self) {
      try HTTPResponse(status: status).checked(by: "Comic Vine", wantsKey: true, now: now)
    }
    #expect(error?.code == code)
    #expect(error?.message.contains("Comic Vine") == true)
    #expect(error?.message.contains("(\(status))") == true)
  }

  static let forbidden: [([(String, String)], SourceError.Code, Duration?)] = [
    ([("retry-after", "30")], .rateLimited, .seconds(30)),
    (
      [("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "784111837")], .rateLimited,
      .seconds(60)
    ),
    ([("x-ratelimit-remaining", "0")], .rateLimited, nil),
    ([("x-ratelimit-remaining", "7"), ("x-ratelimit-reset", "784111837")], .rejected, nil),
  ]

  @Test(arguments: forbidden)
  func `403 is a rate limit if the service says when to come again`(
    fields: [(String, String)], code: SourceError.Code, wait: Duration?
  ) throws {
    let response = HTTPResponse(
      status: 403, headers: fields.map { (name: $0.0, value: $0.1) })
    let error = #expect(throws: SourceError.self) { try response.checked(by: "X", now: now) }
    #expect(error?.code == code)
    #expect(error?.retryAfter == wait)
  }

  @Test(arguments: [401, 407])
  func `does not mention a key if there is none`(status: Int) throws {
    let error = #expect(throws: SourceError.self) {
      try HTTPResponse(status: status).checked(by: "the list", now: now)
    }
    #expect(error?.code == .rejected)
  }

  @Test(arguments: [200, 201, 204, 299])
  func `returns successful responses`(status: Int) throws {
    #expect(try HTTPResponse(status: status).checked(by: "x", now: now).status == status)
  }

  @Test(arguments: [
    ("<html><head><TITLE lang=en> Down &amp;\n out &lt;b&gt; </TITLE>", "Down & out <b>"),
    ("\u{FEFF} \n<!doctype html><p>no title", ""),
    (#"{"error": "Whoa, ease up there cowboy."}"#, "Whoa, ease up there cowboy."),
    (#"{"error": {"code": 1}, "message": "slow\ndown"}"#, "slow down"),
    ("{}", ""), ("[1, 2]", ""), ("", ""), (" \n", ""),
    ("Internal Server Error\n", "Internal Server Error"),
    ("a\u{1B}[31mred\u{202E}\u{200B}\u{7}", "a[31mred"),
    (String(repeating: "x", count: 81), String(repeating: "x", count: 80) + "…"),
  ])
  func `quotes a short, harmless piece of the body`(body: String, quote: String) {
    let error = #expect(throws: SourceError.self) {
      try HTTPResponse(status: 500, body: Data(body.utf8)).checked(by: "X", now: now)
    }
    let words = quote.isEmpty ? "" : ": \"\(quote)\""
    #expect(error?.message == "X failed (500)\(words)")
  }

  @Test func `does not quote binary data`() {
    let error = #expect(throws: SourceError.self) {
      try HTTPResponse(status: 500, body: Data([0x89, 0x50, 0xFF, 0xFE])).checked(by: "X", now: now)
    }
    #expect(error?.message == "X failed (500)")
  }

  @Test(arguments: [
    ("120", Duration.seconds(120)), ("0", nil), ("-5", nil), ("1.5", nil), ("", nil), ("soon", nil),
    ("86401", .seconds(86400)), ("99999999999999999999999999", .seconds(86400)), ("٣", nil),
    // The seconds since 1970: in a minute, now, a minute ago, in a day and more.
    ("784111837", .seconds(60)), ("784111777", nil), ("784111717", nil),
    ("784198178", .seconds(86400)),
    ("Sun, 06 Nov 1994 08:50:37 GMT", .seconds(60)),
    ("Sunday, 06-Nov-94 08:50:37 GMT", .seconds(60)),
    ("Sun Nov  6 08:50:37 1994", .seconds(60)),
    ("Sun, 06 Nov 1994 08:49:37 GMT", nil), ("Sun, 06 Nov 1994 08:49:36 GMT", nil),
    ("Fri, 31 Dec 9999 23:59:59 GMT", .seconds(86400)),
    ("Sun, 06 Nov 1994 08:50:37 PST", nil), ("Sun, 06 Foo 1994 08:50:37 GMT", nil),
    ("Sun, 06 Nov 1994 25:00:00 GMT", nil), ("Sun, 99 Nov 1994 08:50:37 GMT", nil),
    ("Sun, 06 Nov 99999999999999999999 08:50:37 GMT", nil), ("Sun, 06 Nov -1 08:50:37 GMT", nil),
    ("Sun, 06 Nov", nil), ("Sun Nov 6 08:50:37 1994 GMT", nil),
  ])
  func `reads Retry-After`(text: String, wait: Duration?) {
    let response = HTTPResponse(status: 429, headers: [("Retry-After", text)])
    let error = #expect(throws: SourceError.self) { try response.checked(by: "X", now: now) }
    #expect(error?.retryAfter == wait)
  }

  @Test func `has no Retry-After if the service sent none`() {
    let error = #expect(throws: SourceError.self) {
      try HTTPResponse(status: 503).checked(by: "X", now: now)
    }
    #expect(error?.retryAfter == nil)
  }
}
