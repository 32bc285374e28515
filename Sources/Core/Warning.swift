package import AggregatorFoundation
import AggregatorText

/// A message about an answer that is not a failure.
public struct Warning: Hashable, Codable, Sendable {
  /// The kind of a warning; sources may have kinds of their own, and an error beside an answer has its own code.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    /// The name, as in JSON output: `scanned`.
    public let description: String

    public init(_ name: String) { description = name }

    /// The code of an error beside an answer.
    public init(_ code: SourceError.Code) { description = code.description }

    /// Bundled sample data stand in for the service or the store.
    public static let bundled = Code("bundled")
    /// Cached records stand in for the service, or are mixed with its own.
    public static let cached = Code("cached")
    /// Only cached records were searched.
    public static let cachedOnly = Code("cachedOnly")
    /// A file seems to be cut off.
    public static let cutOff = Code("cutOff")
    /// The service lists only its first records, and the others cannot be reached.
    public static let depthLimit = Code("depthLimit")
    /// No record of a page has a field that records usually have.
    public static let emptyField = Code("emptyField")
    /// The service names more records than its list has, which ends where a rule for errors says so.
    public static let endedByRule = Code("endedByRule")
    /// The service names more matches than it sends: totals of searches are known to be estimates.
    public static let estimated = Code("estimated")
    /// A file with a secret is open to other users.
    public static let exposed = Code("exposed")
    /// The encoding of a file is a guess.
    public static let guessed = Code("guessed")
    /// Earlier changes are not known.
    public static let historyTrimmed = Code("historyTrimmed")
    /// A setting is ignored, because its file may not choose it.
    public static let ignored = Code("ignored")
    /// The source ends a list early, or contradicts its total.
    public static let incomplete = Code("incomplete")
    /// The pages are from different times.
    public static let mixedGenerations = Code("mixedGenerations")
    /// A damaged store was moved aside.
    public static let movedAside = Code("movedAside")
    /// A sync could not ask for changes alone.
    public static let notIncremental = Code("notIncremental")
    /// A search has no matches: the fields that were searched, and filters that have some.
    public static let noMatches = Code("noMatches")
    /// A record or an image is not cached.
    public static let notCached = Code("notCached")
    /// An open list was loaded anew, because the service had changed it.
    public static let reloaded = Code("reloaded")
    /// A sync of the whole list has not found the record any more.
    public static let removedUpstream = Code("removedUpstream")
    /// A setting is set in the file of another build.
    public static let otherBuild = Code("otherBuild")
    /// The answer of cached records in the place of the service's lacks some that are not cached.
    public static let partlyCached = Code("partlyCached")
    /// Records contain a secret, for which `REDACTED` stands.
    public static let redacted = Code("redacted")
    /// A list sent records again, so that others may be missing.
    public static let repeated = Code("repeated")
    /// A list was started over, so that records that moved meanwhile may be missing.
    public static let restarted = Code("restarted")
    /// Whole numbers have more digits than are kept.
    public static let rounded = Code("rounded")
    /// Only the first records of the service were searched.
    public static let scanned = Code("scanned")
    /// A rule for errors leaves out a partition of the list, whose records stay as they are.
    public static let skippedPartition = Code("skippedPartition")
    /// The service reports more records than its list has.
    public static let sentFewer = Code("sentFewer")
    /// Members of the rows of a service appeared, vanished or changed their kind.
    public static let schemaChanged = Code("schemaChanged")
    /// A settings file has invalid lines.
    public static let settings = Code("settings")
    /// The pages were not read to their end.
    public static let stopped = Code("stopped")
    /// A sync before the answer failed.
    public static let syncFailed = Code("syncFailed")
    /// Records are too large for the answer.
    public static let tooLarge = Code("tooLarge")
    /// Lists do not include fields that were asked for.
    public static let unfetched = Code("unfetched")
    /// A file sets what is no setting.
    public static let unknownSetting = Code("unknownSetting")
    /// The records may be those of another account.
    public static let unknownSecret = Code("unknownSecret")
    /// A source of several is not searched, because it lacks a field of the filter or the order.
    public static let leftOut = Code("leftOut")
    /// There may be further pages that are not read.
    public static let unproved = Code("unproved")
    /// Rows could not be read.
    public static let unreadable = Code("unreadable")
  }

  private static let incompleteCodes: [Code] = [
    .cutOff, .depthLimit, .incomplete, .mixedGenerations, .partlyCached, .repeated, .restarted,
    .sentFewer, .stopped, .unknownSecret, .unproved,
  ]

  public var code: Code

  public var message: String

  /// True for a search of a part of a service's records if cached ones match that it has not reached.
  package var hasCachedMatches = false

  private enum CodingKeys: String, CodingKey { case code, message }

  public init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  /// The same of each page, so that it is said once.
  package static let redacted = Warning(
    .redacted,
    "\(Secret.mark) in records stands for a secret that the service gets, unless it sent that word itself"
  )

  /// Nothing shows that the list has ended, nor that it goes on: no record is known to be missing.
  package static let unproved = Warning(.unproved, "there may be further pages that are not read")

  /// The store was searched in the place of a service, which may search other fields.
  package static let storedSearch = Warning(
    .cachedOnly,
    "cached records were searched, in all their searchable fields; the service's search may find others"
  )

  /// The search of the service finds none, while stored records match; `count` is `nil` if their number is not known.
  package static func cachedMatches(_ count: Int?) -> Warning {
    let words = count == 1 ? "1 cached record matches" : "cached records match"
    let number = count.map { $0 == 1 ? "" : "\($0.grouped) " } ?? ""
    var warning = Warning(.cachedOnly, "the service's search finds none; \(number)\(words)")
    warning.hasCachedMatches = true
    return warning
  }

  /// True if it says which of two searches has answered, that of the service or that of the store.
  package var isOfStoredSearch: Bool {
    self == .storedSearch || code == .cachedOnly && hasCachedMatches
  }

  /// True if values are not those that the service has sent, or may not be, while all records are there.
  package var isOfValues: Bool { [.guessed, .redacted, .rounded].contains(code) }

  /// True if records are missing from the answer, or may be.
  package var meansIncomplete: Bool { Self.incompleteCodes.contains(code) }

  /// The source reported more records than it sent: of a list some are missing, while totals of searches are known
  /// to be estimates.
  ///
  /// - Parameter last: The total of the last page; that of a list which has become shorter is no lie.
  package static func fewer(
    _ sent: Int, than total: Int, last: Int?, in query: SearchQuery?
  ) -> Warning {
    if last == sent {
      return Warning(
        query == nil ? .incomplete : .estimated,
        "the total changed from \(total.grouped) to \(sent.grouped) while the pages were read")
    }
    return Warning(
      query == nil ? .sentFewer : .estimated,
      "the service reports \(total.grouped) \(query == nil ? "records" : "matches") but sent \(sent.grouped)"
    )
  }
}

extension Warning.Code: Codable {
  public init(from decoder: any Decoder) throws {
    description = try String(from: decoder)
  }

  public func encode(to encoder: any Encoder) throws { try description.encode(to: encoder) }
}

extension Data {
  /// True if ``Secret/mark`` is in these bytes, as it is in a record of which a secret was removed.
  package var hasRedacted: Bool { withUnsafeBytes(\.hasRedacted) }
}

extension String {
  /// True if ``Secret/mark`` is in this text.
  package var hasRedacted: Bool {
    var text = self
    return text.withUTF8 { UnsafeRawBufferPointer($0).hasRedacted }
  }
}

extension UnsafeRawBufferPointer {
  fileprivate var hasRedacted: Bool { offset(of: Array(Secret.mark.utf8)) != nil }
}
