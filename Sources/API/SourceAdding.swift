package import AggregatorKit
import AggregatorServer
import AggregatorTerminal
import Synchronization

/// Changes the added sources of this machine, as the command line does.
package protocol SourceManagement: Sendable {
  /// False for a name that no new source can have.
  func isFree(_ name: String) -> Bool

  /// Requests the list at a URL, for a source of a name; `hints` have some of the keys of ``SourceAdding/hints``.
  ///
  /// - Parameter isReplacing: True for another URL or paging of the source that has the name, which keeps the rest of its
  ///   manifest if the host is the same.
  func proposal(
    for name: String, at url: String, given hints: [String: String],
    signedBy key: SourceAdding.Key?, isReplacing: Bool
  ) async throws -> ProposedSource

  /// True for a source with a manifest of its own.
  func mayChange(_ name: String) -> Bool

  /// A source as it is, to be saved with other names and paths.
  func proposal(toEdit name: String) throws -> ProposedSource

  /// The data and keys that stay after the removal of a source unless they are removed with it.
  func leftovers(of name: String) async throws -> SourceAdding.Leftovers

  /// - Parameter keys: The keys to remove from the settings file.
  /// - Returns: The source as it was, without data and keys; `nil` if it could not be read.
  func remove(_ name: String, withData: Bool, keys: [String]) async throws -> ProposedSource?

  /// Requests the service of a source with keys, by their settings, which it may reject.
  ///
  /// - Returns: The reason they could not be verified; `nil` if they were.
  func verifyKeys(_ values: [String: String]) async throws -> String?

  /// Saves keys of a source, by their settings; returns the name of the source.
  func saveKeys(_ values: [String: String]) async throws -> String
}

