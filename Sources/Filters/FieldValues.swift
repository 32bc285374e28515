package import AggregatorCore
import AggregatorText

/// The values that records have in a field, counted.
package struct FieldValues: Sendable {
  /// The number of records without a value.
  package private(set) var empty = 0
  /// Of each value, the number of records that have it.
  private var counts: [JSON: Int] = [:]

  package init() {}

  var distinctCount: Int { counts.count }

  package func count(of value: JSON) -> Int { counts[value] ?? 0 }

  /// Adds the value of a record; of a list, each different element.
  package mutating func add(_ value: JSON) {
    let values = Set(value.present.map(\.unified))
    if values.isEmpty { empty += 1 }
    for value in values { counts[value, default: 0] += 1 }
  }

  /// The different values, ascending: numbers, then dates, then texts.
  package var distinct: [JSON] {
    let keys = counts.keys.map { (value: $0, order: SortValue($0), text: $0.cell) }
    return keys.sorted { ($0.order, $0.text) < ($1.order, $1.text) }.map(\.value)
  }

  /// Each value and the number of its records, the most frequent one first; null for records without a value.
  package var groups: [(value: JSON, count: Int)] {
    var groups = distinct.map { (value: $0, count: counts[$0] ?? 0) }
    if empty > 0 { groups.append((.null, empty)) }
    return groups.enumerated().sorted { first, second in
      (second.element.count, first.offset) < (first.element.count, second.offset)
    }.map(\.element)
  }

  /// The names of all ``statistics``, in their order: what says least comes last, because narrow tables leave it out.
  package static let statisticNames = [
    "count", "first", "last", "earliest", "latest", "min", "max", "mean", "median", "sum",
    "distinct", "others", "empty",
  ]

  /// The statistics of the values, each with its name.
  ///
  /// Numbers have a mean, a median and a sum, dates an earliest and a latest one, and others a first and a last one. If most
  /// values are numbers, these statistics are of the numbers alone, and `others` counts the values that are none.
  package var statistics: [(name: String, value: JSON)] {
    let all = distinct
    let numbers = all.filter { $0.asDouble != nil }
    let total = counts.values.reduce(0, +)
    let numberCount = numbers.reduce(0) { $0 + (counts[$1] ?? 0) }
    let areNumbers = numberCount * 2 > total
    let (sorted, count) = areNumbers ? (numbers, numberCount) : (all, total)
    var statistics: [(name: String, value: JSON)] = [("count", .integer(total))]
    if let first = sorted.first, let last = sorted.last {
      if areNumbers {
        let scale = Self.scale(of: sorted)
        let sum = sum(of: sorted, in: scale)
        let mean = Self.rounded((sum.asDouble ?? 0) / Double(count), scale)
        statistics += [
          ("min", first), ("max", last), ("mean", JSON.number(mean).unified),
          ("median", median(of: sorted, count, scale)), ("sum", sum),
        ]
      } else {
        let areDates = sorted.allSatisfy {
          if case .string(let text) = $0 { Period(recorded: text)?.isDate == true } else { false }
        }
        let names = areDates ? ("earliest", "latest") : ("first", "last")
        statistics += [(names.0, first), (names.1, last)]
      }
    }
    statistics.append(("distinct", .integer(all.count)))
    if count < total { statistics.append(("others", .integer(total - count))) }
    return statistics + [("empty", .integer(empty))]
  }

  /// The power of ten by which all of these numbers become whole ones, at most 10^15.
  private static func scale(of values: [JSON]) -> Double {
    var scale = 1.0
    for number in values.compactMap(\.asDouble) {
      while scale < 1e15, (number * scale).rounded() / scale != number { scale *= 10 }
    }
    return scale
  }

  /// A mean or a median without the error of its last digits, where it has at most six significant decimals more than
  /// its values: 0.3 / 3 is less than 0.1 in binary.
  private static func rounded(_ mean: Double, _ scale: Double) -> Double {
    var scale = scale * 1e6
    // The zeros after the point are not significant.
    var size = abs(mean)
    while size > 0, size < 0.1 {
      size *= 10
      scale *= 10
    }
    // Above 2^53 there is nothing to round.
    guard abs(mean) * scale < 9_007_199_254_740_992 else { return mean }
    let decimal = (mean * scale).rounded() / scale
    return abs(decimal - mean) <= 2 * mean.ulp ? decimal : mean
  }

  /// Exact for integers; else with the rounding errors of each sum added at the end (Neumaier 1974), and no more decimals
  /// than the values have.
  private func sum(of values: [JSON], in scale: Double) -> JSON {
    var exact: Int? = 0
    var (sum, errors) = (0.0, 0.0)
    for value in values {
      let count = counts[value] ?? 0
      if case .integer(let integer) = value, let before = exact {
        let (product, overflows) = integer.multipliedReportingOverflow(by: count)
        let (total, isTooLarge) = before.addingReportingOverflow(product)
        exact = overflows || isTooLarge ? nil : total
      } else {
        exact = nil
      }
      let number = (value.asDouble ?? 0) * Double(count)
      let next = sum + number
      errors += abs(sum) >= abs(number) ? (sum - next) + number : (number - next) + sum
      sum = next
    }
    if let exact { return .integer(exact) }
    sum += errors
    // Larger ones, and values with more decimals, are no decimal fractions of fifteen digits.
    let isDecimal = scale < 1e15 && abs(sum) * scale < 1e15
    return JSON.number(isDecimal ? (sum * scale).rounded() / scale : sum).unified
  }

  private func median(of values: [JSON], _ count: Int, _ scale: Double) -> JSON {
    func value(at index: Int) -> JSON {
      var rest = index
      for value in values {
        rest -= counts[value] ?? 0
        if rest < 0 { return value }
      }
      return .null
    }
    let (low, high) = (value(at: (count - 1) / 2), value(at: count / 2))
    guard low != high, let first = low.asDouble, let second = high.asDouble else { return low }
    return JSON.number(Self.rounded(first / 2 + second / 2, scale)).unified
  }
}

extension JSON {
  /// The value of a number.
  package var asDouble: Double? {
    switch self {
    case .integer(let integer): Double(integer)
    case .number(let number): number
    default: nil
    }
  }

  /// A whole number as an integer, so that 1 and 1.0 are one value.
  var unified: JSON {
    guard case .number(let number) = self, abs(number) < 9_007_199_254_740_992,
      let integer = Int(exactly: number)
    else { return self }
    return .integer(integer)
  }
}
