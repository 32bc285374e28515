import AggregatorKit

/// What to do next.
enum Hint: ExpressibleByStringInterpolation {
  /// What to do, in words.
  case words(String)
  /// What to type after the program's name.
  case command(String)

  /// What to do, in words.
  init(stringLiteral value: String) { self = .words(value) }

  /// A library's remedy, with the option or setting of this program that does it.
  init(_ remedy: Remedy) {
    self =
      switch remedy.action {
      case .allowMoreTime?: .words("allow more time with --timeout, or try later")
      case .moveStore?: .words("\(remedy.text), or set AGGREGATOR_HOME")
      case .nameSettingsFile?: .words("\(remedy.text), or use --config FILE")
      case .record?: .words("\(remedy.text): use --record instead of --replay")
      default: .words(remedy.text)
      }
  }
}
