import AggregatorKit
import AggregatorSourceTesting
import Foundation

/// Looks for inputs whose time grows faster than their length.
///
/// It takes a piece of what a parser reads, repeats it in the middle of a sample, and compares the
/// processor's time for a length and for four times that length: four to five times as much is as it
/// should be, sixteen times is quadratic.
package struct LoadMorePolicy: Sendable {
  private static let factor = 4
  private static let most = 10.0
  private static let start = 1 << 10
  private static let end = 1 << 20
  /// What is long enough to be measured, in seconds.
  private static let measurable = 0.02

  private let target: FuzzTarget
  private let seed: UInt64

  /// A search.
  package init(of target: FuzzTarget, seed: UInt64) {
    self.target = target
    self.seed = seed
  }

  /// What is repeated, and where.
  private struct Shape {
    let head: [UInt8]
    let unit: [UInt8]
    let tail: [UInt8]

    func input(_ length: Int) -> [UInt8] {
      head + repeatElement(unit, count: max(1, length / unit.count)).joined() + tail
    }
  }

  /// Tries a shape.
  ///
  /// - Parameter number: Which.
  /// - Returns: What was found.
  @concurrent package func run(_ number: Int) async -> Finding? {
    let shape = shape(number)
    var length = Self.start
    var time = await time(of: shape.input(length))
    while time < Self.measurable, length < Self.end {
      length *= Self.factor
      time = await self.time(of: shape.input(length))
    }
    guard time >= Self.measurable, length > Self.start else { return nil }
    // The least of several: the machine does other things too.
    var shorter = Double.infinity
    for _ in 0..<4 {
      shorter = min(shorter, await self.time(of: shape.input(length / Self.factor)))
      guard time / shorter > Self.most else { return nil }
      time = min(time, await self.time(of: shape.input(length)))
    }
    let words = [length / Self.factor, length].map { "\($0)" }.joined(separator: " and ")
    let ratio = (time / shorter * 10).rounded() / 10
    return Finding(
      target: target.name, number: number, isShape: true,
      what: "\(words) bytes differ in time by \(ratio), with \(shape.unit.escaped) repeated",
      input: shape.input(1))
  }

  private func shape(_ number: Int) -> Shape {
    var random = target.random(~number, seed)
    let mutator = target.mutator
    if Bool.random(using: &random), var tree = mutator.trees.randomElement(using: &random) {
      // As many rows of a list, of which something may be wrong in each.
      tree.mutate(&random)
      let text = String(decoding: tree.bytes(marking: "null"), as: UTF8.self)
      let row = tree.elements.randomElement(using: &random)?.text ?? "[]"
      if let checkpoint = text.range(of: row) {
        return Shape(
          head: Array(text[..<checkpoint.upperBound].utf8), unit: Array(",\(row)".utf8),
          tail: Array(text[checkpoint.upperBound...].utf8))
      }
    }
    let sample = mutator.samples.randomElement(using: &random) ?? []
    let checkpoint = Int.random(in: 0...sample.count, using: &random)
    var unit: [UInt8] = []
    for _ in 0..<Int.random(in: 1...3, using: &random) {
      if Int.random(in: 0..<3, using: &random) > 0 {
        unit += mutator.tokens.randomElement(using: &random) ?? []
      } else {
        unit += sample[checkpoint...].prefix(.random(in: 1...8, using: &random))
      }
    }
    let isBare = Int.random(in: 0..<3, using: &random) == 0
    return Shape(
      head: isBare ? [] : Array(sample[..<checkpoint]), unit: unit.isEmpty ? [0x20] : unit,
      tail: isBare ? [] : Array(sample[checkpoint...]))
  }

  /// The processor's time, in seconds; broken promises are for others to find.
  private func time(of input: [UInt8]) async -> Double {
    let start = Self.processorTime
    _ = await target.complaint(about: input)
    return Self.processorTime - start
  }

  /// POSIX has it in microseconds everywhere.
  private static var processorTime: Double { Double(clock()) / 1e6 }
}
