import AggregatorCore
import AggregatorFoundation
import AggregatorText

/// The way in which a service lists changed records, so that a sync asks for those alone.
///
/// Each record has a *mark*, a value that grows with each of its changes, such as the time of the last one. A sync asks for
/// what has the largest mark that is stored, or a later one. Marks are compared with each other and never with a clock of
/// this machine.
public struct ChangeTracking: Hashable, Sendable {
  /// The form of a time in a request.
  public enum Format: String, CaseIterable, Sendable {
    /// To the second and in UTC: `2026-11-20T14:02:00Z`.
    case iso8601
    /// A day in UTC: `2026-11-20`.
    case date
    /// The seconds since 1970.
    case unix
    /// The milliseconds since 1970.
    case unixMilliseconds = "unixms"
  }

  /// The order of a list by the marks of its records.
  public enum Order: String, CaseIterable, Sendable {
    case ascending, descending
  }

  /// The parameter that selects changes, as messages name it: `updated_since`.
  public var parameter: String

  /// The path of the mark in a record, if it can be configured: marks of another field cannot be compared with it.
  package var field: String?

  /// The form of the time in a request; `nil` for that of the marks.
  public var format: Format?

  /// The order of the list that has only changes; `nil` if it is not known.
  ///
  /// A list in ascending order is read from mark to mark, so that records that change meanwhile, and move to its end, move no
  /// other past the reader. One in descending order is read until a record is older than what was asked for.
  public var order: Order?

  /// The time before the last mark from which a sync asks again, for a service that shows a change late, and for passes
  /// during which records change: 1 hour by default.
  public var lookback: Duration

  /// The time after which a sync reads everything again, because only that finds what was removed: 7 days by default.
  public var fullEvery: Duration

  public init(
    _ parameter: String, format: Format? = nil, order: Order? = nil,
    lookback: Duration = .seconds(3600), fullEvery: Duration = .seconds(7 * 86_400)
  ) {
    self.parameter = parameter
    self.format = format
    self.order = order
    self.lookback = lookback
    self.fullEvery = fullEvery
  }
}

extension ChangeTracking {
  /// True if a mark is earlier than another one: by their times, else as whole numbers, else as texts.
  package func isEarlier(_ mark: String, than other: String) -> Bool {
    if let time = Self.time(of: mark), let otherTime = Self.time(of: other) {
      return time < otherTime
    }
    if let number = Int(mark), let otherNumber = Int(other) { return number < otherNumber }
    return mark < other
  }

  /// The latest mark that is not in the future; `nil` if all are.
  ///
  /// A single record with a wrong time would hide all changes until then. If it is the clock of this machine that is
  /// wrong, changes are read again, or everything.
  func latest(of marks: [String], at now: Date) -> String? {
    let limit = now.timeIntervalSince1970 + 86_400
    return marks.filter { Self.time(of: $0).map { $0 <= limit } ?? true }
      .max { isEarlier($0, than: $1) }
  }

  /// True if marks are in an order.
  func isSorted(_ marks: [String], _ order: Order) -> Bool {
    zip(marks, marks.dropFirst()).allSatisfy { first, second in
      order == .ascending ? !isEarlier(second, than: first) : !isEarlier(first, than: second)
    }
  }

  /// The parameter of a request for the changes since a mark, less a time if the mark is one.
  package func parameter(for mark: String, less time: Duration = .zero) -> String {
    guard let marked = Self.time(of: mark) else { return mark }
    let seconds = marked - time / .seconds(1)
    let date = Date(timeIntervalSince1970: seconds)
    switch format {
    case .iso8601: return date.iso8601
    case .date: return String(date.iso8601.prefix(10))
    case .unix: return "\(Self.whole(seconds))"
    case .unixMilliseconds: return "\(Self.whole(seconds * 1000))"
    case nil: return Self.text(of: date, like: mark)
    }
  }

  /// The mark of a time before another mark, which has one.
  func mark(_ mark: String, less time: Duration) -> String {
    Self.time(of: mark).map {
      Self.text(of: Date(timeIntervalSince1970: $0 - time / .seconds(1)), like: mark)
    } ?? mark
  }

  /// True if a mark is earlier than what a request with this parameter should have brought.
  ///
  /// A day may begin earlier at the service than in UTC.
  package func isEarlier(_ mark: String, thanAskedBy parameter: String) -> Bool {
    guard let time = Self.time(of: mark), let asked = Self.time(of: parameter) else {
      return isEarlier(mark, than: parameter)
    }
    return time < asked - (format == .date ? 86_400 : 1)
  }

  /// The step by which a request asks again for what it has seen, because some services leave out those that have the very
  /// mark that is asked for.
  var overlap: Duration { .seconds(format == .date ? 86_400 : 1) }

  package static func isTime(_ mark: String) -> Bool { time(of: mark) != nil }

  /// The seconds since 1970; `nil` for a mark that is no time.
  static func time(of mark: String) -> Double? {
    if let period = Period(mark), period.isDate { return period.start }
    guard mark.utf8.allSatisfy({ 0x30...0x39 ~= $0 }), let number = Double(mark) else { return nil }
    switch mark.utf8.count {
    case 9...10: return number
    case 12...13: return number / 1000
    default: return nil
    }
  }

  /// A mark for people: `2026-11-20 14:02 UTC`, or as the service writes it if its zone is not known.
  package static func text(of mark: String) -> String {
    guard let time = time(of: mark), Period(mark) == nil || hasZone(mark) else {
      return mark.oneLine(atMost: 40)
    }
    let text = Date(timeIntervalSince1970: time).iso8601
    return "\(text.prefix(10)) \(text.dropFirst(11).prefix(5)) UTC"
  }

  private static func hasZone(_ mark: String) -> Bool {
    mark.dropFirst(11).contains { "Zz+-".contains($0) }
  }

  /// A time in the form of a mark: with its separator and its zone, or its unit.
  private static func text(of date: Date, like mark: String) -> String {
    guard Period(mark)?.isDate == true else {
      let seconds = date.timeIntervalSince1970
      return "\(whole(mark.utf8.count > 10 ? seconds * 1000 : seconds))"
    }
    let text = date.iso8601
    guard mark.utf8.count > 10 else { return String(text.prefix(10)) }
    let separator = mark.dropFirst(10).prefix(1)
    let zone = hasZone(mark) ? "Z" : ""
    return text.prefix(10) + separator + text.dropFirst(11).prefix(8) + zone
  }

  private static func whole(_ number: Double) -> Int64 {
    Int64(exactly: number.rounded(.down)) ?? 0
  }
}
