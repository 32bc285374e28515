import AggregatorCore
import AggregatorText

/// The share of a known total that is done, and the time that the rest takes at the same rate.
struct ProgressBar {
  private let width: Int
  private let hasUTF8: Bool

  private static let maxCells = 20

  /// - Parameter width: The width of the terminal; a narrow one shows less.
  init(width: Int, hasUTF8: Bool) {
    self.width = width
    self.hasUTF8 = hasUTF8
  }

  /// `heroes: ██████░░░░░░░░ 30% · 1200 of 4005, 96/s · 29 s left`.
  ///
  /// - Parameters:
  ///   - count: The part of `done` that took `time`: earlier runs may have done the rest.
  func line(
    _ name: String, _ done: Int, of total: Int, after count: Int, in time: Duration
  ) -> String {
    let done = min(done, total)
    // Not 100 before the end.
    let percent = total > 0 ? done * 100 / total : 100
    var parts = [width >= 40 ? "\(name): \(bar(percent)) \(percent)%" : "\(name): \(percent)%"]
    let rate = Double(count) / max(time / .seconds(1), 0.001)
    if width >= 60 { parts.append("\(done) of \(total), \(Int(min(rate, 1e9)))/s") }
    // The first records say little about the others.
    if count > 0, time >= .seconds(1), done < total {
      parts.append("\(Duration.seconds(Double(total - done) / rate).text) left")
    }
    return parts.joined(separator: " · ")
  }

  private func bar(_ percent: Int) -> String {
    let cells = min(width / 4, Self.maxCells)
    let full = cells * percent / 100
    return String(repeating: hasUTF8 ? "█" : "#", count: full)
      + String(repeating: hasUTF8 ? "░" : ".", count: cells - full)
  }
}
