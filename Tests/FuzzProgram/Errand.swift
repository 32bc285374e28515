import AggregatorFuzzing
import Foundation

/// What a child process is to do, and where it says how far it is: it may crash, or never end.
struct Errand: Codable {
  var target: String
  var seed: UInt64
  /// The case to begin with.
  var first = 0
  /// How many cases.
  var count = Int.max
  /// The shapes to try after that.
  var shapes = 0..<Int.max
  var seconds: Double
  /// A file that begins with the number of the case, or with what is left of a shape's number from -1.
  var progress: String

  /// The child's part.
  ///
  /// - Returns: What came of it; `nil` if there is no such parser.
  func run() async -> Campaign.Outcome? {
    guard let target = FuzzTarget.all.first(where: { $0.name == target }) else { return nil }
    let file = open(progress, O_WRONLY)
    let report: @Sendable (Int) -> Void = { number in
      withUnsafeBytes(of: Int64(number)) { _ = pwrite(file, $0.baseAddress, $0.count, 0) }
    }
    let start = ContinuousClock.now
    let end = count.addingReportingOverflow(first)
    var outcome = await Campaign(of: target, seed: seed).run(
      first..<(end.overflow ? .max : end.partialValue),
      until: start + .seconds(target.cost == .high ? seconds : seconds * 0.85), progress: report)
    guard target.cost != .high else { return outcome }
    let growth = LoadMorePolicy(of: target, seed: seed)
    for shape in shapes {
      if shapes.count > 1, ContinuousClock.now >= start + .seconds(seconds) { break }
      report(-1 - shape)
      if let finding = await growth.run(shape) { outcome.findings.append(finding) }
      if outcome.findings.count > 5 { break }
    }
    return outcome
  }
}
