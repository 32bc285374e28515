import AggregatorKit
import Foundation

extension CommandTree.Node {
  static func store(_ plugins: [any Plugin]) -> CommandTree.Node {
    CommandTree.Node(
      "store", "Show and clear cached records", .storeStatus,
      children: [
        .init("store status", "Show the number of cached records per source", .storeStatus),
        .init("store clear", "Remove the cached records of a source", .clearStore(plugins)),
        .init("store path", "Print the path of the store", .storePath),
      ])
  }
}

extension Command {
  fileprivate static let storeStatus = Command(
    options: Option.output, fields: StoreEntry.fields,
    examples: [("store", "show the number of cached records per source")]
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
          "\(files.directory), \(usage.count.of("image")), \(usage.bytes.byteCount)")
      }
    }
    return .success
  }

  private static func size(of path: String) -> String {
    let bytes = ["", "-wal"].reduce(0) { sum, suffix in
      let size = try? FileManager.default.attributesOfItem(atPath: path + suffix)[.size]
      return sum + (size as? Int ?? 0)
    }
    return bytes == 0 ? "does not exist yet" : bytes.byteCount
  }

  fileprivate static func clearStore(_ plugins: [any Plugin]) -> Command {
    Command(
      "SOURCE", words: CompletionSource.source(plugins), options: [.clearDeleted, .yes, .dryRun],
      notes: [
        "Cached images are removed too. Deleted records stay deleted unless --deleted is given. Positions of "
          + "next are kept."
      ],
      examples: plugins.prefix(1).map {
        ("store clear \($0.name) --yes", "remove all cached \($0.name)")
      }, run: clearStore)
  }

  private static func clearStore(
    _ invocation: Invocation, _ session: Session
  ) async throws -> ExitCode {
    let name = try invocation.argument("SOURCE")
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
    let forgetsDeleted = invocation.has(.clearDeleted)
    let images = await files?.usage(of: name).count ?? 0
    let records = status.records + status.hidden + status.removedUpstream
    let noun = plugin.noun
    let cleared = [
      "\(records) cached \(records == 1 ? noun.singular : noun.plural)",
      images > 0 ? images.of("image") : nil,
      forgetsDeleted ? status.deleted.of("deletion") : nil,
    ].compactMap(\.self).joined(separator: " and ")
    guard !invocation.has(.dryRun) else {
      session.diagnostics.note("Would remove \(cleared)")
      return .success
    }
    guard try invocation.confirms("Remove \(cleared)") else {
      session.diagnostics.note("Nothing removed")
      return .success
    }
    session.progress.say { "Removing \(cleared)…" }
    try await clearing { () async throws(SourceError) in
      try await store.clear(name, forgetsDeleted: forgetsDeleted)
      try await files?.clear(name)
    }
    session.diagnostics.note("Removed \(cleared)")
    return .success
  }

  fileprivate static let storePath = Command(
    examples: [("store path", "print the path of the store")]
  ) { invocation, session in
    try invocation.refuseArguments()
    let environment = try session.localEnvironment()
    _ = try environment.requiredStore()
    try session.output.write("\(session.storePath(environment.settings) ?? "")\n")
    return .success
  }
}

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
      "records", "Records", \.records,
      about: "The number of records, without deleted and removed ones."
    ),
    Field("deleted", "Deleted", \.deleted, about: "The number of deleted IDs, cached or not."),
    Field(
      "removedUpstream", "Removed upstream", \.removedUpstream,
      about: "The number of records that the service no longer has."),
    Field("pages", "Pages", \.pages, about: "The number of cached pages."),
    Field(
      "fetchedAt", "Last fetched", \.fetchedAt, about: "Time of the newest fetched page."),
  ]
}
