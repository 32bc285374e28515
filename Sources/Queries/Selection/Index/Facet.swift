import AggregatorFilters
import AggregatorFoundation
package import AggregatorKit
import AggregatorTerminal

/// How the records of a selection are spread over the values of a field, or over ranges of them.
package struct Facet: Hashable, Sendable {
  package struct Value: Hashable, Sendable {
    /// The value, or what its range is called: `Kitchen`, `10 – 20`, `1990s`.
    package let text: String
    /// The number of records.
    package let count: Int
    /// The condition of these records, as for `--where`.
    package let condition: String
  }

  /// The name of the field.
  package let field: String
  package let label: String
  /// True for ranges of numbers or dates in ascending order; values begin with the most frequent one.
  package let isRange: Bool
  package let values: [Value]
  /// The number of values that were left out: the rarest ones.
  package let others: Int
  /// The number of records without a value.
  package let missing: Int
}

extension RecordIndex {
  /// The facets of those fields whose values repeat, or can be put in ranges; none if the store cannot tell whether its
  /// records change.
  package nonisolated func facets(
    of fields: [Field<Item>], selectedBy selection: Selection<Item>, matching query: Query?
  ) async throws(SourceError) -> [Facet] {
    guard let table = try await table(of: selection.fields + fields) else { return [] }
    let found = try await found(in: table, matching: query)
    let rows = try table.rows(selectedBy: selection, among: found)
    return fields.compactMap { field in
      table.columns[field.name].flatMap { $0.facet(of: field, in: rows) }
    }
  }
}

/// What can be counted of the values of a column; each has its index.
enum FacetShape: Sendable {
  /// Neither few different values nor what can be put in ranges.
  case none
  /// The texts of each value: several of a list, none of one that is missing.
  case values([[String]])
  case numbers([Double?])
  case dates([Date?])

  private static var maxDifferent: Int { 60 }
  /// In bytes of UTF-8.
  private static var maxLength: Int { 100 }

  /// - Parameter count: The number of rows.
  init(of values: [JSON], in count: Int) {
    let present = values.map(\.present)
    func all<Part>(_ part: (JSON) -> Part?) -> [Part?]? {
      var parts: [Part?] = []
      for values in present {
        let found = values.count == 1 ? part(values[0]) : nil
        guard found != nil || values.isEmpty else { return nil }
        parts.append(found)
      }
      return parts
    }
    var different: Set<JSON> = []
    let isFew = present.allSatisfy { values in
      for value in values {
        // Neither a text to read nor a structure is what people filter by.
        switch value {
        case .object: return false
        case .string(let text) where text.utf8.count > Self.maxLength: return false
        default: different.insert(value)
        }
      }
      return different.count <= Self.maxDifferent && different.count * 2 <= count
    }
    self =
      isFew
      ? .values(present.map { Array(Set($0.map(\.cell))) })
      : all(\.asNumber).map(Self.numbers) ?? all(\.asDate).map(Self.dates) ?? .none
  }
}

extension Column {
  private static var maxValues: Int { 10 }
  /// About how many ranges a field has.
  private static var ranges: Double { 12 }

  /// `nil` if it would say nothing: nearly every record has a value of its own, or all have the same.
  fileprivate func facet<Item>(of field: Field<Item>, in rows: [Int]) -> Facet? {
    let counts = counts(in: rows)
    let values: [Facet.Value]
    var isMissing: (Int) -> Bool = { _ in false }
    var isRange = true
    switch facetShape {
    case .none: return nil
    case .values(let texts):
      var sums: [String: Int] = [:]
      for (texts, count) in zip(texts, counts) where count > 0 {
        for text in texts { sums[text, default: 0] += count }
      }
      values = sums.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { text, count in
        Facet.Value(
          text: text, count: count, condition: TypedCondition(field.name, .equal, text).quoted)
      }
      isMissing = { texts[$0].isEmpty }
      isRange = false
    case .numbers(let numbers):
      values = Self.ranges(of: numbers, counts, field.name)
      isMissing = { numbers[$0] == nil }
    case .dates(let dates):
      values = Self.periods(of: dates, counts, field.name)
      isMissing = { dates[$0] == nil }
    }
    let missing = counts.indices.reduce(0) { $0 + (isMissing($1) ? counts[$1] : 0) }
    guard values.count > 1 || values.count == 1 && missing > 0 else { return nil }
    let shown = isRange ? values : Array(values.prefix(Self.maxValues))
    return Facet(
      field: field.name, label: field.label, isRange: isRange, values: shown,
      others: values.count - shown.count, missing: missing)
  }

