public import AggregatorCore
import AggregatorFoundation
import AggregatorText

/// A rule that recognises a failure, or the end of a list, that the status of a response does not tell.
///
/// ```swift
/// source.handlingErrors(by: [
///   ErrorRule(.end, status: 422, at: "error.code", equals: "too_deep"),
///   ErrorRule(.retry, at: "status", equals: "pending"),
/// ])
/// ```
public struct ErrorRule: Hashable, Sendable {
  /// The outcome of a call to whose response a rule applies.
  public struct Action: Hashable, Sendable {
    private enum Name: String, CaseIterable { case fail, retry, wait, end, skip }
    private let name: Name

    /// The call fails with `rejected`, or with `invalidKey` if the status says so and a key was sent.
    public static let fail = Action(name: .fail)
    /// The call fails with `serverError`, as for the status 503: it is retried a few times.
    public static let retry = Action(name: .retry)
    /// The call fails with `rateLimited`, as for the status 429: calls pause for as long as `Retry-After` says, and a sync that
    /// waits goes on then, or after growing pauses.
    public static let wait = Action(name: .wait)
    /// The list is complete here, whatever total the service names.
    ///
    /// Rows of a successful response are the last. The response to the request of a single record is read as without the
    /// rule.
    public static let end = Action(name: .end)
    /// The list of this partition ends here, with a warning in the service's words, and what is known of its records stays.
    ///
    /// Only a source with partitions may have it. The response to the request of a single record is read as without the
    /// rule.
    public static let skip = Action(name: .skip)

    private init(name: Name) { self.name = name }

    /// The action of this name; `nil` if there is none.
    package init?(_ description: String) {
      guard let name = Name(rawValue: description) else { return nil }
      self.name = name
    }

    package static var names: [String] { Name.allCases.map(\.rawValue) }

    package var description: String { name.rawValue }
  }

  package let action: Action

  /// The status of the response; `nil` for any.
  package let status: Int?

  /// The path to a value of the body; `nil` for any body.
  package let path: [JSONPathComponent]?

  /// The value there, null also for none; `nil` for any but null.
  package let value: JSON?

  /// The path to the service's own words; `nil` to look for them.
  package let message: [JSONPathComponent]?

  package init(
    _ action: Action, status: Int?, path: [JSONPathComponent]?, equals value: JSON?,
    message: [JSONPathComponent]?
  ) {
    self.action = action
    self.status = status
    self.path = path
    self.value = value
    self.message = message
  }

  /// Creates a rule, with a status, a member or both.
  ///
  /// Members are the names that lead to them, with dots between them, a number for a position in a list, and `*` for each
  /// element.
  ///
  /// - Parameters:
  ///   - action: The effect on the call.
  ///   - status: The status of the response; `nil` for any.
  ///   - member: A member of the JSON body; `nil` for any body.
  ///   - value: Its value, which may be any of several members, and null if it is missing; `nil` for any but null.
  ///   - message: The member with the service's own words; `nil` for the usual ones.
  public init(
    _ action: Action, status: Int? = nil, at member: String? = nil, equals value: JSON? = nil,
    message: String? = nil
  ) {
    precondition(status != nil || member != nil, "a rule for every response")
    self.init(
      action, status: status, path: member?.components, equals: value, message: message?.components)
  }

  fileprivate func accepts(_ document: JSON, at path: [JSONPathComponent]) -> Bool {
    let values = path.values(in: document)
    guard let value else { return values.contains { $0 != .null } }
    return value == .null ? values.allSatisfy { $0 == .null } : values.contains(value)
  }
}

/// A response to which a rule applies.
struct RuledResponse {
  let rule: ErrorRule
  let response: HTTPResponse
  /// The body; `nil` if it is not JSON, or if the rule does not depend on it.
  fileprivate let document: JSON?

  /// The first rule that applies; `nil` if none does.
  init?(_ response: HTTPResponse, by rules: [ErrorRule]) {
    lazy var document = JSONText(response.body).map { JSON($0) }
    let rule = rules.first { rule in
      guard rule.status ?? response.status == response.status else { return false }
      guard let path = rule.path else { return true }
      return document.map { rule.accepts($0, at: path) } ?? false
    }
    guard let rule else { return nil }
    self.rule = rule
    self.response = response
    self.document = document
  }

  /// True if a successful response has a list of objects that neither the rule nor an error accounts for.
  var mayHaveRows: Bool {
    guard 200..<300 ~= response.status, let text = JSONText(response.body) else { return false }
    var names = ["error", "errors"]
    if case .member(let name)? = rule.path?.first { names.append(name) }
    guard case .object(let members) = JSON(text) else { return JSON(text).hasRows }
    return members.contains { !names.contains($0.name) && $0.value.hasRows }
  }

  /// The error that the rule makes of the response; `nil` for the end of a list.
  func failure(by service: String, wantsKey: Bool, now: Date) -> SourceError? {
    [.end, .skip].contains(rule.action) ? nil : report(by: service, wantsKey: wantsKey, now: now)
  }

  /// The response as an error, with the service's own words.
  func report(by service: String, wantsKey: Bool, now: Date) -> SourceError {
    let code: SourceError.Code
    let report: String
    switch rule.action {
    case .retry: (code, report) = (.serverError, "is not ready")
    case .wait: (code, report) = (.rateLimited, "asks to wait")
    default:
      let isKeyRefused = wantsKey && [401, 407].contains(response.status)
      (code, report) = (isKeyRefused ? .invalidKey : .rejected, "reports an error")
    }
    let named = rule.message.flatMap { path in
      document.flatMap { path.values(in: $0).lazy.compactMap(\.words).first }
    }
    let words = (named ?? document?.errorWords ?? response.summary)?.oneLine(atMost: 120)
    let status = 200..<300 ~= response.status ? "" : " (\(response.status))"
    let wait = code == .serverError || code == .rateLimited ? response.retryAfter(from: now) : nil
    return SourceError(
      code, "\(service) \(report)\(status)" + (words.map { ": \"\($0)\"" } ?? ""),
      remedy: wait.map { "retry in \($0.text)" }, retryAfter: wait)
  }
}

extension JSON {
  /// True if a list of objects is somewhere in it.
  fileprivate var hasRows: Bool {
    switch self {
    case .array(let elements):
      elements.contains { if case .object = $0 { true } else { $0.hasRows } }
    case .object(let members): members.contains { $0.value.hasRows }
    default: false
    }
  }
}

extension String {
  /// The components of names with dots between them.
  fileprivate var components: [JSONPathComponent] {
    split(separator: ".").map { $0 == "*" ? .each : .member(String($0)) }
  }
}
