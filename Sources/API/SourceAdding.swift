package import AggregatorKit
import AggregatorServer
import Synchronization

/// Adds sources to a server that runs: their lists are requested and inferred, shown, and saved when that is asked for.
///
/// Added sources can be removed again.
package final class SourceAdding: Sendable {
  /// Requests the list at a URL, for a source of a name; `hints` have some of the keys of ``SourceAdding/hints``.
  package typealias Propose =
    @Sendable (_ name: String, _ url: String, _ hints: [String: String]) async throws
    -> ProposedSource

  /// The keys by which a request corrects a proposal: the path of the records, and that of the ID in a record.
  package static let hints = ["rows", "id"]

  /// The ways to remove an added source, by its name.
  package struct Removal: Sendable {
    let isPossible: @Sendable (_ name: String) -> Bool
    let data: @Sendable (_ name: String) async throws -> String?
    let remove: @Sendable (_ name: String, _ withData: Bool) async throws -> ProposedSource?

    /// - Parameters:
    ///   - isPossible: True for a source with a manifest of its own.
    ///   - data: Returns its cached data in words; `nil` if there is none.
    ///   - remove: Returns the source as it was, without its data; `nil` if it could not be read.
    package init(
      isPossible: @escaping @Sendable (_ name: String) -> Bool,
      data: @escaping @Sendable (_ name: String) async throws -> String?,
      remove: @escaping @Sendable (_ name: String, _ withData: Bool) async throws -> ProposedSource?
    ) {
      self.isPossible = isPossible
      self.data = data
      self.remove = remove
    }
  }

  private let removal: Removal?
  private let isFree: @Sendable (_ name: String) -> Bool
  private let propose: Propose
  private let state = Mutex(State())

  private struct State {
    var running = 0
    /// The latest ones, which a page may still save.
    var proposals: [Answer] = []
    package var added: [any ServedSource] = []
    /// The names of those that the server began with, and no longer has.
    var removed: Set<String> = []
  }

  /// The time of all requests for a proposal.
  package static let time = Duration.seconds(60)
  private static let maxRunning = 2
  private static let maxProposals = 8

  /// - Parameter isFree: False for a name that no new source can have.
  package init(
    removing removal: Removal? = nil,
    isFree: @escaping @Sendable (_ name: String) -> Bool = { _ in true },
    _ propose: @escaping Propose
  ) {
    self.removal = removal
    self.isFree = isFree
    self.propose = propose
  }

  /// A free name for the source at a URL; empty for what is no URL.
  package func name(for url: String) -> String { SourceName.proposed(for: url, if: isFree) }

  /// A proposal, and the ID by which it can be saved.
  package struct Answer: Sendable {
    package let id: String
    package let proposal: ProposedSource
  }

  package func answer(
    for name: String, at url: String, given hints: [String: String] = [:]
  ) async throws -> Answer {
    let mayRun = state.withLock { state in
      guard state.running < Self.maxRunning else { return false }
      state.running += 1
      return true
    }
    guard mayRun else {
      var problem = Problem(503, "busy", "other sources are being added")
      problem.retryAfter = 5
      throw problem
    }
    defer { state.withLock { $0.running -= 1 } }
    guard !name.isEmpty else {
      throw Problem(422, "invalidRequest", "type a name, as none can be made of the URL")
    }
    do {
      let proposal = try await propose(name, url, hints)
      return keep(proposal)
    } catch {
      var problem = Problem(error)
      // It names an option of the command line.
      if problem.hint?.contains("--") == true { problem.hint = nil }
      // The request was understood, and no service failed: what it names cannot be used.
      let isFailure =
        (error as? SourceError).map { ![.malformed, .rejected].contains($0.code) } ?? false
      if !isFailure && problem.status != 503 || [400, 401, 403, 404, 500].contains(problem.status) {
        problem = Problem(422, problem.code, problem.message, hint: problem.hint)
      }
      throw problem
    }
  }

  private func keep(_ proposal: ProposedSource) -> Answer {
    let answer = Answer(id: .randomHexadecimal(), proposal: proposal)
    state.withLock { state in
      state.proposals = state.proposals.suffix(Self.maxProposals - 1) + [answer]
    }
    return answer
  }

  /// Saves what was found, after which the server has the source.
  package func save(_ id: String) throws -> any ServedSource {
    // Two clicks save it once.
    let answer = state.withLock { state in
      state.proposals.firstIndex { $0.id == id }.map { state.proposals.remove(at: $0) }
    }
    guard let answer else {
      throw Problem(
        409, "invalidRequest", "the server no longer knows what was found",
        hint: "preview the URL again")
    }
    do {
      if let obstacle = answer.proposal.obstacle { throw Problem(422, "partial", obstacle) }
      let source = try answer.proposal.save()
      state.withLock { $0.added.append(source) }
      return source
    } catch {
      state.withLock { $0.proposals.append(answer) }
      throw error
    }
  }

  /// The sources that were saved, in order.
  package var added: [any ServedSource] { state.withLock(\.added) }

  /// The sources of a server that began with others: without those that were removed, and with those that were added.
  package func sources(after first: [any ServedSource]) -> [any ServedSource] {
    let (removed, added) = state.withLock { ($0.removed, $0.added) }
    return first.filter { !removed.contains($0.name) } + added
  }

  /// True for a source that was added, and has a manifest of its own.
  package func mayRemove(_ name: String) -> Bool { removal?.isPossible(name) ?? false }

  /// The cached data of an added source in words, such as `25 cached records and 3 images`; `nil` if there is none.
  package func cachedData(of name: String) async throws -> String? {
    try await removal?.data(name)
  }

  /// - Returns: The ID by which ``save(_:)`` adds it again, without data that was removed; `nil` if that is not
  ///   possible.
  func remove(_ name: String, withData: Bool) async throws -> String? {
    let removed = try await removal?.remove(name, withData)
    state.withLock { state in
      state.added.removeAll { $0.name == name }
      state.removed.insert(name)
    }
    return removed.map { keep($0).id }
  }
}

/// What was inferred from the responses of a service.
package struct ProposedSource: Sendable {
  package struct Evidence: Sendable {
    package let subject: String
    package let value: String
    package let reason: String

    package init(_ subject: String, _ value: String, _ reason: String) {
      self.subject = subject
      self.value = value
      self.reason = reason
    }
  }

  package let name: String
  /// The manifest and the evidence, as `sources add --json` prints them.
  package let document: JSON
  package var evidence: [Evidence]
  /// The first rows, as the service has sent them.
  package var rows: [JSON]
  /// The number of rows of the first response; `nil` if none was read.
  package var rowCount: Int?
  package var warnings: [String]
  /// The values among which a person may choose, by the keys of ``SourceAdding/hints``.
  package var choices: [String: [String]]
  /// True if a second page, or the end after the first, was seen.
  package var isProved: Bool
  /// Why it cannot be used, and what helps; `nil` if it can be saved.
  package var obstacle: String?
  /// Writes the manifest and its secrets, and returns the source.
  package let save: @Sendable () throws -> any ServedSource

  package init(
    _ name: String, _ document: JSON, isProved: Bool,
    save: @escaping @Sendable () throws -> any ServedSource
  ) {
    self.name = name
    self.document = document
    self.isProved = isProved
    self.save = save
    evidence = []
    rows = []
    warnings = []
    choices = [:]
  }

  /// The ``choices`` as JSON.
  var choicesObject: JSON {
    .object(
      SourceAdding.hints.compactMap { key in
        choices[key].map { JSON.Member(key, .array($0.map(JSON.string))) }
      })
  }
}
