package import AggregatorKit

/// The origin of an answer in a few words, and why it is not what was asked for.
package struct OriginBadge: Sendable {
  package enum Kind: String, Sendable { case live, cached, bundled, offline }

  package let kind: Kind
  /// The origin in words: `Offline · cached 3 min ago`.
  package var label: String { "\(name)\(age?.words ?? "")" }
  /// The ``label`` with the age at another time than that of the answer.
  package func label(at now: Date) -> String {
    guard let fetchedAt else { return name }
    return "\(name) \(fetchedAt.age(at: now))"
  }

  /// The ``label`` of a list of records of different ages.
  package var labelOfOldest: String {
    "\(name)\(age.map { "\(kind == .live ? "" : ", oldest")\($0.words)" } ?? "")"
  }

  /// The label in one word, which names the data rather than a lack of a network: records that are bundled or cached are
  /// not live.
  package let word: String
  package let explanation: String

  /// The reasons the answer is not what was asked for, or not all of it, and which search has answered, to be shown beside
  /// the list.
  package let notes: [String]

  /// The first of these reasons as a part of a sentence; `nil` for none.
  package let cause: String?

  /// The time until a service is asked again that failed too often, in seconds; `nil` for any other.
  package let pause: Int?

  /// The ``label`` without the age.
  private let name: String

  /// The age; `nil` unless all is cached, or was fetched a while before.
  private var age: (date: Date, words: String)?

  /// The time of the oldest record; `nil` unless all is cached, or was fetched a while before.
  package var fetchedAt: Date? { age?.date }

  /// Explains a circuit breaker to people.
  package static let pauseWords =
    "The service failed several times in a row, so it is left alone for a moment"

  /// `nil` without an answer.
  ///
  /// - Parameters:
  ///   - choosesLocal: True if only local data was asked for.
  ///   - namesChoice: False if that is not called offline: nothing has failed.
  package init?(
    _ summary: ListingSummary, choosesLocal: Bool, namesChoice: Bool = true, at now: Date
  ) {
    guard let provenance = summary.provenance else { return nil }
    let isChosen =
      choosesLocal && !namesChoice && provenance.reason.map { $0.code == .offline } ?? true
    let reasonOfOrigin = isChosen ? nil : provenance.reason
    let code = reasonOfOrigin?.code
    let isOffline = !isChosen && (choosesLocal || code == .offline || code == .unreachable)
    // A page that was fetched for an earlier request may be kept for a minute.
    let fetched = provenance.fetchedAt.flatMap { date in
      now.timeIntervalSince(date) < 5 ? nil : date.age(at: now)
    }
    let origin =
      switch provenance.origin {
      case .live: fetched == nil ? "Live" : "Fetched"
      case .cached: "Cached"
      case .bundled: "Bundled sample data"
      case .mixed: "Partly cached"
      }
    let data: Kind =
      switch provenance.origin {
      case .live: .live
      case .bundled: .bundled
      case .cached, .mixed: .cached
      }
    kind = isOffline && data != .live ? .offline : data
    word = data == .live && fetched != nil ? "fetched" : data.rawValue
    name = kind == .offline ? "Offline · \(origin.lowercasedFirst)" : origin
    age =
      provenance.origin == .cached || data == .live && fetched != nil
      ? provenance.fetchedAt.map { ($0, " \($0.age(at: now))") } : nil
    let isPaused = code == .circuitOpen
    pause =
      isPaused
      ? provenance.reason?.retryAfter.map { Int(($0 / .seconds(1)).rounded(.up)) } : nil
    let message = reasonOfOrigin?.message.safeLine
    let reason =
      switch provenance.origin {
      case _ where isPaused: Self.pauseWords.lowercasedFirst
      // Alone, "no cached heroes match" would contradict the matches beside it.
      case .bundled: message.map { "showing bundled sample data (\($0))" }
      case .live, .cached, .mixed: message
      }
    let shortcomings = summary.warnings.map(\.warning).filter(\.tellsOfMissingData)
    let causes = [reason].compactMap(\.self) + shortcomings.map(\.message.safeLine)
    cause = causes.first
    let searches = summary.warnings.map(\.warning).filter(\.isOfStoredSearch)
    notes = (causes + searches.map(\.message)).map(\.capitalizedFirst)
    let usual =
      switch provenance.origin {
      case .live: "Fetched from the service \(fetched ?? "just now")"
      case .cached where choosesLocal: "You chose to use local data only"
      case .cached: "Fresh enough: the service was not asked again"
      case .bundled: "Sample data that is part of the program"
      case .mixed: "Some records are live, others cached"
      }
    explanation = reason?.capitalizedFirst ?? usual
  }

  /// This badge, of an answer that is a part of a list, with the age of the list if that is older.
  package func covering(_ list: OriginBadge?) -> OriginBadge {
    guard let age, let older = list?.age, older.date < age.date else { return self }
    var badge = self
    badge.age = older
    return badge
  }
}

extension Warning {
  private static let doubtfulCodes: Set<Code> = [.scanned, .unreadable, .estimated, .unfetched]

  /// True if records or values of them are missing, or may be.
  package var tellsOfMissingData: Bool {
    meansIncomplete || Self.doubtfulCodes.contains(code)
  }
}
