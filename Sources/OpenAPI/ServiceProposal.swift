package import AggregatorInference
package import AggregatorKit
import DeclaredSource

/// The lists of a service as a document describes them, each proved by requests, and what is known of the others.
package struct ServiceProposal: Sendable {
  /// A list that was requested.
  package struct List: Sendable {
    /// The name after that of the service.
    package let name: String
    package let path: String
    /// The findings; the error of its first request, if that failed.
    package let result: Result<Proposal, SourceError>

    /// True if its manifest can be saved, proved or not.
    package var isComplete: Bool { (try? result.get().isComplete) ?? false }
    package var isProved: Bool { (try? result.get().isProved) ?? false }
  }

  /// The URL of the service.
  package let base: String
  package private(set) var lists: [List] = []

  /// Paths whose lists cannot be read, and why.
  package let leftOut: [(path: String, reason: String)]

  /// Paths whose lists belong to a record of another list, which are not read either.
  package let nested: [String]

  /// The names of lists beyond those that a file can have, which can be chosen instead.
  package let excess: [String]

  /// The number of paths that have no list which `GET` reads.
  package let otherCount: Int

  /// A note on signing in, for people.
  package let note: String?

  /// The members that all lists have: `headers`, `auth`, `rate` and the like.
  private let common: [JSON.Member]
}

/// How a service is added from its document.
package struct ServiceRequest: Sendable {
  package let name: String

  /// The URL of the service; `nil` for the one that the document names.
  package var url: String?

  /// Members of all manifests, which come before what the document says: `headers`, `auth`, `rate`, `timeout`.
  package var members: [JSON.Member] = []

  /// Items of the query of all requests.
  package var query: [String] = []

  /// The names of the wanted lists; `nil` for all.
  package var only: [String]?

  /// The names of settings that belong to others.
  package var taken: Set<String> = []

  package init(name: String) { self.name = name }

  /// The longest name of a service, so that something is left for those of its lists.
  package static let maxName = 20

  /// The longest name of a list: that of its source has 32 characters.
  fileprivate var maxListName: Int { max(32 - name.count - 1, 1) }

  fileprivate var headers: [JSON.Member] {
    members.first { $0.name == "headers" }?.value.members ?? []
  }

  /// True if requests have secrets already.
  fileprivate var isSigned: Bool {
    members.contains { $0.name == "auth" }
      || (headers.map(\.value.text) + query).contains { $0.contains("${") }
  }

  /// A setting of the service that has no other meaning, as `${NAME}`.
  fileprivate func setting(for part: String) -> String {
    let plain = "\(name)_\(part)".uppercased().replacing(/[^A-Z0-9]+/, with: "_")
    let others = (2...).lazy.map { "\(plain)_\($0)" }
    let free = taken.contains(plain) ? others.first { !taken.contains($0) } : plain
    return "${\(free ?? plain)}"
  }
}

/// The lists that a document describes, before any of them is requested.
package struct DescribedService: Sendable {
  package let name: String
  package let base: String
  package let note: String?
  fileprivate let common: [JSON.Member]
  fileprivate let found: DocumentedLists

  fileprivate let otherCount: Int

  /// The names of lists that are more than a file can have.
  fileprivate let excess: [String]

  /// The names of the lists, in the order of the document.
  package var names: [String] { found.lists.map(\.name) }

  /// The most lists of a file.
  private static let maxLists = 64

  /// Finds the lists of a document.
  ///
  /// - Throws: ``SourceError``: `malformed` if the document has no list that can be read, or names no service;
  ///   `rejected` if the service is on another host than the document, and not allowed.
  package init(_ document: OpenAPIDocument, for request: ServiceRequest) throws(SourceError) {
    name = request.name
    base = try document.base(orGiven: request.url)
    // Who signs in in a way of their own does not need that of the document.
    var signIn =
      request.isSigned ? .none : try document.signIn(at: base) { request.setting(for: $0) }
    note = signIn.note
    signIn.query = request.query + signIn.query
    signIn.headers = request.headers + signIn.headers
    var common = request.members.filter { $0.name != "headers" }
    if !signIn.headers.isEmpty { common.append(.init("headers", .object(signIn.headers))) }
    if let auth = signIn.auth { common.append(.init("auth", auth)) }
    self.common = common
    var found = try document.lists(
      of: base, with: signIn, only: request.only, maxName: request.maxListName)
    let items = found.lists.count { $0.hints.contains { $0.name == "item" } }
    otherCount =
      found.pathCount - found.lists.count - found.leftOut.count - found.nested.count - items
    if let only = request.only { try found.choose(only) }
    guard !found.lists.isEmpty else {
      var reasons = found.leftOut.prefix(3).map { "\($0.path.oneLine(atMost: 60)) \($0.reason)" }
      if let path = found.nested.first {
        reasons.append("\(path.oneLine(atMost: 60)) is one list for each of another")
      }
      throw SourceError(
        .malformed,
        "none of the \(found.pathCount.of("path")) of the document is a list that GET reads",
        remedy: reasons.isEmpty
          ? "add a list by its URL: sources add \(request.name) URL"
          : "add a list by its URL; \(reasons.joined(separator: "; "))")
    }
    excess = found.lists.dropFirst(Self.maxLists).map(\.name)
    found.lists = Array(found.lists.prefix(Self.maxLists))
    self.found = found
  }

  /// A manifest for each list, which names the secrets.
  package var hints: [JSON] { found.lists.map { hints(of: $0) } }

  fileprivate func hints(of list: DocumentedList) -> JSON {
    let names = Set(list.hints.map(\.name))
    return .object(list.hints + common.filter { !names.contains($0.name) })
  }
}