/// Adds sources to a server that runs: their lists are requested and inferred, shown, and saved when that is asked for.
///
/// Added sources can be changed and removed again.
package final class SourceAdding: Sendable {
  /// A key that was typed for the service of a URL; no other host gets it.
  package struct Key: Sendable {
    /// Stands for the key in forms, so that no page has it.
    package let id: String
    /// A header field, perhaps with a scheme, such as `Authorization: Bearer`, or `?` and a query parameter.
    package let place: String
    package let value: String
    fileprivate let origin: Substring
  }

  package static let usualKeyPlace = "Authorization: Bearer"

  /// The keys by which a request corrects a proposal: the path of the records, and that of the ID in a record.
  package static let hints = ["rows", "id"]

  package struct Leftovers: Sendable {
    /// The cached data in words, such as `25 cached records and 3 images`; `nil` for none.
    package var data: String?
    /// The keys in the settings file that no other source has.
    package var keys: [String]

    package init(data: String?, keys: [String]) {
      self.data = data
      self.keys = keys
    }
  }

  package let sources: any SourceManagement
  private let state = Mutex(State())

  private struct State {
    var running = 0
    /// The latest ones, which a page may still save.
    var proposals: [Answer] = []
    /// The latest ones, which a form may name.
    var keys: [Key] = []
  }

  /// The time of all requests for a proposal.
  package static let time = Duration.seconds(60)
  private static let maxRunning = 2
  private static let maxProposals = 8

  package init(_ sources: any SourceManagement) { self.sources = sources }

  /// A free name for the source at a URL; empty for what is no URL.
  package func name(for url: String) -> String { SourceName.proposed(for: url, if: sources.isFree) }

  /// A proposal, and the ID by which it can be saved.
  package struct Answer: Sendable {
    package let id: String
    package let proposal: ProposedSource
  }

  package func answer(
    for name: String, at url: String, given hints: [String: String] = [:],
    signedBy key: Key? = nil, isReplacing: Bool = false
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
      return keep(
        try await sources.proposal(
          for: name, at: url, given: hints, signedBy: key, isReplacing: isReplacing))
    } catch { throw Self.refusal(of: error) }
  }

  /// The problem of what cannot be saved as it was typed.
  private static func refusal(of error: any Error) -> Problem {
    var problem = Problem(error)
    // It names an option of the command line.
    if !(error is Problem), problem.hint?.contains("--") == true { problem.hint = nil }
    // The request was understood, and no service failed: what it names cannot be used.
    let isFailure =
      (error as? SourceError).map { ![.malformed, .rejected].contains($0.code) } ?? false
    if !isFailure && problem.status != 503 || [400, 401, 403, 404, 500].contains(problem.status) {
      let place = problem.keyPlace
      problem = Problem(422, problem.code, problem.message, hint: problem.hint)
      problem.keyPlace = place
    }
    return problem
  }

  /// A key for a URL: one that was typed, or the value of an earlier one of the same origin, by its ID.
  package func key(_ typed: String?, in place: String?, orOf id: String?, for url: String) -> Key? {
    guard let origin = url.prefixMatch(of: /https?:\/\/[^\/?#]+/)?.output else { return nil }
    let earlier = id.flatMap { id in
      state.withLock { $0.keys.first { $0.id == id && $0.origin == origin } }
    }
    guard let value = typed?.nonBlank?.trimmed ?? earlier?.value else { return nil }
    let key = Key(
      id: .randomHexadecimal(),
      place: place?.nonBlank?.trimmed ?? earlier?.place ?? Self.usualKeyPlace,
      value: value, origin: origin)
    state.withLock { $0.keys = $0.keys.suffix(Self.maxProposals - 1) + [key] }
    return key
  }

  private func keep(_ proposal: ProposedSource) -> Answer {
    let answer = Answer(id: .randomHexadecimal(), proposal: proposal)
    state.withLock { state in
      state.proposals = state.proposals.suffix(Self.maxProposals - 1) + [answer]
    }
    return answer
  }

  /// Saves what was found, or the changed source, which the server then finds in its folder; returns its name.
  func save(_ id: String, _ edits: ProposedSource.Edits) async throws -> String {
    // Two clicks save it once.
    let answer = state.withLock { state in
      state.proposals.firstIndex { $0.id == id }.map { state.proposals.remove(at: $0) }
    }
    guard let answer else {
      throw Problem(
        409, "invalidRequest", "the server no longer knows what was found",
        hint: "preview the URL, or edit the source, again")
    }
    do {
      if let obstacle = answer.proposal.obstacle { throw Problem(422, "partial", obstacle) }
      return try await answer.proposal.save(edits)
    } catch {
      state.withLock { $0.proposals.append(answer) }
      let isTyped = error is CommandError || (error as? SourceError)?.code == .invalidSettings
      throw isTyped ? Self.refusal(of: error) : error
    }
  }

  /// The proposal with this ID, of a new source or a changed one; `nil` if the server no longer knows it.
  package func answer(by id: String) -> Answer? {
    state.withLock { $0.proposals.first { $0.id == id } }
  }

  /// The name of one of the sources that can be changed, of the list at the URL of a manifest; `nil` if there is none.
  package func name(ofSourceLike manifest: JSON?, among names: [String]) -> String? {
    guard let url = manifest?["url"] else { return nil }
    return names.first { name in
      sources.mayChange(name)
        && (try? sources.proposal(toEdit: name))?.document["manifest"]?["url"] == url
    }
  }

  /// A source as it is, and the ID by which it is saved with other names and paths.
  package func edit(_ name: String) throws -> Answer { keep(try sources.proposal(toEdit: name)) }

  /// - Returns: The ID by which ``save(_:_:)`` adds it again, without what was removed with it; `nil` if that is not
  ///   possible.
  func remove(_ name: String, withData: Bool, keys: [String]) async throws -> String? {
    try await sources.remove(name, withData: withData, keys: keys).map { keep($0).id }
  }

  package func verifyKeys(_ values: [String: String]) async throws -> String? {
    do { return try await sources.verifyKeys(values) } catch { throw Self.refusal(of: error) }
  }

  func saveKeys(_ values: [String: String]) async throws -> String {
    do { return try await sources.saveKeys(values) } catch { throw Self.refusal(of: error) }
  }
}

/// A source inferred from the responses of a service.
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

  /// The changes of a person to what was found.
  package struct Edits: Sendable {
    /// The path of the title in a record, empty for none; `nil` to leave it.
    package var title: String?
    /// The paths of the URLs of the web page and the picture of a record, empty for none; `nil` to leave them.
    package var link, image: String?
    /// The names of fields by their paths, empty for a field to leave out; `nil` to leave them.
    package var names: [String: String]?
    /// The path of the ID in a record; `nil` to leave it.
    package var id: String?
    /// The name of the source; `nil` to leave it.
    package var name: String?

    package init() {}
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
  /// The reason it cannot be used, and what helps; `nil` if it can be saved.
  package var obstacle: String?
  /// The name of the source that it changes; `nil` if it is another one.
  package var edited: String?
  /// The settings of the keys of the source that it changes.
  package var keys: [String] = []
  /// Writes the manifest and its secrets, and returns the name of the source.
  package let save: @Sendable (Edits) async throws -> String

  package init(
    _ name: String, _ document: JSON, isProved: Bool,
    save: @escaping @Sendable (Edits) async throws -> String
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
