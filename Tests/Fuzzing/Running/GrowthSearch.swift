import AggregatorKit
import AggregatorSourceTesting
import Foundation

/// Searches for inputs whose time grows faster than their length.
///
/// Repeats a piece of input in the middle of a sample, and compares the CPU time for a length and
/// for four times that length: a factor of four to five is linear, sixteen is quadratic.
package struct GrowthSearch: Sendable {
  private static let factor = 4
  private static let maxGrowth = 10.0
  private static let start = 1 << 10
  private static let end = 1 << 20
  /// The shortest time that can be measured, in seconds.
  private static let measurable = 0.02

  private let target: FuzzTarget
  private let seed: UInt64

  package init(of target: FuzzTarget, seed: UInt64) {
    self.target = target
    self.seed = seed
  }

  /// A repeated piece and its context.
  private struct Shape {
    let head: [UInt8]
    let unit: [UInt8]
    let tail: [UInt8]

    func input(_ length: Int) -> [UInt8] {
      head + repeatElement(unit, count: max(1, length / unit.count)).joined() + tail
    }
  }

  @concurrent package func run(_ number: Int) async -> Finding? {
    let shape = shape(number)
    var length = Self.start
    var time = await time(of: shape.input(length))
    while time < Self.measurable, length < Self.end {
      length *= Self.factor
      time = await self.time(of: shape.input(length))
    }
    guard time >= Self.measurable, length > Self.start else { return nil }
    // The minimum of several runs, because other processes interfere.
    var shorter = Double.infinity
    for _ in 0..<4 {
      shorter = min(shorter, await self.time(of: shape.input(length / Self.factor)))
      guard time / shorter > Self.maxGrowth else { return nil }
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
      // Repeat rows of a list, each with the same defect.
      tree.mutate(&random)
      let text = String(decoding: tree.bytes(marking: "null"), as: UTF8.self)
      let row = tree.elements.randomElement(using: &random)?.text ?? "[]"
      if let offset = text.range(of: row) {
        return Shape(
          head: Array(text[..<offset.upperBound].utf8), unit: Array(",\(row)".utf8),
          tail: Array(text[offset.upperBound...].utf8))
      }
    }
    let sample = mutator.samples.randomElement(using: &random) ?? []
    let offset = Int.random(in: 0...sample.count, using: &random)
    var unit: [UInt8] = []
    for _ in 0..<Int.random(in: 1...3, using: &random) {
      if Int.random(in: 0..<3, using: &random) > 0 {
        unit += mutator.tokens.randomElement(using: &random) ?? []
      } else {
        unit += sample[offset...].prefix(.random(in: 1...8, using: &random))
      }
    }
    let isBare = Int.random(in: 0..<3, using: &random) == 0
    return Shape(
      head: isBare ? [] : Array(sample[..<offset]), unit: unit.isEmpty ? [0x20] : unit,
      tail: isBare ? [] : Array(sample[offset...]))
  }

  /// The CPU time in seconds.
  ///
  /// Broken invariants are ignored.
  private func time(of input: [UInt8]) async -> Double {
    let start = Self.processorTime
    _ = await target.failure(for: input)
    return Self.processorTime - start
  }

  /// POSIX defines `clock()` in microseconds.
  private static var processorTime: Double { Double(clock()) / 1e6 }
}
