import AggregatorKit
import AggregatorSourceTesting
import Foundation

/// A plugin whose service a test makes up, and whose bundle is one note.
struct NotesPlugin: Plugin {
  static let rate = Setting("NOTES_RATE", .rate, default: "100/m", about: "How often.")
  static let url = Setting("NOTES_URL", .url, default: "https://notes.test/api", about: "Where.")

  let service: any DataSource<Note>
  var policy: Policy
  var setUp: @Sendable (PluginEnvironment) throws(SourceError) -> Void

  init(
    service: any DataSource<Note>, policy: Policy = Policy(rate: NotesPlugin.rate),
    setUp: @escaping @Sendable (PluginEnvironment) throws(SourceError) -> Void = { _ in }
  ) {
    self.service = service
    self.policy = policy
    self.setUp = setUp
  }

  /// One that asks once, as often as it likes.
  init(
    over service: any DataSource<Note>, _ readOrder: ReadOrder, upstream size: Int? = nil
  ) {
    self.init(
      service: service,
      policy: Policy(
        retry: RetryPolicy(attempts: 1, firstWait: .zero, maxWait: .zero), breaker: nil,
        upstreamPageSize: size.map { .fixed($0) }, readOrder: readOrder))
  }

  var name = "notes"
  let summary = "notes of a test"
  let example = PluginExample(query: "bundled", id: "900")
  var settings = [NotesPlugin.rate, url]
  let fields = Note.fields
  let layout = RecordLayout<Note>(card: ["title"])

  func remote(in environment: PluginEnvironment) throws(SourceError) -> any DataSource<Note> {
    try setUp(environment)
    return service
  }

  var bundled: any DataSource<Note> {
    BundledSource("notes", items: [Note(900, "bundled")], fields: fields)
  }
}
