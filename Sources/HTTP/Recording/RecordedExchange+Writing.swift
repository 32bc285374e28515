import AggregatorCore
package import Foundation

extension RecordedExchange {
  /// The first line of every recording.
  static let title = "# aggregator recording 1"

  /// How the line begins that ends the request: no line of a body begins like it.
  static let separator = "###"

  /// What is said in front of a body that is no text.
  static let base64Note = "# body: base64"

  /// The exchange as text: a request as in `.http` files, a line with what came of it, the reply.
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
  /// - JSON is indented, token by token. Other text stands as it is, with one line break added.
  /// - What is no text (not UTF-8, control characters, a line that begins with `###`) is base64 in
  ///   lines of 76, announced by `# body: base64`.
  /// - A failure is `### failed timedOut` with the fields `message`, `remedy` and `retry-after` (seconds);
  ///   `### silent` says that nothing came until the caller's deadline.
  package var text: Data {
    let body = BodyText(request.body)
    var text = Data()
    text.append(line: Self.title)
    text.append(line: "# \(time.iso8601)")
    text.append(line: "\(request.method.rawValue) \(request.address)")
    text.append(fields: request.headers, body)
    text.append(line: "")
    if let body {
      text += body.bytes
      text += Data("\n\n".utf8)
    }
    switch outcome {
    case .reply(let response):
      let body = BodyText(response.body)
      text.append(line: "\(Self.separator) HTTP \(response.status)")
      text.append(fields: response.headers, body)
      if let body {
        text.append(line: "")
        text += body.bytes
        text.append(line: "")
      }
    case .failure(let error):
      text.append(line: "\(Self.separator) failed \(error.code)")
      let wait = error.retryAfter.map { "\($0 / .seconds(1))" }
      let fields = [
        ("message", error.message), ("remedy", error.remedy?.text), ("retry-after", wait),
      ]
      text.append(
        fields: fields.compactMap { field in field.1.map { (field.0, $0.oneLine(atMost: 500)) } },
        nil)
    case .silence:
      text.append(line: "\(Self.separator) silent")
    }
    return text
  }
}

/// A body as it is written down.
private struct BodyText {
  var bytes: Data
  var isBase64 = false

  /// Indented JSON is at most so many times as long as what came.
  private static let mostGrowth = 4

  /// `nil` for an empty body.
  init?(_ body: Data) {
    guard !body.isEmpty else { return nil }
    guard let text = String(validating: body, as: UTF8.self), text.isPlain,
      // By bytes, as it is read: to a string, a letter with a mark is another letter.
      !body.starts(with: RecordedExchange.separator.utf8),
      body.firstRange(of: Data("\n\(RecordedExchange.separator)".utf8)) == nil
    else {
      bytes = body.base64EncodedData(options: [.lineLength76Characters, .endLineWithLineFeed])
      isBase64 = true
      return
    }
    let limit = body.count * Self.mostGrowth + 4096
    bytes = JSONFormatter.indented(Array(body), atMost: limit).map { Data($0) } ?? body
  }
}

extension Data {
  fileprivate mutating func append(line: String) { self += Data((line + "\n").utf8) }

  fileprivate mutating func append(fields: [(name: String, value: String)], _ body: BodyText?) {
    for field in fields where field.name.isPlain && field.value.isPlain {
      guard !field.name.isEmpty, !field.value.contains("\n"),
        !field.name.contains(where: \.isNewline)
      else { continue }
      append(line: "\(field.name): \(field.value)")
    }
    if body?.isBase64 == true { append(line: RecordedExchange.base64Note) }
  }
}

extension String {
  /// Whether a terminal and an editor show this as it is: no control characters but tabs and line feeds.
  fileprivate var isPlain: Bool {
    unicodeScalars.allSatisfy {
      $0 == "\n" || $0 == "\t" || $0.value >= 0x20 && !(0x7F...0x9F ~= $0.value)
    }
  }
}
