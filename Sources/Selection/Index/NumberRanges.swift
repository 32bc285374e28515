import AggregatorFoundation

/// Equally wide ranges between round numbers that cover all numbers of a field.
///
/// If one of them had most numbers, they cover the part where most numbers are, and those below and above it have a range
/// each without an end, as prices of which few are a thousand times the others need.
package struct NumberRanges {
  package struct Entry {
    let number: Double
    /// Of records.
    let count: Int

    package init(number: Double, count: Int) {
      self.number = number
      self.count = count
    }
  }

  package struct Range {
    /// `nil` below all others.
    package let from: Bound?
    /// The number that is no longer in it, unless it ``isClosed``; `nil` above all others.
    package let to: Bound?
    package let count: Int
    /// True for the last range if it ends with the largest number.
    package let isClosed: Bool
  }

  /// A multiple of a step, which is 1, 2 or 5 times a power of ten.
  package struct Bound {
    package let number: Double
    /// The number in decimal digits, without an exponent.
    package let text: String

    fileprivate init(multiple: Double, step: Double) {
      let digits = step >= 1 ? 0 : Int((-log10(step) - 1e-9).rounded(.up))
      guard digits > 0 else {
        number = multiple * step
        text = String(Int(number.rounded()))
        return
      }
      let scale = pow(10, Double(digits))
      // Of the multiple, as a large number has no digits there.
      let scaled = Int((multiple * (step * scale).rounded()).rounded())
      let (whole, rest) = abs(scaled).quotientAndRemainder(dividingBy: Int(scale))
      let fraction = String(repeating: "0", count: digits - String(rest).count) + String(rest)
      text = "\(scaled < 0 ? "-" : "")\(whole).\(fraction)"
      // As whoever reads the text compares it.
      number = Double(text) ?? multiple * step
    }

    /// The whole number before it.
    package var previous: Bound { Bound(multiple: number - 1, step: 1) }
  }

  package let isWhole: Bool
  private let areYears: Bool
  package private(set) var ranges: [Range] = []
  private let entries: [Entry]
  /// The number of records before each entry.
  private let before: [Int]

  /// The shares of all numbers that the ranges may cover.
  private static let shares = [1, 0.98, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2]

  /// - Parameters:
  ///   - count: About how many ranges there are.
  ///   - areYears: True if no range ends with a round number: 2020 belongs to the 2020s.
  package init(of numbers: [Entry], about count: Int, areYears: Bool = false) {
    self.areYears = areYears
    entries = numbers.sorted { $0.number < $1.number }
    before = entries.reduce(into: [0]) { $0.append($0[$0.count - 1] + $1.count) }
    isWhole = entries.allSatisfy { $0.number == $0.number.rounded() }
    var choices: [(ranges: [Range], most: Int)] = []
    for share in Self.shares {
      let covered = covering(share, by: count)
      guard let most = covered.map(\.count).max() else { continue }
      ranges = covered
      if most * 2 <= before[entries.count] { return }
      choices.append((covered, most))
    }
    // Most are the same number, or nearly.
    let least = choices.map(\.most).min() ?? 0
    ranges = choices.first { $0.most * 10 <= least * 11 }?.ranges ?? []
  }

  /// The ranges of the narrowest part that has a share of all numbers, and what is below and above them.
  private func covering(_ share: Double, by count: Int) -> [Range] {
    guard let (least, most) = narrowest(share), least < most, max(abs(least), abs(most)) < 1e15
    else { return [] }
    var step = ((most - least) / Double(count)).roundStep
    if isWhole { step = max(1, step) }
    var first = (least / step).rounded(.down)
    var last = (most / step).rounded(.down)
    // Numbers that are too large to be told apart.
    guard last - first < 100, step > 1e-9 else { return [] }
    // A quotient is rounded.
    if Bound(multiple: first, step: step).number > least { first -= 1 }
    if Bound(multiple: last + 1, step: step).number <= most { last += 1 }
    // A range that had the largest number alone would seem to have larger ones.
    let isClosed =
      !areYears && !(isWhole && step == 1) && last > first + 1 && most == entries.last?.number
      && Bound(multiple: last, step: step).number == most
    if isClosed { last -= 1 }
    var bounds: [Bound?] = (0...Int(last - first) + 1).map {
      Bound(multiple: first + Double($0), step: step)
    }
    bounds = [nil] + bounds + (isClosed ? [] : [nil])
    return zip(bounds, bounds.dropFirst()).map { from, to -> Range in
      let start = entries.partitioningIndex { $0.number >= from?.number ?? -.infinity }
      let isLast = isClosed && to?.number == most
      let end = entries.partitioningIndex { item in
        to.map { item.number >= $0.number } ?? false && !isLast
      }
      return Range(from: from, to: to, count: before[end] - before[start], isClosed: isLast)
    }.filter { $0.count > 0 || $0.from != nil && $0.to != nil }
  }

  /// The least and the largest number of the narrowest part that has a share of all; `nil` without numbers.
  private func narrowest(_ share: Double) -> (least: Double, most: Double)? {
    let wanted = max(1, Int((Double(before[entries.count]) * share).rounded(.up)))
    var found: (least: Double, most: Double)?
    var end = 0
    for start in entries.indices {
      while end < entries.count, before[end] - before[start] < wanted { end += 1 }
      guard before[end] - before[start] >= wanted else { break }
      let part = (least: entries[start].number, most: entries[end - 1].number)
      if found.map({ part.most - part.least < $0.most - $0.least }) ?? true { found = part }
    }
    return found
  }
}

extension Array {
  /// The index of the first element of the second part, to which all elements from there on belong.
  func partitioningIndex(where isSecond: (Element) -> Bool) -> Int {
    var range = indices
    while !range.isEmpty {
      let middle = (range.lowerBound + range.upperBound) / 2
      range = isSecond(self[middle]) ? range.lowerBound..<middle : middle + 1..<range.upperBound
    }
    return range.lowerBound
  }
}

extension Double {
  /// The next larger of 1, 2 and 5 times a power of ten.
  fileprivate var roundStep: Double {
    let power = pow(10, log10(self).rounded(.down))
    return ([1, 2, 5].first { $0 * power >= self * 0.999_999 } ?? 10) * power
  }
}
