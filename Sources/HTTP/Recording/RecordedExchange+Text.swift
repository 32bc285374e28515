import AggregatorCore
package import AggregatorFoundation
import AggregatorText

extension RecordedExchange {
  /// The first line of every recording.
  static let formatHeader = "# aggregator recording 1"

  /// The start of the line that ends the request: no line of a body starts with it.
  static let separator = "###"

  /// The line before a body that is not text.
  static let base64Note = "# body: base64"

  /// The exchange as text: a request as in `.http` files, a line with the outcome, the response.
  ///
  /// ```
  /// # aggregator recording 1
  /// # 2026-01-05T09:12:44Z
  /// POST http://localhost:3000/products/offset
  /// content-type: application/json
  ///
  /// {
  ///   "skip": 0,
  ///   "take": 20
  /// }
  ///
  /// ### HTTP 200
  /// content-type: application/json
  ///
  /// []
  /// ```
  ///
  /// - JSON is indented, token by token. Other text is unchanged, with one line break added.
  /// - A body that is not text (not UTF-8, control characters, a line that starts with `###`) is base64
  ///   in lines of 76, preceded by `# body: base64`.
  /// - A failure is `### failed timedOut` with the fields `message`, `remedy` and `retry-after` (seconds);
  ///   `### silent` means no data until the caller's deadline.
  package var text: Data {
    var text = Data()
    text.append(line: Self.formatHeader)
    text.append(line: "# \(time.iso8601)")
    text.append(line: "\(request.method.rawValue) \(request.address)")
    text.append(request.headers, request.body)
    text.append(line: "")
    switch outcome {
    case .reply(let response):
      text.append(line: "\(Self.separator) HTTP \(response.status)")
      text.append(response.headers, response.body)
    case .failure(let error):
      text.append(line: "\(Self.separator) failed \(error.code)")
      let wait = error.retryAfter.map { "\($0 / .seconds(1))" }
      let fields = [
        ("message", error.message), ("remedy", error.remedy?.text), ("retry-after", wait),
      ]
      text.append(
        fields.compactMap { name, value in value.map { (name, $0.oneLine(atMost: 500)) } })
    case .silence:
      text.append(line: "\(Self.separator) silent")
    }
    return text
  }
}

extension Data {
  fileprivate mutating func append(line: String) { self += Data((line + "\n").utf8) }

  /// Adds header fields, and a body after a blank line.
  fileprivate mutating func append(
    _ fields: [(name: String, value: String)], _ body: Data = Data()
  ) {
    for (name, value) in fields
    where !name.isEmpty && name.isPlain && !name.contains(where: \.isNewline)
      && value.isPlain && !value.contains("\n")
    {
      append(line: "\(name): \(value)")
    }
    guard !body.isEmpty else { return }
    let text = body.recordedText
    if text == nil { append(line: RecordedExchange.base64Note) }
    append(line: "")
    self +=
      text ?? body.base64EncodedData(options: [.lineLength76Characters, .endLineWithLineFeed])
    append(line: "")
  }

  /// This body as it is recorded; `nil` if it is not plain text.
  private var recordedText: Data? {
    guard let text = String(validating: self, as: UTF8.self), text.isPlain,
      // By bytes, as it is read: in a string, a combining mark makes another character.
      !starts(with: RecordedExchange.separator.utf8),
      firstRange(of: Data("\n\(RecordedExchange.separator)".utf8)) == nil
    else { return nil }
    // Indented JSON is not much larger than it was.
    let limit = count * 4 + 4096
    return JSONFormatter.indented(Array(self), atMost: limit).map { Data($0) } ?? self
  }
}

extension String {
  /// `true` if terminals and editors show this unchanged: no control characters but tab and line feed.
  fileprivate var isPlain: Bool {
    unicodeScalars.allSatisfy {
      $0 == "\n" || $0 == "\t" || $0.value >= 0x20 && !(0x7F...0x9F ~= $0.value)
    }
  }
}

