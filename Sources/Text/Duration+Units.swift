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
    _ text: some StringProtocol, numbers: ClosedRange<Int>, units: [DurationUnit],
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
}
