import AggregatorFuzzing
import Foundation

/// Checks parsers with millions of inputs, and prints the findings.
@main struct FuzzProgram {
  static func main() async throws {
    let arguments = Array(CommandLine.arguments.dropFirst())
    if arguments.first == "--child", arguments.count == 2 {
      let job = try JSONDecoder().decode(Job.self, from: Data(arguments[1].utf8))
      guard let outcome = await job.run() else { exit(64) }
      print(String(decoding: try JSONEncoder().encode(outcome), as: UTF8.self))
      return
    }
    do {
      let options = try Options(arguments)
      if options.wantsHelp { return print(Options.help) }
      exit(try Report(options).run() ? 0 : 1)
    } catch let error as Options.UsageError {
      FileHandle.standardError.write(
        Data("error: \(error.message)\nhint: \(error.hint)\n".utf8))
      exit(64)
    }
  }
}

/// The command-line options.
struct Options {
  var seconds = 60.0
  var seed = UInt64.random(in: 1...999_999_999)
  var targets = FuzzTarget.all
  var number: Int?
  var shape: Int?
  var wantsHelp = false

  struct UsageError: Error {
    let message: String
    let hint: String
  }

  static let help = """
    Checks every parser of untrusted bytes with nearly valid inputs, and reports broken invariants, crashes,
    hangs, and time that is not proportional to the length of the input.

    usage: Scripts/fuzz [--seconds N] [--seed S] [--only PARSER[,PARSER…]] [--case N | --shape N] [--help]

      --seconds N   total time for all parsers; 60 by default
      --seed S      seed of the inputs; random by default, and printed
      --only P      check only these parsers
      --case N      check only this input of a finding; requires --seed and one parser
      --shape N     check only this shape of a finding; requires --seed and one parser

    Parsers: \(FuzzTarget.all.map(\.name).joined(separator: " "))

    Exit codes: 0 for no findings, 1 for findings, 64 for invalid arguments.
    """

  init(_ arguments: [String]) throws(UsageError) {
    var rest = arguments[...]
    var isSeeded = false
    var isChosen = false
    while let argument = rest.popFirst() {
      if argument == "--help" || argument == "-h" {
        wantsHelp = true
        return
      }
      guard ["--seconds", "--seed", "--only", "--case", "--shape"].contains(argument) else {
        throw UsageError(
          message: "unexpected argument \"\(argument)\"", hint: "Scripts/fuzz --help")
      }
      guard let value = rest.popFirst() else {
        throw UsageError(message: "\(argument) requires a value", hint: "Scripts/fuzz --help")
      }
      switch argument {
      case "--seconds": seconds = try Self.number(value, argument, 1...1_000_000)
      case "--seed":
        seed = try Self.number(value, argument, 0...UInt64.max)
        isSeeded = true
      case "--only":
        targets = try Self.targets(value)
        isChosen = true
      case "--case": number = try Self.number(value, argument, 0...Int.max)
      default: shape = try Self.number(value, argument, 0...Int.max)
      }
    }
    guard number == nil && shape == nil || isSeeded && isChosen && targets.count == 1 else {
      throw UsageError(
        message: "--case and --shape require --seed and one parser",
        hint: "Scripts/fuzz --only PARSER --seed S --case N")
    }
    guard number == nil || shape == nil else {
      throw UsageError(
        message: "--case and --shape cannot be used together", hint: "Scripts/fuzz --help")
    }
  }

  private static func number<Value: LosslessStringConvertible & Comparable>(
    _ text: String, _ option: String, _ range: ClosedRange<Value>
  ) throws(UsageError) -> Value {
    guard let number = Value(text), range.contains(number) else {
      throw UsageError(
        message: "invalid value \"\(text)\" for \(option): must be an integer from "
          + "\(range.lowerBound) to \(range.upperBound)", hint: "Scripts/fuzz --help")
    }
    return number
  }

  private static func targets(_ text: String) throws(UsageError) -> [FuzzTarget] {
    let names = text.split(separator: ",").map(String.init)
    let known = FuzzTarget.all.map(\.name)
    if let unknown = names.first(where: { !known.contains($0) }) ?? (names.isEmpty ? text : nil) {
      throw UsageError(
        message: "unknown parser \"\(unknown)\"",
        hint: "use one of \(known.joined(separator: ", "))"
      )
    }
    return FuzzTarget.all.filter { names.contains($0.name) }
  }
}
