import AggregatorKit
import AggregatorSourceTesting
import Foundation

/// Creates inputs from samples.
///
/// Most are nearly valid, because those get furthest into a parser.
struct Mutator: Sendable {
  /// The longest input, in bytes.
  static let maxLength = 1 << 14

  let samples: [[UInt8]]
  let tokens: [[UInt8]]
  /// The samples that are JSON, with shortened lists.
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

  func input(_ random: inout SeededGenerator) -> [UInt8] {
    var bytes: [UInt8]
    switch Int.random(in: 0..<16, using: &random) {
    case 0: bytes = noise(&random)
    case 1...2: bytes = soup(&random)
    case 3...9 where !trees.isEmpty: bytes = tree(&random)
    default:
      bytes = samples.randomElement(using: &random) ?? []
      for _ in 0..<Int.random(in: 0...4, using: &random) { change(&bytes, &random) }
    }
    return Array(bytes.prefix(Self.maxLength))
  }

  private func noise(_ random: inout SeededGenerator) -> [UInt8] {
    (0..<Int.random(in: 0...64, using: &random)).map { _ in .random(in: 0...255, using: &random) }
  }

  private func soup(_ random: inout SeededGenerator) -> [UInt8] {
    (0..<Int.random(in: 0...16, using: &random)).flatMap { _ in
      tokens.randomElement(using: &random) ?? []
    }
  }

  private func tree(_ random: inout SeededGenerator) -> [UInt8] {
    var tree = trees.randomElement(using: &random) ?? .null
    for _ in 0..<Int.random(in: 1...3, using: &random) { tree.mutate(&random) }
    var bytes = tree.bytes(marking: Hostile.json.randomElement(using: &random) ?? "null")
    if Int.random(in: 0..<8, using: &random) == 0 { change(&bytes, &random) }
    return bytes
  }
}

extension Mutator {
  /// Changes a few bytes.
  func change(_ bytes: inout [UInt8], _ random: inout SeededGenerator) {
    let offset = Int.random(in: 0...bytes.count, using: &random)
    let slice = self.slice(of: bytes, &random)
    switch Int.random(in: 0..<9, using: &random) {
    case 0 where offset < bytes.count:
      bytes[offset] ^= 1 << UInt8.random(in: 0..<8, using: &random)
    case 1 where offset < bytes.count: bytes[offset] = .random(in: 0...255, using: &random)
    case 2: bytes.removeSubrange(slice)
    case 3: bytes.removeSubrange(offset...)
    case 4:
      let isLong = Int.random(in: 0..<10, using: &random) == 0
      let times = isLong ? Int.random(in: 1...2000, using: &random) : 1
      let maxTimes = max(1, Self.maxLength / max(1, slice.count))
      bytes.insert(
        contentsOf: repeatElement(bytes[slice], count: min(times, maxTimes)).joined(), at: offset)
    case 5:
      let other = samples.randomElement(using: &random) ?? []
      bytes.replaceSubrange(
        offset..., with: other[self.slice(of: other, &random).lowerBound...])
    case 6: bytes.replaceSubrange(slice, with: Hostile.number(&random).utf8)
    default:
      let token = tokens.randomElement(using: &random) ?? []
      let isReplaced = Bool.random(using: &random)
      bytes.replaceSubrange(isReplaced ? slice : offset..<offset, with: token)
    }
  }

  /// Usually short.
  private func slice(of bytes: [UInt8], _ random: inout SeededGenerator) -> Range<Int> {
    let start = Int.random(in: 0...bytes.count, using: &random)
    let longest = Bool.random(using: &random) ? 8 : bytes.count
    let count = Int.random(in: 0...min(longest, bytes.count - start), using: &random)
    return start..<start + count
  }
}

extension JSON {
  /// A placeholder for a value that only raw text can express, such as half of a surrogate pair.
  private static let mark = "\u{F8FF}"

  /// This value with every list shortened to `count` elements.
  func cut(to count: Int) -> JSON {
    switch self {
    case .array(let values): .array(values.prefix(count).map { $0.cut(to: count) })
    case .object(let members):
      .object(members.map { Member($0.name, $0.value.cut(to: count)) })
    default: self
    }
  }

  /// The elements of all nested lists.
  var elements: [JSON] {
    switch self {
    case .array(let values): values + values.flatMap(\.elements)
    case .object(let members): members.flatMap(\.value.elements)
    default: []
    }
  }

  /// The text, with the placeholder replaced by raw text.
  func bytes(marking raw: String) -> [UInt8] {
    Array(text.replacing(JSON.string(Self.mark).text, with: raw).utf8)
  }

  /// Changes one nested value, or its container.
  mutating func mutate(_ random: inout SeededGenerator) {
    switch self {
    case .array(var values) where !values.isEmpty && Int.random(in: 0..<12, using: &random) > 0:
      let index = Int.random(in: 0..<values.count, using: &random)
      switch Int.random(in: 0..<10, using: &random) {
      case 0: values.remove(at: index)
      case 1: values.insert(values[index], at: index)
      case 2: values.insert(.hostile(&random), at: index)
      default: values[index].mutate(&random)
      }
      self = .array(values)
    case .object(var members) where !members.isEmpty && Int.random(in: 0..<12, using: &random) > 0:
      let index = Int.random(in: 0..<members.count, using: &random)
      let (name, value) = (members[index].name, members[index].value)
      switch Int.random(in: 0..<10, using: &random) {
      case 0: members.remove(at: index)
      case 1: members.insert(Member(name, .hostile(&random)), at: index)
      case 2: members[index] = Member(members.randomElement(using: &random)?.name ?? "", value)
      case 3: members[index] = Member(Hostile.texts.randomElement(using: &random) ?? "", value)
      default:
        var inner = value
        inner.mutate(&random)
        members[index] = Member(name, inner)
      }
      self = .object(members)
    default: self = .hostile(&random)
    }
  }

  private static func hostile(_ random: inout SeededGenerator) -> JSON {
    switch Int.random(in: 0..<10, using: &random) {
    case 0: .null
    case 1: .bool(.random(using: &random))
    case 2: .integer(Hostile.integers.randomElement(using: &random) ?? 0)
    case 3: .number(Double(bitPattern: .random(in: .min ... .max, using: &random)))
    case 4: .array([])
    case 5: .object([])
    case 6: .string(mark)
    default: .string(Hostile.text(&random))
    }
  }
}
