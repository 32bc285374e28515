import AggregatorKit
import Foundation

/// Asks a person whether something is really to be done.
enum Confirmation {
  /// Asks, where there is somebody to ask.
  ///
  /// - Parameters:
  ///   - question: The question without its mark: `delete 3 users`.
  ///   - mayAsk: Whether a person may be asked.
  /// - Returns: `true` for `y` or `yes`.
  /// - Throws: ``CommandError`` with code `usage` where there is nobody to ask.
  static func ask(_ question: String, mayAsk: Bool) throws(CommandError) -> Bool {
    guard mayAsk, isatty(STDIN_FILENO) == 1 else {
      throw CommandError(.usage, "not without being asked to", hint: "give --yes to \(question)")
    }
    try? Output(descriptor: STDERR_FILENO).write("\(question.safeLine)? [y/N] ")
    let answer = readLine()?.trimmingCharacters(in: .whitespaces).lowercased()
    return answer == "y" || answer == "yes"
  }
}
