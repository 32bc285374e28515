import AggregatorKit

/// What was typed, read: a command, its arguments and its options.
///
/// The values of options have been checked, so the accessors only convert them.
package struct Invocation: Sendable {
  /// The words after those of the command.
  let arguments: [String]

  private let values: [Option: [String]]

  init(arguments: [String], values: [Option: [String]]) {
    self.arguments = arguments
    self.values = values
  }

  /// Whether an option was given.
  func has(_ option: Option) -> Bool { values[option] != nil }

  /// The value of an option; the last if it was given several times.
  func text(_ option: Option) -> String? { values[option]?.last }

  /// The value of an option that takes a number.
  func count(_ option: Option) -> Int? { text(option).flatMap { Int($0) } }

  /// The value of an option that takes a time.
  func duration(_ option: Option) -> Duration? { text(option).flatMap { Duration(typed: $0) } }

  /// The words of an option that takes several, separated by commas.
  func list(_ option: Option) -> [String]? {
    text(option).map { text in
      text.split(separator: ",").map { $0.trimmingPrefix { $0 == " " } }.map(String.init)
    }
  }

  /// The only argument.
  func argument(_ name: String) throws(CommandError) -> String {
    guard let argument = arguments.first else { throw CommandError(.usage, "\(name) is missing") }
    try refuseArguments(after: 1)
    return argument
  }

  /// Refuses what is left over.
  func refuseArguments(after count: Int = 0) throws(CommandError) {
    guard arguments.count > count else { return }
    throw CommandError(.usage, "'\(arguments[count])' is one word too many")
  }
}

extension Duration {
  /// A time as it is typed: a number and `ms`, `s`, `m` or `h`; more than zero, at most a day.
  package init?(typed text: String) {
    guard let match = text.wholeMatch(of: /([0-9]{1,8})(\.[0-9]{1,3})?(ms|s|m|h)/),
      let number = Double(match.1 + (match.2 ?? ""))
    else { return nil }
    let unit: Double =
      switch match.3 {
      case "ms": 0.001
      case "m": 60
      case "h": 3600
      default: 1
      }
    let milliseconds = (number * unit * 1000).rounded()
    guard 1...86_400_000 ~= milliseconds else { return nil }
    self = .milliseconds(Int64(milliseconds))
  }
}
