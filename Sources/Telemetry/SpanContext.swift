import AggregatorCore

/// The place of a span in a trace (https://www.w3.org/TR/trace-context/).
package struct SpanContext: Hashable, Sendable {
  /// The span to which the running task belongs; `nil` for that of the process.
  @TaskLocal package static var current: SpanContext?

  /// 32 hexadecimal digits.
  let traceID: String
  /// 16 hexadecimal digits.
  let spanID: String
  /// False if who began the trace does not keep it.
  let isSampled: Bool

  /// Parses `00-TRACE-SPAN-FLAGS`; `nil` for any other text, as the recommendation demands.
  package init?(traceparent text: String) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count >= 4, parts[0] != "ff", parts[0] != "00" || parts.count == 4 else {
      return nil
    }
    for (part, count) in zip(parts, [2, 32, 16, 2]) {
      guard part.utf8.count == count,
        part.utf8.allSatisfy({
          UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || UInt8(ascii: "a")...UInt8(ascii: "f") ~= $0
        })
      else { return nil }
    }
    for part in parts[1...2] where part.allSatisfy({ $0 == "0" }) { return nil }
    traceID = String(parts[1])
    spanID = String(parts[2])
    isSampled = (UInt8(parts[3], radix: 16) ?? 0) & 1 == 1
  }

  private init(traceID: String, isSampled: Bool) {
    self.traceID = traceID
    spanID = Self.digits()
    self.isSampled = isSampled
  }

  /// A new span below this one.
  var child: SpanContext { SpanContext(traceID: traceID, isSampled: isSampled) }

  /// The first span of a new trace.
  static var first: SpanContext {
    SpanContext(traceID: digits() + digits(), isSampled: true)
  }

  /// 16 random digits, not all of them 0.
  private static func digits() -> String {
    let text = String(UInt64.random(in: 1 ... .max), radix: 16)
    return String(repeating: "0", count: 16 - text.utf8.count) + text
  }
}
