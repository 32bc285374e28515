package import AggregatorKit
import DeclaredSource

/// A list as the documentation of a service describes it, for what its responses do not show; each part is proved by
/// requests before it counts.
package struct ListDescription: Sendable {
  /// A parameter of the query.
  package struct Parameter: Sendable {
    package let name: String
    /// The number that it has without being sent, or the smallest one.
    package let start: Int?

    package init(name: String, start: Int?) {
      self.name = name
      self.start = start
    }
  }

  /// A made-up response with two rows.
  package let response: JSON

  /// True if responses have a header field `Link`.
  package let hasNextLink: Bool

  package let parameters: [Parameter]

  package init(response: JSON, hasNextLink: Bool, parameters: [Parameter]) {
    self.response = response
    self.hasNextLink = hasNextLink
    self.parameters = parameters
  }

  /// True for the name of a parameter that is the page size.
  package static func isSize(_ name: String) -> Bool { Exchange.isSize(name) }

  /// True if the response has a list of records, not the parts of a single one.
  package func hasRows(at path: String) -> Bool {
    rows(at: URL(string: "http://localhost/\(path.filter { !"{}#?".contains($0) })")) != nil
  }

  // MARK: - As the inference sees it

  /// Names of members that a record has, and the envelope of a list does not.
  private static let ofRecords: Set<String> = [
    "id", "uuid", "guid", "key", "name", "slug", "title", "email", "login", "username", "self",
  ]

  private func exchange(_ url: URL?) -> Exchange {
    Exchange(
      url: url ?? URL(filePath: "/"), body: nil,
      headers: hasNextLink ? [("link", "<https://www.example/2>; rel=\"next\"")] : [],
      document: response)
  }

  private func rows(at url: URL?) -> RowsCandidate? {
    exchange(url).rowsCandidates().first { candidate in
      let names = candidate.path.path.components
      // Deeper lists, and those of a record, are parts of it.
      return !candidate.rows.isEmpty && !candidate.path.isEntries && names.count <= 2
        && names.indices.allSatisfy { end in
          let parent = JSONPath(Array(names[..<end])).value(in: response)
          return !(parent?.members ?? []).contains {
            Self.ofRecords.contains(normalized($0.name)) && !$0.value.isObject
          }
        }
    }
  }

  /// Where the rows are, and what they are.
  func rows(of manifest: Manifest) -> RowsCandidate? { rows(at: URL(string: manifest.url)) }

  /// The paths whose values identify a row; empty if none does.
  func id(of manifest: Manifest) -> [JSONPath] {
    let noun = manifest.noun
    return rows(of: manifest).flatMap { IDInference(rows: $0.rows, noun: noun).best } ?? []
  }

  /// The ways in which the list may continue, by the parameters that it has and what its responses say.
  func candidates(of manifest: Manifest) -> [PagingCandidate] {
    guard let rows = rows(of: manifest) else { return [] }
    let inference = PagingInference(
      exchange: exchange(URL(string: manifest.url)), rows: rows.path.path,
      rowCount: rows.rows.count, id: nil)
    return inference.candidates.compactMap { candidate in
      guard let step = described(candidate.step) else { return nil }
      let isSaid = step.next != nil
      let words = step.members.map(\.value).joined(separator: ", ")
      return PagingCandidate(
        step: step, evidence: "described: \(words)", isSaid: isSaid, isDescribed: true)
    }
  }

  /// A step whose parameter is one of the list, with its first value.
  private func described(_ step: Manifest.Paging.Step) -> Manifest.Paging.Step? {
    func start(of name: String, or standard: Int) -> Manifest.Parameter? {
      parameters.first { $0.name == name }.map { .init(name: name, value: $0.start ?? standard) }
    }
    return switch step {
    case .link: step
    case .token(let name, _, _): start(of: name, or: 0).map { _ in step }
    case .page(let parameter): start(of: parameter.name, or: 1).map { .page($0) }
    case .offset(let parameter): start(of: parameter.name, or: 0).map { .offset($0) }
    }
  }
}

extension HTTPResponse {
  /// A document that describes a service.
  ///
  /// - Parameters:
  ///   - limit: The most bytes.
  ///   - hints: A manifest whose header fields and `auth` are sent if the service refuses the document without; `nil`
  ///     for none.
  /// - Returns: The response, and whether it was refused without credentials.
  /// - Throws: ``SourceError`` of the request.
  package static func document(
    at address: URL, atMost limit: Int, signingIn hints: JSON?, in environment: PluginEnvironment
  ) async throws(SourceError) -> (response: HTTPResponse, isSigned: Bool) {
    let service = Address(address)?.authority ?? ""
    var request = HTTPRequest(.get, address)
    request.headers = [.init("Accept", "application/json, application/yaml, */*;q=0.5")]
    request.limits.bodyBytes = limit
    try request.limits.bound(to: request.limits.overall)
    let response = try await environment.transport.send(request)
    let isRefused = [401, 403].contains(response.status)
    guard isRefused, let hints else {
      do {
        return (try response.checked(by: service, wantsKey: false, now: environment.now()), false)
      } catch {
        guard isRefused else { throw error }
        throw SourceError(
          error.code, error.message,
          remedy: "give the document's credentials by --header or --basic")
      }
    }
    let manifest = try Manifest(reading: Data(hints.text.utf8))
    let known = DeclaredPlugin("", manifest).settings
    var signed = try manifest.request(manifest.url, in: environment.settings, knowing: known)
    signed.limits = request.limits
    let answer = try await manifest.authorized(environment).transport.send(signed)
    return (try answer.checked(by: service, wantsKey: true, now: environment.now()), true)
  }
}
