import AggregatorKit
import AggregatorSourceTesting

/// A parser of untrusted bytes, and the invariants to check for every input.
package struct FuzzTarget: Sendable {
  /// The cost of one input, which determines the number of inputs.
  package enum Cost: Sendable {
    /// Microseconds, for most parsers.
    case low
    /// A tenth of a millisecond and more: whole replies.
    case medium
    /// Milliseconds: files.
    case high

    /// The number of inputs in the test suite.
    package var tested: Int {
      switch self {
      case .low: 400
      case .medium: 100
      case .high: 12
      }
    }
  }

  /// Such as `html` or `heroes-list`.
  package let name: String

  package let cost: Cost

  let mutator: Mutator
  let check: @Sendable ([UInt8]) async throws -> Void

  /// A parser of bytes.
  ///
  /// - Parameters:
  ///   - samples: Valid inputs to mutate.
  ///   - tokens: Text with a meaning to the parser.
  ///   - check: Throws a finding.
  init(
    _ name: String, samples: [[UInt8]], tokens: [String] = [], cost: Cost = .low,
    check: @escaping @Sendable ([UInt8]) async throws -> Void
  ) {
    self.name = name
    self.cost = cost
    mutator = Mutator(samples: samples, tokens: tokens.map { Array($0.utf8) })
    self.check = check
  }

  /// A parser of text; invalid UTF-8 becomes U+FFFD.
  init(
    _ name: String, texts: [String], tokens: [String] = [], cost: Cost = .low,
    check: @escaping @Sendable (String) async throws -> Void
  ) {
    self.init(name, samples: texts.map { Array($0.utf8) }, tokens: tokens, cost: cost) { bytes in
      try await check(String(decoding: bytes, as: UTF8.self))
    }
  }

  package var hasSamples: Bool { !mutator.samples.isEmpty }

  /// The input of a case, determined by seed and number.
  package func input(of number: Int, seed: UInt64) -> [UInt8] {
    var random = random(number, seed)
    return mutator.input(&random)
  }

  func random(_ number: Int, _ seed: UInt64) -> SeededGenerator {
    SeededGenerator(
      seed &+ name.fnv1a &+ UInt64(truncatingIfNeeded: number) &* 0xD1B5_4A32_D192_ED03)
  }
}

/// A finding: an invariant that does not hold.
struct BrokenInvariant: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

/// Throws unless an invariant holds.
func expect(_ isKept: @autoclosure () throws -> Bool, _ promise: @autoclosure () -> String) throws {
  if try !isKept() { throw BrokenInvariant(promise()) }
}

extension FuzzTarget {
  package static let all =
    replies + json + http + images + text + searching + positions + settings + commands + agents
    + output + recordings + store + manifests + signingIn + formats + taps
}

/// Throws if an error message is long, or contains control or invisible characters.
func expectHarmless(_ error: SourceError) throws {
  for words in [error.message, error.remedy?.text ?? ""] {
    try expect(words.count <= 1000, "an error of \(words.count) characters")
    let bad = words.unicodeScalars.first(where: \.isInvisible)
    try expect(bad == nil, "an error with U+\(String(bad?.value ?? 0, radix: 16)): \(error.code)")
  }
}
