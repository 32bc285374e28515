import AggregatorCore
import AggregatorFoundation
import AggregatorStore

/// The progress of incremental syncs: a checkpoint that lasts from one sync to the next.
struct ChangeState: Hashable, Codable, Sendable {
  /// Its name among the checkpoints of a source.
  static let checkpoint = "changes"

  /// The progress of a pass that has not ended.
  struct Pass: Hashable, Codable, Sendable {
    /// The parameter of the request of the present page.
    var since: String
    /// The place of the present page; `nil` for the first of those.
    var cursor: PageCursor?
    /// `nil` before the first page.
    var marks: SeenMarks?
    var pages = 0
    /// The mark that the pass does not go beyond, because a record may have moved past the reader after it; `nil` for none.
    var limit: String?

    /// The members of the rows so far.
    var schema: RowSchema?
    /// True if a page was not in the declared order.
    var isUnordered = false
    /// The reason records may not have been read, which are asked for again.
    var unread: Shortfall?
    var moved: Shortfall?

    private enum CodingKeys: String, CodingKey {
      case since = "s", cursor = "c", marks = "m", pages = "p", limit = "l", isUnordered = "o",
        schema = "w"
      case unread = "u", moved = "v"
    }

    var shortfall: Shortfall? { unread ?? moved }
  }

  /// The collection to which it belongs, see ``SyncMode``, and the field of its marks.
  let collection: String
  /// Everything that changed before is stored.
  var mark: String
  /// The end of the last pass over everything.
  var full: Date
  /// The end of the last pass over what had changed.
  var last: Date?
  var pass: Pass?

  private enum CodingKeys: String, CodingKey {
    case collection = "c", mark = "m", full = "f", last = "i", pass = "p"
  }

  init(collection: String, mark: String, full: Date) {
    self.collection = collection
    self.mark = mark
    self.full = full
  }

  /// Decodes a stored state; `nil` if it is invalid, or that of another collection.
  init?(_ text: String, of collection: String) {
    guard let state = try? JSONText(Data(text.utf8))?.read(ChangeState.self),
      state.collection == collection
    else { return nil }
    self = state
  }

  var text: String { (try? CanonicalJSON.text(of: self)) ?? "" }

  /// True if a pass over everything is due; also if its time is far in the future, because the clock was set back.
  func isFullDue(_ tracking: ChangeTracking, at now: Date) -> Bool {
    let age = now.timeIntervalSince(full)
    return age >= tracking.fullEvery / .seconds(1) || age < -86_400
  }

  /// The pass to continue, or a new one.
  func pass(by tracking: ChangeTracking, at now: Date) -> Pass {
    // The store may be damaged.
    if var pass, let ended = pass.marks?.ended, 0..<Int(clamping: Int64(1) << 40) ~= pass.pages,
      0..<(SyncCheckpoint.lifetime / .seconds(1)) ~= now.timeIntervalSince(ended)
    {
      pass.marks?.noteInterruption()
      return pass
    }
    return Pass(since: start(by: tracking))
  }

  /// The parameter of the first request of a pass.
  func start(by tracking: ChangeTracking) -> String {
    tracking.parameter(for: mark, less: tracking.lookback)
  }
}

/// The marks of the records of a pass.
struct SeenMarks: Hashable, Codable, Sendable {
  /// The latest one of the first page; `nil` if none of its records has one.
  private let first: String?
  private(set) var latest: String?
  /// The time of the first page; `nil` if the pass was interrupted since, so that its length is not known.
  private var begun: Date?
  /// The time of the last page.
  private(set) var ended: Date

  private enum CodingKeys: String, CodingKey {
    case first = "f", latest = "l", begun = "b", ended = "e"
  }

  /// The latest mark of a first page, fetched at a time.
  init(first mark: String?, at date: Date) {
    (first, latest, begun, ended) = (mark, mark, date, date)
  }

  /// Adds the latest mark of a page.
  mutating func add(_ mark: String?, by tracking: ChangeTracking, at date: Date) {
    latest = tracking.latest(of: [latest, mark].compactMap(\.self), at: date)
    ended = date
  }

  /// Takes note that the pass goes on after an interruption of unknown length.
  mutating func noteInterruption() { begun = nil }

  /// The mark before which everything is stored at the end of a pass in any order; `nil` if that is not known.
  ///
  /// A record that changed after its page was read has a mark after the beginning of the pass, and so after every mark of
  /// the first page. The latest mark of all is later than the beginning by at most the length of the pass.
  func mark(by tracking: ChangeTracking) -> String? {
    guard let latest else { return nil }
    guard let length = begun.map({ ended.timeIntervalSince($0) }), 0...1e9 ~= length,
      ChangeTracking.time(of: latest) != nil
    else { return first }
    let early = tracking.mark(latest, less: .seconds(length))
    guard let first, tracking.isEarlier(early, than: first) else { return early }
    return first
  }
}
