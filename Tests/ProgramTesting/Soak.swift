import Foundation

/// The number of rounds for tests of rare failures.
enum Soak {
  /// `true` in a soak test: `AGGREGATOR_SOAK=1 Scripts/test --filter …`.
  static let isOn = ProcessInfo.processInfo.environment["AGGREGATOR_SOAK"] != nil

  /// 100 rounds in a soak test, otherwise few.
  static func rounds(_ few: Int) -> Range<Int> { 0..<(isOn ? 100 : few) }
}