  private static func ranges(
    of numbers: [Double?], _ counts: [Int], _ field: String
  ) -> [Facet.Value] {
    let shown = zip(numbers, counts).filter { $1 > 0 }.compactMap(\.0)
    guard let least = shown.min(), let most = shown.max(), least < most else { return [] }
    let isWhole = shown.allSatisfy { $0 == $0.rounded() }
    var step = ((most - least) / ranges).roundStep
    if isWhole { step = max(1, step) }
    let first = (least / step).rounded(.down)
    let last = (most / step).rounded(.down)
    // Numbers that are too large to be told apart.
    guard last - first < 100, abs(least) < 1e15, abs(most) < 1e15, step > 1e-9 else { return [] }
    var sums = Array(repeating: 0, count: Int(last - first) + 1)
    for (number, count) in zip(numbers, counts) where count > 0 {
      if let number { sums[Int((number / step).rounded(.down) - first)] += count }
    }
    let digits = step >= 1 ? 0 : Int((-log10(step)).rounded(.up))
    return sums.enumerated().map { index, count in
      let from = ((first + Double(index)) * step).decimal(digits)
      let to = ((first + Double(index) + 1) * step).decimal(digits)
      let isOne = isWhole && step == 1
      return Facet.Value(
        text: isOne ? from : "\(from) – \(to)", count: count,
        condition: isOne ? "\(field)=\(from)" : "\(field)>=\(from) and \(field)<\(to)")
    }
  }

  private static func periods(
    of dates: [Date?], _ counts: [Int], _ field: String
  ) -> [Facet.Value] {
    let shown = zip(dates, counts).filter { $1 > 0 }.compactMap(\.0)
    guard let first = shown.min()?.iso8601, let last = shown.max()?.iso8601,
      let from = Int(first.prefix(4)), let to = Int(last.prefix(4))
    else { return [] }
    var sums: [String: Int] = [:]
    func sum(_ name: (String) -> String) {
      for (date, count) in zip(dates, counts) where count > 0 {
        if let date { sums[name(date.iso8601), default: 0] += count }
      }
    }
    if to - from < 2 {
      sum { String($0.prefix(7)) }
      let months = (from...to).flatMap { year in
        (1...12).map { "\(year.padded(to: 4))-\($0.padded(to: 2))" }
      }.filter { first.prefix(7) <= $0 && $0 <= last.prefix(7) }
      return months.map {
        Facet.Value(text: $0, count: sums[$0] ?? 0, condition: "\(field)=\($0)")
      }
    }
    let step = max(1, Int((Double(to - from) / ranges).roundStep))
    sum { "\((Int($0.prefix(4)) ?? 0) / step * step)" }
    return stride(from: from / step * step, through: to, by: step).map { year in
      let next = (year + step).padded(to: 4)
      let year = year.padded(to: 4)
      return Facet.Value(
        text: step == 1 ? year : step == 10 ? "\(year)s" : "\(year) – \(next)",
        count: sums["\(Int(year) ?? 0)"] ?? 0,
        condition: step == 1 ? "\(field)=\(year)" : "\(field)>=\(year) and \(field)<\(next)")
    }
  }
}

extension JSON {
  fileprivate var asNumber: Double? {
    switch self {
    case .integer(let integer): Double(integer)
    case .number(let number): number
    default: nil
    }
  }

  fileprivate var asDate: Date? {
    guard case .string(let text) = self, let period = Period(text), period.isDate else {
      return nil
    }
    return Date(timeIntervalSince1970: period.start)
  }
}

extension Double {
  /// The next larger of 1, 2 and 5 times a power of ten.
  fileprivate var roundStep: Double {
    let power = pow(10, log10(self).rounded(.down))
    return ([1, 2, 5].first { $0 * power >= self * 0.999_999 } ?? 10) * power
  }

  /// Decimal, as conditions are typed.
  fileprivate func decimal(_ digits: Int) -> String {
    guard digits > 0 else { return String(Int(self)) }
    let scale = pow(10, Double(digits))
    let scaled = Int((self * scale).rounded())
    let (whole, rest) = (abs(scaled) / Int(scale), abs(scaled) % Int(scale))
    return "\(scaled < 0 ? "-" : "")\(whole).\(rest.padded(to: digits))"
  }
}

extension Int {
  /// With zeros before it: `0007`.
  fileprivate func padded(to digits: Int) -> String {
    let text = "\(self)"
    return String(repeating: "0", count: Swift.max(0, digits - text.count)) + text
  }
}