// MARK: - Reading

extension RecordedExchange {
  package struct FormatError: Error {
    package let line: Int
    package let message: String
  }

  /// Parses a recording, which a person may have edited.
  package init(_ text: Data) throws(FormatError) {
    var lines = Lines(rest: text)
    guard lines.next() == Self.formatHeader else {
      throw lines.formatError("not a recording: the first line must be \"\(Self.formatHeader)\"")
    }
    guard let stamp = lines.next(), stamp.hasPrefix("# "),
      let time = try? Date(String(stamp.dropFirst(2)), strategy: .iso8601),
      // Before 1582 Foundation reads the Julian calendar, but `iso8601` writes the Gregorian one.
      time >= Date(timeIntervalSince1970: 0)
    else {
      throw lines.formatError("missing time: expected a line such as \"# 2026-01-05T09:12:44Z\"")
    }
    self.time = time

    var line = lines.next()
    while let comment = line, comment.hasPrefix("#") { line = lines.next() }
    let words = (line ?? "").split(separator: " ", omittingEmptySubsequences: false)
    guard words.count == 2, let method = HTTPRequest.Method(rawValue: String(words[0])) else {
      throw lines.formatError("missing request: expected a line such as \"GET https://host/path\"")
    }
    let head = try lines.head(of: .request)
    let body = try lines.body(head, of: .request)
    request = RecordedRequest(
      method: method, address: String(words[1]), headers: head.fields, body: body)
    outcome = try lines.outcome()
  }
}

private struct Lines {
  enum Part { case request, reply }

  struct Head {
    var fields: [(name: String, value: String)] = []
    var isBase64 = false
    /// `true` if a blank line follows, and so a body may.
    var hasBody = false
  }

  var rest: Data
  var number = 0

  func formatError(_ message: String) -> RecordedExchange.FormatError {
    RecordedExchange.FormatError(line: max(number, 1), message: message)
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

  /// The fields up to a blank line, or the end.
  mutating func head(of part: Part) throws(RecordedExchange.FormatError) -> Head {
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
        throw formatError("invalid header field: expected \"name: value\"")
      }
      head.fields.append((parts[0].lowercased(), String(parts[1].trimmingPrefix(" "))))
    }
    return head
  }

  private var isAtSeparator: Bool { rest.starts(with: RecordedExchange.separator.utf8) }

  /// The body without the line breaks that were added to it.
  mutating func body(_ head: Head, of part: Part) throws(RecordedExchange.FormatError) -> Data {
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
      throw RecordedExchange.FormatError(line: start + 1, message: "invalid base64")
    }
    return bytes
  }

  private var separatorIndex: Data.Index {
    if isAtSeparator { return rest.startIndex }
    return rest.firstRange(of: Data("\n\(RecordedExchange.separator)".utf8)).map {
      rest.index(after: $0.lowerBound)
    } ?? rest.endIndex
  }

  mutating func outcome() throws(RecordedExchange.FormatError) -> RecordedExchange.Outcome {
    let line = next() ?? ""
    let words = line.split(separator: " ").map(String.init)
    guard words.first == RecordedExchange.separator else {
      throw formatError(
        "missing outcome: expected a line such as \"\(RecordedExchange.separator) HTTP 200\"")
    }
    switch (words.dropFirst().first, words.count) {
    case ("HTTP", 3):
      guard let status = Int(words[2]), 100...999 ~= status else {
        throw formatError("invalid status: must be a number from 100 to 999")
      }
      let head = try head(of: .reply)
      return .reply(
        HTTPResponse(
          status: status, headers: head.fields, body: try body(head, of: .reply)))
    case ("failed", 3):
      guard let code = SourceError.Code(words[2]), code != .cancelled, code != .notRecorded else {
        throw formatError("invalid error code \"\(words[2].oneLine(atMost: 40))\"")
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
      throw formatError(
        "invalid outcome: must be \"HTTP 200\", \"failed timedOut\" or \"silent\"")
    }
  }
}
