import AggregatorKit
import Foundation

/// A check of the program's answers about a ``LyingService``: each has all records, or says that it does not.
package struct TruthTrial: Sendable {
  /// The end of a run of the program.
  package struct Outcome: Sendable {
    package var status: Int32
    package var output: String
    package var errors: String

    package init(status: Int32, output: String, errors: String) {
      (self.status, self.output, self.errors) = (status, output, errors)
    }
  }

  /// Runs the program with arguments in one of ``homes`` homes, where the manifest `lamps` is.
  package typealias Program = @Sendable (_ arguments: [String], _ home: Int) async throws -> Outcome

  package static let homes = 3

  /// How an answer that lacks records says so.
  private enum Claim {
    /// By the exit code.
    case failure
    /// By the exit code or a warning.
    case warning
  }

  private let service: LyingService
  private let program: Program
  private var faults: [String] = []

  /// The untrue answers about a service, in words.
  package static func faults(
    of service: LyingService, running program: @escaping Program
  ) async throws -> [String] {
    var trial = TruthTrial(service, program)
    try await trial.run()
    return trial.faults
  }

  private init(_ service: LyingService, _ program: @escaping Program) {
    (self.service, self.program) = (service, program)
  }

  private mutating func run() async throws {
    let isHonest = service.lie == .none
    try await check(
      ["lamps", "list", "--all", "--json", "--no-fallback", "--refresh"],
      // A list goes on without a row that cannot be read.
      service.lie == .rowWithoutID ? .warning : .failure)
    let sync = try await program(["lamps", "sync", "--json"], 0)
    let entry = JSON(reading: Data(sync.output.utf8))?["items"]
    let claimsAll =
      if case .array(let entries)? = entry { entries.first?["complete"] == true } else { false }
    if claimsAll != (sync.status == 0) {
      note("sync", sync, "its exit code and \"complete\" differ")
    }
    try await check(["lamps", "list", "--all", "--offline", "--json"], .warning)
    let sql = try await program(["sql", "SELECT id FROM lamps", "--json"], 0)
    if !ids(sql).isSuperset(of: LyingService.ids), !says(sql, .warning) {
      note("sql", sql, "has \(ids(sql).count) of \(LyingService.count)")
    }
    // They read the same pages and records, whatever the service says beside them.
    if service.extra == .nothing {
      try await check(["lamps", "search", "lamp", "--all", "--json"], .warning)
      let export = try await program(["export", "lamps", "-o", "lamps.csv"], 0)
      if !export.errors.contains("(\(LyingService.count) lamps)"), !says(export, .warning) {
        note("export", export, "saves less")
      }
      // Of a list that only a sync has read, no page is cached.
      _ = try await program(["lamps", "sync", "--json"], 2)
      try await check(["lamps", "list", "--all", "--offline", "--json"], .warning, home: 2)
    }
    if isHonest, sync.status != 0 || !sync.errors.isEmpty { note("sync", sync, "cries wolf") }
    try await checkRemovals()
  }

  /// After an honest sync, two others remove nothing.
  private mutating func checkRemovals() async throws {
    service.isHonest = true
    let first = try await program(["lamps", "sync", "--json"], 1)
    if first.status != 0 { note("honest sync", first, "fails") }
    service.isHonest = false
    for _ in 0..<2 { _ = try await program(["lamps", "sync", "--json"], 1) }
    let list = try await program(["lamps", "list", "--all", "--offline", "--json"], 1)
    let missing = Set(LyingService.ids).subtracting(ids(list))
    if !missing.isEmpty { note("second sync", list, "removes \(missing.count) records") }
  }

  private mutating func check(
    _ arguments: [String], _ claim: Claim, home: Int = 0
  ) async throws {
    let outcome = try await program(arguments, home)
    let found = ids(outcome)
    let isWhole = found.isSuperset(of: LyingService.ids)
    if !isWhole, !says(outcome, claim) {
      note(arguments.joined(separator: " "), outcome, "has \(found.count) of \(LyingService.count)")
    }
    if service.lie == .none, !isWhole || outcome.status != 0 || !warnings(outcome).isEmpty {
      note(arguments.joined(separator: " "), outcome, "cries wolf")
    }
  }

  private func says(_ outcome: Outcome, _ claim: Claim) -> Bool {
    outcome.status != 0 || claim == .warning && !warnings(outcome).isEmpty
  }

  private func warnings(_ outcome: Outcome) -> [String] {
    guard let document = JSON(reading: Data(outcome.output.utf8)),
      case .array(let warnings)? = document["warnings"]
    else {
      return outcome.errors.split(separator: "\n").filter { $0.hasPrefix("warning:") }
        .map(String.init)
    }
    return warnings.map(\.text)
  }

  private func ids(_ outcome: Outcome) -> Set<String> {
    guard let document = JSON(reading: Data(outcome.output.utf8)),
      case .array(let items)? = document["items"]
    else { return [] }
    return Set(
      items.compactMap { item in
        if case .string(let id)? = item["id"] { id } else { item["id"]?.text }
      })
  }

  private mutating func note(_ what: String, _ outcome: Outcome, _ words: String) {
    faults.append("\(what) \(words): exit \(outcome.status), \(outcome.errors.prefix(300))")
  }
}
