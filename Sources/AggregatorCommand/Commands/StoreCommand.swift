import AggregatorKit
import Foundation

extension CommandTree.Node {
  /// `aggregator store [status | clear SOURCE | path]`.
  static func store(_ plugins: [any Plugin]) -> CommandTree.Node {
    CommandTree.Node(
      "store", "Show and clear what is stored", .storeStatus,
      children: [
        .init("store status", "Show how much is stored of each source", .storeStatus),
        .init("store clear", "Forget what is stored of a source", .clearStore(plugins)),
        .init("store path", "Print where the store's file is", .storePath),
      ])
  }
}

extension Command {
  fileprivate static let storeStatus = Command(
    options: Option.output, fields: StoreEntry.fields,
    examples: [("store", "how much is stored of each source")]
  ) { invocation, session in
    try invocation.refuseArguments()
    let output = try OutputOptions(invocation, in: session)
    let environment = try session.localEnvironment()
    let store = try environment.requiredStore()
    var entries: [StoreEntry] = []
    for plugin in session.tree.plugins {
      do throws(SourceError) {
        entries.append(StoreEntry(plugin.name, try await store.status(of: plugin.name)))
      } catch {
        throw CommandError(error)
      }
    }
    try RecordPrinter.print(
      entries, as: output.plainListing("store", StoreEntry.self), output, in: session)
    if let path = try session.storePath(environment.settings) {
      session.diagnostics.note("\(path), \(Self.size(of: path))")
    }
    if let files = try session.imageFiles(environment.settings) {
      let usage = await files.usage()
      if usage.count > 0 {
        session.diagnostics.note(
          "\(files.directory), \(usage.count.of("image")), \((usage.bytes + 1023) / 1024) KB")
      }
    }
    return .success
  }

  private static func size(of path: String) -> String {
    let bytes = ["", "-wal"].reduce(0) { sum, suffix in
      let size = try? FileManager.default.attributesOfItem(atPath: path + suffix)[.size]
      return sum + (size as? Int ?? 0)
    }
    return bytes == 0 ? "not there yet" : "\((bytes + 1023) / 1024) KB"
  }

  fileprivate static func clearStore(_ plugins: [any Plugin]) -> Command {
    Command(
      "SOURCE", words: CompletionSource.source(plugins), options: [.forgetDeleted, .yes, .dryRun],
      notes: [
        "Its images are forgotten too. What was deleted stays deleted, unless --deleted is given. Places "
          + "of 'next' are left as they are."
      ],
      examples: plugins.prefix(1).map {
        ("store clear \($0.name) --yes", "forget all of its records")
      }, run: clearStore)
  }

  private static func clearStore(
    _ invocation: Invocation, _ session: Session
  ) async throws -> ExitCode {
    let name = try invocation.argument("a SOURCE")
    let plugin = try session.tree.plugin(named: name)
    let environment = try session.localEnvironment()
    let store = try environment.requiredStore()
    let files = try session.imageFiles(environment.settings)
    func clearing<Answer: Sendable>(
      _ body: () async throws(SourceError) -> Answer
    ) async throws(CommandError) -> Answer {
      do { return try await body() } catch { throw CommandError(error, of: plugin) }
    }
    let status = try await clearing { () async throws(SourceError) in
      try await store.status(of: name)
    }
    let forgetsDeleted = invocation.has(.forgetDeleted)
    let images = await files?.usage(of: name).count ?? 0
    let what = [
      "\(status.records + status.hidden + status.removedUpstream) stored \(name)",
      images > 0 ? images.of("image") : nil,
      forgetsDeleted ? "\(status.deleted) deletions" : nil,
    ].compactMap(\.self).joined(separator: " and ")
    guard !invocation.has(.dryRun) else {
      session.diagnostics.note("would forget \(what)")
      return .success
    }
    guard try invocation.confirms("forget \(what)") else {
      session.diagnostics.note("nothing was forgotten")
      return .success
    }
    session.progress.say { "forgetting \(what)" }
    try await clearing { () async throws(SourceError) in
      try await store.clear(name, forgetsDeleted: forgetsDeleted)
      try await files?.clear(name)
    }
    session.diagnostics.note("forgot \(what)")
    return .success
  }

  fileprivate static let storePath = Command(
    examples: [("store path", "where the store's file is, or would be")]
  ) { invocation, session in
    try invocation.refuseArguments()
    let environment = try session.localEnvironment()
    _ = try environment.requiredStore()
    try session.output.write("\(session.storePath(environment.settings) ?? "")\n")
    return .success
  }
}

extension Int {
  /// So many of something: `1 image`, `2 images`.
  fileprivate func of(_ word: String) -> String { "\(self) \(word)\(self == 1 ? "" : "s")" }
}

/// What is stored of a source, for `store status`.
private struct StoreEntry: Entry {
  let id: String
  let records: Int
  let deleted: Int
  let removedUpstream: Int
  let pages: Int
  let fetchedAt: String?

  init(_ name: String, _ status: StoreStatus) {
    id = name
    records = status.records
    deleted = status.deleted
    removedUpstream = status.removedUpstream
    pages = status.pages
    fetchedAt = status.fetchedAt?.iso8601
  }

  static let fields: [Field<StoreEntry>] = [
    Field("source", "Source", \.id, about: "The source."),
    Field(
      "records", "Records", \.records, about: "How many records, without those deleted or vanished."
    ),
    Field("deleted", "Deleted", \.deleted, about: "How many ids are deleted, stored or not."),
    Field("vanished", "Vanished", \.removedUpstream, about: "How many the service no longer has."),
    Field("pages", "Pages", \.pages, about: "How many pages of the service are kept."),
    Field("fetchedAt", "Last page", \.fetchedAt, about: "When the newest of them was fetched."),
  ]
}
