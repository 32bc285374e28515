public import AggregatorCore
import AggregatorFoundation
import AggregatorText

extension HTTPResponse {
  /// A failure that the body reports although the status means success; `nil` if it reports none.
  ///
  /// That is `ok` or `success` that is false, or a `status` such as `error`; a GraphQL `errors` that is not empty
  /// (https://spec.graphql.org/October2021/#sec-Errors); and, of a response without rows, an `error` that is neither
  /// null, false, empty nor `OK`, which Comic Vine sends with every success.
  ///
  /// The message has the service's own words. The code is `rejected`, or `rateLimited` if they say so.
  public func reportedFailure(by service: String, hasRows: Bool) -> SourceError? {
    guard !hasRows || mayReportFailure, let text = JSONText(body) else { return nil }
    let envelope = JSON(text)
    guard case .object = envelope else { return nil }
    let isDenied = ["ok", "success"].contains { envelope[$0] == .bool(false) }
    let isNamed = ["error", "fail", "failed", "failure"].contains(envelope["status"]?.words ?? "")
    let errors = envelope["errors"]?.words
    let isError = !hasRows && (isNamed || envelope["error"]?.words != nil)
    guard isDenied || errors != nil || isError else { return nil }
    let words =
      ["error", "errors", "message", "detail"].lazy.compactMap { envelope[$0]?.words }.first
      ?? "no reason given"
    let line = words.oneLine(atMost: 120)
    let isLimit = words.contains(/(?i)rate.?limit|too many requests/)
    return SourceError(
      isLimit ? .rateLimited : .rejected, "\(service) reports an error: \(line)",
      remedy: isLimit ? "try again later" : nil)
  }

  /// False if neither the beginning nor the end of the body, where the members beside the rows are, has a word that
  /// matters: reading the whole body again would take as long as the first time.
  private var mayReportFailure: Bool {
    let (head, tail) = (body.prefix(2048), body.suffix(2048))
    return [#""ok""#, #""success""#, #""errors""#].contains { word in
      let bytes = Data(word.utf8)
      return head.firstRange(of: bytes) != nil || tail.firstRange(of: bytes) != nil
    }
  }
}

extension JSON {
  /// The text of a member that names an error; `nil` if it says that there is none.
  fileprivate var words: String? {
    switch self {
    case .null, .bool(false), .integer(0): nil
    case .bool, .integer, .number: text
    case .string(let text): ["", "ok"].contains(text.trimmed.lowercased()) ? nil : text
    case .array(let elements): elements.lazy.compactMap(\.words).first
    case .object(let members):
      ["message", "detail", "title", "description", "error", "code"].lazy
        .compactMap { self[$0]?.words }.first
        ?? members.lazy.compactMap(\.value.words).first
    }
  }
}
