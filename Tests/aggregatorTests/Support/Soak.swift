import Foundation

/// How often a test tries what fails only now and then.
enum Soak {
  /// Whether there is time: `AGGREGATOR_SOAK=1 swift test --filter …`.
  static let isOn = ProcessInfo.processInfo.environment["AGGREGATOR_SOAK"] != nil

  /// 100 rounds where there is time, and few otherwise.
  static func rounds(_ few: Int) -> Range<Int> { 0..<(isOn ? 100 : few) }
}
