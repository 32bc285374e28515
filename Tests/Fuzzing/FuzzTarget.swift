import AggregatorKit
import AggregatorSourceTesting

/// A parser that meets foreign bytes, and what must hold whatever it is given.
package struct FuzzTarget: Sendable {
  /// How much one input costs, which decides how many there are.
  package enum Cost: Sendable {
    /// Microseconds, as most parsers.
    case low
    /// A tenth of a millisecond and more: whole replies.
    case medium
    /// Milliseconds: files.
    case high

    /// How many inputs the suite of all tests tries.
    package var tested: Int {
      switch self {
      case .low: 400
      case .medium: 100
      case .high: 12
      }
    }
  }

  /// What it is called: `html`, `heroes-list`.
  package let name: String

  /// How much one input costs.
  package let cost: Cost

  let mutator: Mutator
  let check: @Sendable ([UInt8]) async throws -> Void

  /// A parser of bytes.
  ///
  /// - Parameters:
  ///   - name: What it is called.
  ///   - samples: What it reads, from which inputs are made.
  ///   - tokens: What means something to it.
  ///   - cost: How much one input costs.
  ///   - check: Tries an input. Whatever it throws is a finding.
  init(
    _ name: String, samples: [[UInt8]], tokens: [String] = [], cost: Cost = .low,
    check: @escaping @Sendable ([UInt8]) async throws -> Void
  ) {
    self.name = name
    self.cost = cost
    mutator = Mutator(samples: samples, tokens: tokens.map { Array($0.utf8) })
    self.check = check
  }

  /// A parser of text; what is not UTF-8 comes as U+FFFD.
  init(
    _ name: String, texts: [String], tokens: [String] = [], cost: Cost = .low,
    check: @escaping @Sendable (String) async throws -> Void
  ) {
    self.init(name, samples: texts.map { Array($0.utf8) }, tokens: tokens, cost: cost) { bytes in
      try await check(String(decoding: bytes, as: UTF8.self))
    }
  }

  /// Whether there is anything to make inputs from.
  package var hasSamples: Bool { !mutator.samples.isEmpty }

  /// The input of a case: always the same for the same seed and number.
  package func input(of number: Int, seed: UInt64) -> [UInt8] {
    var random = random(number, seed)
    return mutator.input(&random)
  }

  /// The random numbers of a case.
  func random(_ number: Int, _ seed: UInt64) -> SeededGenerator {
    SeededGenerator(
      seed &+ name.fnv1a &+ UInt64(truncatingIfNeeded: number) &* 0xD1B5_4A32_D192_ED03)
  }
}

/// A promise that was not kept.
struct BrokenPromise: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

/// Throws unless a promise is kept.
func expect(_ isKept: @autoclosure () throws -> Bool, _ promise: @autoclosure () -> String) throws {
  if try !isKept() { throw BrokenPromise(promise()) }
}

extension FuzzTarget {
  /// Every parser that meets foreign bytes.
  package static let all =
    replies + json + http + images + text + searching + positions + settings + commands + output
    + recordings + store
}

/// Throws unless a failure's words are short, and nothing in them moves a cursor or hides.
func expectHarmless(_ error: SourceError) throws {
  for words in [error.message, error.remedy?.text ?? ""] {
    try expect(words.count <= 1000, "an error of \(words.count) characters")
    let bad = words.unicodeScalars.first(where: \.isInvisible)
    try expect(bad == nil, "an error with U+\(String(bad?.value ?? 0, radix: 16)): \(error.code)")
  }
}