extension ServiceProposal {
  /// Requests each list of a service, and proves what the document says of it.
  ///
  /// - Parameters:
  ///   - isTold: True to take the document's word, and send nothing.
  ///   - report: Called before each list.
  /// - Throws: ``SourceError``: `cancelled`, and before any list was read, what holds for all of them: that the service
  ///   cannot be reached, does not accept the key, or accepts no requests for now.
  package init(
    _ service: DescribedService, isTold: Bool, in environment: PluginEnvironment,
    reporting report: (String) -> Void = { _ in }
  ) async throws(SourceError) {
    base = service.base
    note = service.note
    common = service.common
    leftOut = service.found.leftOut
    nested = service.found.nested
    otherCount = service.otherCount
    excess = service.excess
    var previous: Proposal?
    var pause: SourceError?
    for list in service.found.lists {
      let hints = service.hints(of: list)
      report(list.name)
      do throws(SourceError) {
        // More requests would make a rate limit worse.
        if let pause { throw pause }
        let proposal: Proposal
        if isTold {
          proposal = try Proposal(of: hints, describedBy: list.description, in: environment)
        } else {
          proposal = try await Proposal(
            for: "\(service.name)-\(list.name)", from: hints, describedBy: list.description,
            after: previous, in: environment)
        }
        previous = proposal
        lists.append(List(name: list.name, path: list.path, result: .success(proposal)))
      } catch {
        let ofService: [SourceError.Code] = [
          .unreachable, .offline, .invalidKey, .missingKey, .rateLimited,
        ]
        let isOfService = previous == nil && ofService.contains(error.code)
        guard error.code != .cancelled, !isOfService else { throw error }
        if error.code == .rateLimited { pause = error }
        lists.append(List(name: list.name, path: list.path, result: .failure(error)))
      }
    }
  }

  /// The file of the service: the lists that are proved, or all that can be read.
  package func json(includingUnproved: Bool) -> JSON {
    let shared = Dictionary(common.map { ($0.name, $0.value) }) { first, _ in first }
    let resources = lists.compactMap { list -> JSON.Member? in
      guard list.isProved || includingUnproved && list.isComplete,
        let manifest = try? list.result.get().json
      else { return nil }
      let members = manifest.members.compactMap { member -> JSON.Member? in
        if member.value == shared[member.name] { return nil }
        if member.name == "headers" {
          let common = shared["headers"]?.members ?? []
          let own = member.value.members.filter { !common.contains($0) }
          return own.isEmpty ? nil : JSON.Member("headers", .object(own))
        }
        guard ["url", "item"].contains(member.name), let url = member.value.string,
          url.hasPrefix("\(base)/") || url.hasPrefix("\(base)?") || url == base
        else { return member }
        let path = url.dropFirst(base.count)
        return JSON.Member(member.name, .string(path.isEmpty ? "/" : String(path)))
      }
      return JSON.Member(list.name, .object(members))
    }
    return [
      "service": .object([JSON.Member("base", .string(base))] + common),
      "resources": .object(resources),
    ]
  }
}

extension DocumentedLists {
  /// Leaves out what was not asked for.
  fileprivate mutating func choose(_ wanted: [String]) throws(SourceError) {
    let names = lists.map(\.name)
    for name in wanted where !names.contains(name) {
      throw SourceError(
        .invalidRequest, "the document has no list \"\(name.oneLine(atMost: 40))\"",
        remedy: nearest(to: name, in: names).map { "did you mean \"\($0)\"?" }
          ?? "it has \(names.prefix(10).joined(separator: ", "))")
    }
    lists.removeAll { !wanted.contains($0.name) }
    (leftOut, nested) = ([], [])
  }
}
