package import AggregatorCore
import AggregatorFoundation
import AggregatorText

/// The reasons a list may lack records of its service; there is at least one.
public struct Shortfall: Hashable, Sendable, CustomStringConvertible {
  package private(set) var reasons: [Warning]

  package init(_ code: Warning.Code, _ message: String) { reasons = [Warning(code, message)] }

  /// `nil` for none.
  package init?(of reasons: [Warning]) {
    guard !reasons.isEmpty else { return nil }
    self.reasons = reasons
  }

  /// The first of each kind among the warnings that mean that records may be missing; `nil` for none.
  package init?(_ warnings: [Warning]) {
    reasons = []
    for warning in warnings where warning.meansIncomplete { add(warning) }
    if reasons.isEmpty { return nil }
  }

  /// In words, all of them.
  public var description: String { reasons.map(\.message).joined(separator: "; ") }

  package func includes(_ code: Warning.Code) -> Bool { reasons.contains { $0.code == code } }

  /// True if another sync would leave the same out, or most probably so: nothing here fetches what is missing.
  package var isFinal: Bool { reasons.allSatisfy { Self.finalCodes.contains($0.code) } }

  private static let finalCodes: Set<Warning.Code> = [
    .cutOff, .noProgress, .sentFewer, .unproved, .unreadable,
  ]

  /// True if nothing but the missing end of a list is in doubt: no record is known to be missing.
  package var isUnproved: Bool { reasons.allSatisfy { $0.code == .unproved } }

  /// True if nothing but the presence of cached records in the service is in doubt.
  package var isExcess: Bool { reasons.allSatisfy { $0.code == .removedUpstream } }

  /// Adds a reason, of each kind only the first.
  fileprivate mutating func add(_ reason: Warning) {
    if !includes(reason.code) { reasons.append(reason) }
  }

  /// That of a service which lists only its first rows.
  package static func depth(_ rows: Int) -> Shortfall {
    Shortfall(.depthLimit, "the service lists only the first \(rows)")
  }

  /// That of more cached records than the service reports or, if it does not, has sent as a whole list; `nil` for none.
  static func excess(of cached: Int, read: Int?, total: Int?) -> Shortfall? {
    guard let count = total ?? read, count < cached else { return nil }
    let rest = total == nil ? " of \(cached.grouped) cached records" : ""
    return Shortfall(
      .removedUpstream, "the service \(rest.isEmpty ? "reports" : "sent") \(count.grouped)\(rest)")
  }

  /// That of rows that are no records; `nil` for none.
  package static func unreadable(_ count: Int) -> Shortfall? {
    count > 0 ? Shortfall(.unreadable, "\(count.of("row")) could not be read") : nil
  }

  /// That of rows which are not as many different records; `nil` for none.
  package static func repeatedIDs(_ count: Int) -> Shortfall? {
    count > 0 ? Shortfall(.repeated, "\(count.of("row")) had the ID of an earlier one") : nil
  }
}

extension Shortfall? {
  package static func + (left: Self, right: Self) -> Self {
    guard var sum = left else { return right }
    for reason in right?.reasons ?? [] { sum.add(reason) }
    return sum
  }
}

extension Shortfall: Codable {
  /// Decodes also the one reason in words that older versions have left.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let words = try? container.decode(String.self) {
      reasons = [Warning(.incomplete, words)]
      return
    }
    reasons = try container.decode([Warning].self)
    guard !reasons.isEmpty else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "no reason")
    }
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(reasons)
  }

  /// That of a checkpoint; an older version has left its words alone there.
  package init(checkpoint text: String) {
    self =
      (try? JSONText(Data(text.utf8))?.read(Shortfall.self)) ?? Shortfall(.incomplete, text)
  }

  /// The text of a checkpoint.
  package var checkpoint: String { (try? CanonicalJSON.text(of: self)) ?? description }
}

extension Warning.Code {
  /// The pages of a list repeat without end.
  package static let noProgress = Warning.Code(SourceError.Code.noProgress)
}
