package import AggregatorKit
package import AggregatorTerminal

/// A parsed command line, whose values have been checked: the accessors only convert them.
package struct Invocation: Sendable {
  package let arguments: [String]

  private let values: [Option: [String]]

  package init(arguments: [String], values: [Option: [String]]) {
    self.arguments = arguments
    self.values = values
  }

  package func has(_ option: Option) -> Bool { values[option] != nil }

  /// The value of an option; the last one if it was given several times.
  package func text(_ option: Option) -> String? { values[option]?.last }

  /// The values of an option that may be given several times.
  package func texts(_ option: Option) -> [String] { values[option] ?? [] }

  package func count(_ option: Option) -> Int? { text(option).flatMap { Int($0) } }

  package func duration(_ option: Option) -> Duration? {
    text(option).flatMap { Duration(typed: $0) }
  }

  package func list(_ option: Option) -> [String]? {
    text(option).map { text in
      text.split(separator: ",").map { $0.trimmingPrefix { $0 == " " } }.map(String.init)
    }
  }

  package func argument(_ name: String) throws(CommandError) -> String {
    guard let argument = arguments.first else { throw .missingArgument(name) }
    try refuseArguments(after: 1)
    return argument
  }

  package func query(example: String) throws(CommandError) -> Query {
    guard !arguments.isEmpty else { throw .missingArgument("QUERY", hint: .command(example)) }
    return try CommandError.wrapping(try Query(arguments.joined(separator: " ")))
  }

  package func refuseArguments(after count: Int = 0) throws(CommandError) {
    guard arguments.count > count else { return }
    throw CommandError(.usage, "unexpected argument \"\(arguments[count])\"")
  }
}

extension Duration {
  /// Parses a number and `ms`, `s`, `m` or `h`, or a number of seconds, from 1 ms to one day.
  package init?(typed text: String) {
    self.init(
      text, numbers: 0...99_999_999, units: [.milliseconds, .seconds, .minutes, .hours],
      maxDecimals: 3, defaultUnit: .seconds)
    guard .milliseconds(1) ... .seconds(86_400) ~= self else { return nil }
  }
}
