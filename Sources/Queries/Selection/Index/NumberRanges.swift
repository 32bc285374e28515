import AggregatorFoundation

/// Ranges between round numbers that cover all numbers of a field.
///
/// They are equally wide, unless one of them had most numbers: then the fullest ones are divided, and the emptiest ones
/// joined with their neighbours, as prices of which few are a thousand times the others need.
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
    package let from: Bound
    package fileprivate(set) var to: Bound
    package fileprivate(set) var count: Int
  }

  /// A multiple of a step, which is 1, 2 or 5 times a power of ten.
  package struct Bound {
    fileprivate let multiple: Double
    fileprivate let step: Double
    package let number: Double
    /// The number in decimal digits, without an exponent.
    package let text: String

    fileprivate init(multiple: Double, step: Double) {
      (self.multiple, self.step) = (multiple, step)
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
  }

  package let isWhole: Bool
  package private(set) var ranges: [Range] = []
  private let entries: [Entry]
  /// The number of records before each entry.
  private let before: [Int]

  private static let mostRanges = 14

  /// - Parameter count: About how many ranges there are, if they are equally wide.
  package init(of numbers: [Entry], about count: Int) {
    entries = numbers.sorted { $0.number < $1.number }
    before = entries.reduce(into: [0]) { $0.append($0[$0.count - 1] + $1.count) }
    isWhole = entries.allSatisfy { $0.number == $0.number.rounded() }
    guard let least = entries.first?.number, let most = entries.last?.number, least < most else {
      return
    }
    var step = ((most - least) / Double(count)).roundStep
    if isWhole { step = max(1, step) }
    var first = (least / step).rounded(.down)
    var last = (most / step).rounded(.down)
    // Numbers that are too large to be told apart.
    guard last - first < 100, abs(least) < 1e15, abs(most) < 1e15, step > 1e-9 else { return }
    // A quotient is rounded.
    if Bound(multiple: first, step: step).number > least { first -= 1 }
    if Bound(multiple: last + 1, step: step).number <= most { last += 1 }
    ranges = (0...Int(last - first)).map { range(first + Double($0), first + Double($0) + 1, step) }
    if let full = ranges.map(\.count).max(), full * 2 > before[entries.count] { balance() }
  }

  /// Divides ranges while one has more than a quarter of all numbers, and then joins neighbours.
  private mutating func balance() {
    for _ in 0..<40 {
      guard
        let index = ranges.indices.filter({ parts(of: ranges[$0]).count > 1 })
          .max(by: { ranges[$0].count < ranges[$1].count }),
        ranges[index].count * 4 > before[entries.count]
      else { break }
      ranges.replaceSubrange(index...index, with: parts(of: ranges[index]))
    }
    func count(_ index: Int) -> Int { ranges[index].count + ranges[index + 1].count }
    while let index = ranges.indices.dropLast().min(by: { count($0) < count($1) }),
      ranges.count > Self.mostRanges || count(index) == 0
    {
      ranges[index].to = ranges[index + 1].to
      ranges[index].count += ranges[index + 1].count
      ranges.remove(at: index + 1)
    }
  }

  /// The two or five parts of a range; itself if its numbers are all the same.
  private func parts(of range: Range) -> [Range] {
    let numbers = entries[firstIndex(from: range.from.number)..<firstIndex(from: range.to.number)]
    let wide = range.from.step
    let leading = Int((wide / pow(10, (log10(wide) + 1e-9).rounded(.down))).rounded())
    let count = leading == 2 ? 2 : 5
    let step = wide / Double(count)
    guard let least = numbers.first?.number, let most = numbers.last?.number, least < most,
      step > 1e-9, !isWhole || step >= 1
    else { return [range] }
    let first = range.from.multiple * Double(count)
    return (0..<count).map { self.range(first + Double($0), first + Double($0) + 1, step) }
  }

  private func range(_ from: Double, _ to: Double, _ step: Double) -> Range {
    let (low, high) = (Bound(multiple: from, step: step), Bound(multiple: to, step: step))
    let count = before[firstIndex(from: high.number)] - before[firstIndex(from: low.number)]
    return Range(from: low, to: high, count: count)
  }

  /// The index of the first entry that is not below a number.
  private func firstIndex(from number: Double) -> Int {
    var range = 0..<entries.count
    while !range.isEmpty {
      let middle = (range.lowerBound + range.upperBound) / 2
      range =
        entries[middle].number < number
        ? middle + 1..<range.upperBound : range.lowerBound..<middle
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
