package import AggregatorFoundation

/// A unit in which people write durations: `30s`, `1.5h`.
package enum DurationUnit: String, Sendable {
  case milliseconds = "ms"
  case seconds = "s"
  case minutes = "m"
  case hours = "h"
  case days = "d"
  case weeks = "w"

  fileprivate var duration: Duration {
    switch self {
    case .milliseconds: .milliseconds(1)
    case .seconds: .seconds(1)
    case .minutes: .seconds(60)
    case .hours: .seconds(3600)
    case .days: .seconds(86_400)
    case .weeks: .seconds(604_800)
    }
  }
}

extension Duration {
  /// Parses a number and one of the units, such as `30s`; `nil` for another text.
  ///
  /// - Parameters:
  ///   - numbers: The bounds of the number without its decimals.
  ///   - maxDecimals: The most decimals of the number.
  ///   - defaultUnit: The unit of a number without one; `nil` if it needs one.
  package init?(
    _ text: String, numbers: ClosedRange<Int>, units: [DurationUnit],
    maxDecimals: Int = 0, defaultUnit: DurationUnit? = nil
  ) {
    let number = text.prefix { $0.isNumber || $0 == "." }
    let name = text[number.endIndex...]
    let parts = number.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    guard let unit = name.isEmpty ? defaultUnit : DurationUnit(rawValue: String(name)),
      units.contains(unit), let whole = parts.first.flatMap({ Int($0) }), numbers ~= whole
    else { return nil }
    self = unit.duration * whole
    guard parts.count > 1 else { return }
    guard parts[1].count <= maxDecimals, let decimals = Int(parts[1]) else { return nil }
    let scale = parts[1].reduce(1) { scale, _ in scale * 10 }
    self += unit.duration * decimals / scale
  }

  /// This whole number of seconds in the largest of the units, seconds or longer, that divides it: `90m`, `2h`.
  package func text(in units: [DurationUnit]) -> String {
    // A quotient of durations is a Double, and not always a whole number where it should be.
    func count(_ unit: DurationUnit) -> Int64 {
      components.seconds / unit.duration.components.seconds
    }
    let unit = units.sorted { $0.duration > $1.duration }.first { $0.duration * count($0) == self }
    return "\(count(unit ?? .seconds))\((unit ?? .seconds).rawValue)"
  }

  /// A short text, rounded up so that a wait is long enough: `500 ms`, `1.4 s`, `12 s`, `3 min`, `2 h`,
  /// `7 days`.
  package var text: String {
    let milliseconds = (self / .milliseconds(1)).rounded(.up)
    return switch milliseconds {
    case ...0: "0 s"
    case ..<1000: "\(Int(milliseconds)) ms"
    case ..<9_900 where (milliseconds / 100).rounded(.up).truncatingRemainder(dividingBy: 10) != 0:
      "\((milliseconds / 100).rounded(.up) / 10) s"
    case ...119_000: "\(Int((milliseconds / 1000).rounded(.up))) s"
    case ...7_140_000: "\(Int((milliseconds / 60_000).rounded(.up))) min"
    case 172_800_000..<8.64e15 where milliseconds.truncatingRemainder(dividingBy: 86_400_000) == 0:
      "\(Int(milliseconds / 86_400_000)) days"
    case ..<8.64e15: "\(Int((milliseconds / 3_600_000).rounded(.up))) h"
    default: "a very long time"
    }
  }
}

extension Date {
  /// The time since this date: `just now`, `15 s ago`, `3 days ago`; rounded down, but 90 to 119 seconds are `2 min ago`.
  package func age(at now: Date) -> String {
    let seconds = now.timeIntervalSince(self)
    // Also if the clock was set back.
    guard seconds >= 5 else { return "just now" }
    let unit: Double =
      switch seconds {
      case ..<90: 1
      case ..<7200: 60
      case ..<172_800: 3600
      default: 86_400
      }
    let count = Int64(min(max(2, seconds / unit), 1e9))
    return "\(Duration.seconds(count * Int64(unit)).text) ago"
  }
}

extension Int {
  /// This number of things: `1 page`, `2 pages`.
  package func of(_ word: String) -> String { "\(self) \(word)\(self == 1 ? "" : "s")" }

  /// `20,000`.
  package var grouped: String { String(self).withThousands }

  /// `20,000 records`, `1 record`.
  package func grouped(_ word: String) -> String { "\(grouped) \(word)\(self == 1 ? "" : "s")" }
}

extension [String] {
  /// These words in a sentence: `a`, `a and b`, `a, b and c`.
  package var listText: String {
    count < 2 ? joined() : "\(dropLast().joined(separator: ", ")) and \(self[count - 1])"
  }
}

extension String {
  /// This number with commas between the thousands of its whole part.
  package var withThousands: String {
    let sign = prefix { $0 == "-" }
    let digits = dropFirst(sign.count).prefix { "0"..."9" ~= $0 }
    var text = String(sign)
    for (index, digit) in digits.enumerated() {
      if index > 0, (digits.count - index) % 3 == 0 { text += "," }
      text.append(digit)
    }
    return text + dropFirst(sign.count + digits.count)
  }
}
