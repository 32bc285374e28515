import AggregatorKit
import AggregatorSourceTesting
import Foundation

/// Makes inputs out of samples: mostly nearly right ones, for those get furthest into a parser.
struct Mutator: Sendable {
  /// The longest input, in bytes.
  static let longest = 1 << 14

  let samples: [[UInt8]]
  let tokens: [[UInt8]]
  /// The samples that are JSON, with lists cut short.
  let trees: [JSON]

  init(samples: [[UInt8]], tokens: [[UInt8]]) {
    let trees = samples.compactMap { sample -> JSON? in
      guard let first = sample.first, "{[".utf8.contains(first) else { return nil }
      return JSON(reading: Data(sample))?.cut(to: 3)
    }
    self.samples = trees.isEmpty ? samples : trees.map { Array($0.text.utf8) }
    self.trees = trees
    self.tokens = tokens + Hostile.texts.map { Array($0.utf8) }
  }

  func input(_ random: inout Seeded) -> [UInt8] {
    var bytes: [UInt8]
    switch Int.random(in: 0..<16, using: &random) {
    case 0: bytes = noise(&random)
    case 1...2: bytes = soup(&random)
    case 3...9 where !trees.isEmpty: bytes = tree(&random)
    default:
      bytes = samples.randomElement(using: &random) ?? []
      for _ in 0..<Int.random(in: 0...4, using: &random) { change(&bytes, &random) }
    }
    return Array(bytes.prefix(Self.longest))
  }

  private func noise(_ random: inout Seeded) -> [UInt8] {
    (0..<Int.random(in: 0...64, using: &random)).map { _ in .random(in: 0...255, using: &random) }
  }

  private func soup(_ random: inout Seeded) -> [UInt8] {
    (0..<Int.random(in: 0...16, using: &random)).flatMap { _ in
      tokens.randomElement(using: &random) ?? []
    }
  }

  private func tree(_ random: inout Seeded) -> [UInt8] {
    var tree = trees.randomElement(using: &random) ?? .null
    for _ in 0..<Int.random(in: 1...3, using: &random) { tree.mutate(&random) }
    var bytes = tree.bytes(marking: Hostile.json.randomElement(using: &random) ?? "null")
    if Int.random(in: 0..<8, using: &random) == 0 { change(&bytes, &random) }
    return bytes
  }
}
