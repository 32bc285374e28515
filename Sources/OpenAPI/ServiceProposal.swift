package import AggregatorKit
package import DeclaredSource

/// The lists of a service as a document describes them, each proved by requests, and what is known of the others.
package struct ServiceProposal: Sendable {
  /// A list that was requested.
  package struct List: Sendable {
    /// The name after that of the service.
    package let name: String
    package let path: String
    /// What was found out; the error of its first request, if that failed.
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

  /// The number of paths that have no list which `GET` reads.
  package let otherCount: Int

  /// What a person should know of signing in.
  package let note: String?

  /// What all lists have: `headers`, `auth`, `rate` and the like.
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

  /// The longest name of a list: that of its source has 32 characters.
  fileprivate var maxName: Int { 32 - name.count - 1 }
}

/// The lists that a document describes, before any of them is requested.
package struct DescribedService: Sendable {
  package let name: String
  package let base: String
  package let note: String?
  fileprivate let common: [JSON.Member]
  fileprivate let found: DocumentedLists

  fileprivate let otherCount: Int

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
    let known = Set(request.members.map(\.name))
    var signIn = SignIn.none
    if known.isDisjoint(with: ["headers", "auth"]), request.query.isEmpty {
      signIn = try document.signIn(at: base) { part in
        let plain = "\(request.name)_\(part)".uppercased().replacing(/[^A-Z0-9]+/, with: "_")
        let others = (2...).lazy.map { "\(plain)_\($0)" }
        let free =
          request.taken.contains(plain)
          ? others.first { !request.taken.contains($0) } : plain
        return "${\(free ?? plain)}"
      }
    }
    note = signIn.note
    signIn.query = request.query + signIn.query
    var common = request.members
    if !signIn.headers.isEmpty { common.append(.init("headers", .object(signIn.headers))) }
    if let auth = signIn.auth { common.append(.init("auth", auth)) }
    self.common = common
    if let headers = common.first(where: { $0.name == "headers" }) {
      signIn.headers = headers.value.members
    }
    var found = try document.lists(
      of: base, with: signIn, only: request.only, maxName: request.maxName)
    let items = found.lists.count { $0.hints.contains { $0.name == "item" } }
    otherCount =
      found.pathCount - found.lists.count - found.leftOut.count - found.nested.count - items
    if let only = request.only {
      let names = found.lists.map(\.name)
      for name in only where !names.contains(name) {
        let shown = name.oneLine(atMost: 40)
        throw SourceError(
          .invalidRequest, "the document has no list \"\(shown)\"",
          remedy: nearest(to: name, in: names).map { "did you mean \"\($0)\"?" }
            ?? "it has \(names.prefix(10).joined(separator: ", "))")
      }
      found.lists.removeAll { !only.contains($0.name) }
      (found.leftOut, found.nested) = ([], [])
    }
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
    for list in found.lists.dropFirst(Self.maxLists) {
      found.leftOut.append(
        (list.path, "is beyond \(Self.maxLists) lists: name it, \(list.name), by --only"))
    }
    found.lists = Array(found.lists.prefix(Self.maxLists))
    self.found = found
  }

  /// A manifest for each list, of which secrets can be told.
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
  /// - Throws: ``SourceError`` that holds for all lists: `cancelled`, `rateLimited`, and before any list was read, that
  ///   the service cannot be reached, or does not accept the key.
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
    for list in service.found.lists {
      let hints = service.hints(of: list)
      report(list.name)
      do throws(SourceError) {
        let proposal: Proposal
        if isTold {
          proposal = try Proposal(of: hints, describedBy: list.description, in: environment)
        } else {
          proposal = try await Proposal(
            for: "\(service.name)-\(list.name)", from: hints, describedBy: list.description,
            in: environment)
        }
        lists.append(List(name: list.name, path: list.path, result: .success(proposal)))
      } catch {
        let isOfService = [.unreachable, .offline, .invalidKey, .missingKey].contains(error.code)
        let hasRead = lists.contains { (try? $0.result.get()) != nil }
        guard ![.cancelled, .rateLimited].contains(error.code),
          !(isOfService && !hasRead)
        else { throw error }
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
          return JSON.Member(
            "headers", .object(member.value.members.filter { !common.contains($0) }))
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
