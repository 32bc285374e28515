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
    Feeds every parser that meets foreign bytes with inputs that are nearly right, and prints what breaks
    a promise, crashes, hangs, or takes more time than its length explains.

    usage: Scripts/fuzz [--seconds N] [--seed S] [--only PARSER[,PARSER…]] [--case N | --shape N] [--help]

      --seconds N   for how long, all parsers together; 60 by default
      --seed S      which inputs; another one each time by default, and it is printed
      --only P      only these parsers
      --case N      only this input, as a finding names it; wants --seed and one parser
      --shape N     only this way to grow, as a finding names it; wants --seed and one parser

    The parsers: \(FuzzTarget.all.map(\.name).joined(separator: " "))

    The exit code is 0 if nothing was found, 1 if something was, and 64 for what is mistyped here.
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
        throw UsageError(message: "unknown argument '\(argument)'", hint: "Scripts/fuzz --help")
      }
      guard let value = rest.popFirst() else {
        throw UsageError(message: "\(argument) wants a value", hint: "Scripts/fuzz --help")
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
        message: "--case and --shape say which input of a seed and a parser",
        hint: "Scripts/fuzz --only PARSER --seed S --case N")
    }
    guard number == nil || shape == nil else {
      throw UsageError(
        message: "--case and --shape exclude each other", hint: "Scripts/fuzz --help")
    }
  }

  private static func number<Value: LosslessStringConvertible & Comparable>(
    _ text: String, _ option: String, _ range: ClosedRange<Value>
  ) throws(UsageError) -> Value {
    guard let number = Value(text), range.contains(number) else {
      throw UsageError(
        message: "\(option) wants a number from \(range.lowerBound) to \(range.upperBound), "
          + "not '\(text)'", hint: "Scripts/fuzz --help")
    }
    return number
  }

  private static func targets(_ text: String) throws(UsageError) -> [FuzzTarget] {
    let names = text.split(separator: ",").map(String.init)
    let known = FuzzTarget.all.map(\.name)
    if let unknown = names.first(where: { !known.contains($0) }) ?? (names.isEmpty ? text : nil) {
      throw UsageError(
        message: "no parser is called '\(unknown)'", hint: "one of \(known.joined(separator: ", "))"
      )
    }
    return FuzzTarget.all.filter { names.contains($0.name) }
  }
}
