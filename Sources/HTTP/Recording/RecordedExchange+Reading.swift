import AggregatorCore
package import Foundation

extension RecordedExchange {
  /// What is wrong with a recording, and in which line.
  package struct Fault: Error {
    /// 1-based.
    package let line: Int
    /// What is wrong.
    package let what: String
  }

  /// Reads what ``text`` writes, also after a person has changed it.
  ///
  /// - Parameter text: A file's contents.
  /// - Throws: ``Fault``.
  package init(_ text: Data) throws(Fault) {
    var lines = Lines(text)
    guard lines.next() == Self.title else {
      throw lines.fault("this is no recording that can be read; it must begin with '\(Self.title)'")
    }
    guard let stamp = lines.next(), stamp.hasPrefix("# "),
      let time = try? Date(String(stamp.dropFirst(2)), strategy: .iso8601),
      // Calendars do not agree on dates of long ago.
      time >= Date(timeIntervalSince1970: 0)
    else { throw lines.fault("the time is missing: '# 2026-01-05T09:12:44Z'") }
    self.time = time

    var line = lines.next()
    while let comment = line, comment.hasPrefix("#") { line = lines.next() }
    let words = (line ?? "").split(separator: " ", omittingEmptySubsequences: false)
    guard words.count == 2, let method = HTTPRequest.Method(rawValue: String(words[0])) else {
      throw lines.fault("the request is missing: 'GET https://host/path'")
    }
    let head = try lines.head(of: .request)
    let body = try lines.body(head, of: .request)
    request = RecordedRequest(
      method: method, address: String(words[1]), headers: head.fields, body: body)
    outcome = try lines.outcome()
  }
}

/// The lines of a recording, one after the other.
private struct Lines {
  enum Part { case request, reply }

  struct Head {
    var fields: [(name: String, value: String)] = []
    var isBase64 = false
    /// Whether a blank line came after it, and so a body may.
    var hasBody = false
  }

  private var rest: Data
  private var number = 0

  init(_ text: Data) { rest = text }

  func fault(_ what: String) -> RecordedExchange.Fault {
    RecordedExchange.Fault(line: max(number, 1), what: what)
  }

  /// The next line without its end; `nil` after the last one.
  mutating func next() -> String? {
    guard !rest.isEmpty else { return nil }
    number += 1
    let end = rest.firstIndex(of: UInt8(ascii: "\n")) ?? rest.endIndex
    var line = rest[..<end]
    if line.last == UInt8(ascii: "\r") { line.removeLast() }
    rest = rest[end...].dropFirst()
    return String(decoding: line, as: UTF8.self)
  }

  /// Fields up to a blank line, or the end.
  mutating func head(of part: Part) throws(RecordedExchange.Fault) -> Head {
    var head = Head()
    while part == .reply || !isAtSeparator, let line = next() {
      if line.isEmpty {
        head.hasBody = true
        return head
      }
      if line.hasPrefix("#") {
        head.isBase64 = head.isBase64 || line == RecordedExchange.base64Note
        continue
      }
      let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, !parts[0].isEmpty, !parts[0].contains(" ") else {
        throw fault("this is no header field: 'name: value'")
      }
      head.fields.append((parts[0].lowercased(), String(parts[1].trimmingPrefix(" "))))
    }
    return head
  }

  private var isAtSeparator: Bool { rest.starts(with: RecordedExchange.separator.utf8) }

  /// The bytes of a body, without the line breaks that were added to it.
  mutating func body(_ head: Head, of part: Part) throws(RecordedExchange.Fault) -> Data {
    guard head.hasBody else { return Data() }
    let start = number
    let end = part == .request ? separatorIndex : rest.endIndex
    var body = rest[..<end]
    number += body.count { $0 == UInt8(ascii: "\n") }
    rest = rest[end...]
    for _ in 0..<(part == .request ? 2 : 1) where body.last == UInt8(ascii: "\n") {
      body.removeLast()
    }
    guard head.isBase64 else { return Data(body) }
    guard let bytes = Data(base64Encoded: Data(body), options: .ignoreUnknownCharacters) else {
      throw RecordedExchange.Fault(line: start + 1, what: "this is no base64")
    }
    return bytes
  }

  /// Where the next line is that ends a request.
  private var separatorIndex: Data.Index {
    if isAtSeparator { return rest.startIndex }
    return rest.firstRange(of: Data("\n\(RecordedExchange.separator)".utf8)).map {
      rest.index(after: $0.lowerBound)
    } ?? rest.endIndex
  }

  /// What came of the request.
  mutating func outcome() throws(RecordedExchange.Fault) -> RecordedExchange.Outcome {
    let line = next() ?? ""
    let words = line.split(separator: " ").map(String.init)
    let begin = number
    guard words.first == RecordedExchange.separator else {
      throw fault("what came of the request is missing: '\(RecordedExchange.separator) HTTP 200'")
    }
    switch (words.dropFirst().first, words.count) {
    case ("HTTP", 3):
      guard let status = Int(words[2]), 100...999 ~= status else {
        throw fault("a status is a number from 100 to 999")
      }
      let head = try head(of: .reply)
      return .reply(
        HTTPResponse(
          status: status, headers: head.fields, body: try body(head, of: .reply)))
    case ("failed", 3):
      guard let code = SourceError.Code(words[2]), code != .cancelled, code != .notRecorded else {
        throw fault("'\(words[2].oneLine(atMost: 40))' is no failure that a transport can have")
      }
      let fields = try head(of: .reply).fields
      func field(_ name: String) -> String? {
        fields.first { $0.name == name }?.value.oneLine(atMost: 500)
      }
      let seconds = field("retry-after").flatMap(Double.init).flatMap {
        $0.isFinite ? min(max($0, 0), 86_400) : nil
      }
      return .failure(
        SourceError(
          code, field("message") ?? code.text, remedy: field("remedy").map { Remedy($0) },
          retryAfter: seconds.map { .seconds($0) }))
    case ("silent", 2):
      return .silence
    default:
      throw RecordedExchange.Fault(
        line: begin, what: "what came of the request is 'HTTP 200', 'failed timedOut' or 'silent'")
    }
  }
}
