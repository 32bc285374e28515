public import AggregatorFoundation
import Synchronization

/// The texts of errors and warnings for the people who use an app, in one language.
///
/// `localizedDescription`, `failureReason` and `recoverySuggestion` of a ``SourceError`` are those of the first
/// language that the person prefers and that is there, and so is the `localizedDescription` of a ``Warning``; English and
/// German are part of the library. Another one is a file of the app, or of a package:
///
/// ```swift
/// ErrorTranslation.add(try ErrorTranslation(of: "fr", contentsOf: url))
/// ```
///
/// ```json
/// {"timedOut": {"title": "Le service n’a pas répondu à temps.", "suggestion": "Réessayez plus tard."}, …}
/// ```
public struct ErrorTranslation: Sendable {
  /// The text of one kind of error, in whole sentences.
  public struct Text: Hashable, Sendable, Codable {
    public var title: String
    public var reason: String?
    /// An action that may help.
    public var suggestion: String?
    /// The same if the error says how long to wait: `{time}` stands for that, such as `40 s`, `9 min` or `3 h`.
    public var timedSuggestion: String?

    public init(
      _ title: String, reason: String? = nil, suggestion: String? = nil,
      timedSuggestion: String? = nil
    ) {
      self.title = title
      self.reason = reason
      self.suggestion = suggestion
      self.timedSuggestion = timedSuggestion
    }
  }

  /// The language (BCP 47): `de`, `pt-BR`.
  public let language: String
  private let texts: [SourceError.Code: Text]
  private let warnings: [Warning.Code: String]

  /// A code without a text has that of English.
  public init(
    of language: String, _ texts: [SourceError.Code: Text], warnings: [Warning.Code: String] = [:]
  ) {
    self.language = language
    self.texts = texts
    self.warnings = warnings
  }

  /// Reads a file of JSON: for the name of each code a `title`, and for those of errors maybe a `reason`, a `suggestion` and a
  /// `timedSuggestion`.
  ///
  /// The name `tooLarge` is that of an error and of a warning: its `warning` is the text of the latter, and likewise for other errors.
  ///
  /// - Throws: A `DecodingError` for another form, or for a name that is none of a code; errors of the file system.
  public init(of language: String, contentsOf file: URL) throws {
    struct Entry: Decodable {
      let text: Text
      let warning: String?

      enum CodingKeys: CodingKey { case warning }

      init(from decoder: any Decoder) throws {
        text = try Text(from: decoder)
        warning = try decoder.container(keyedBy: CodingKeys.self).decodeIfPresent(
          String.self, forKey: .warning)
      }
    }
    let named = try JSONDecoder().decode([String: Entry].self, from: Data(contentsOf: file))
    var texts: [SourceError.Code: Text] = [:]
    var warnings: [Warning.Code: String] = [:]
    for (name, entry) in named {
      let text = entry.text
      if let code = SourceError.Code(name) {
        texts[code] = text
        warnings[Warning.Code(name)] = entry.warning
      } else if Self.english.warnings[Warning.Code(name)] != nil {
        warnings[Warning.Code(name)] = text.title
      } else {
        throw DecodingError.dataCorrupted(
          .init(codingPath: [], debugDescription: "there is no code \(name)"))
      }
    }
    self.init(of: language, texts, warnings: warnings)
  }

  public subscript(code: SourceError.Code) -> Text? { texts[code] }

  // MARK: - Languages

  private static let all = Mutex(["en": english, "de": german])

  /// Adds a language, or replaces its texts.
  public static func add(_ translation: ErrorTranslation) {
    all.withLock { $0[translation.language.lowercased()] = translation }
    observer.withLock(\.self)?.changed()
  }

  /// The text of a code in the first of these languages that is there, or in English.
  public static func text(
    of code: SourceError.Code, in languages: [String] = preferredLanguages
  ) -> Text {
    first(in: languages) { $0[code] } ?? Text(code.text)
  }

  /// The text of a warning in the first of these languages that is there, or in English; `nil` for one that is only for
  /// terminals, or of a source.
  public static func text(
    ofWarning code: Warning.Code, in languages: [String] = preferredLanguages
  ) -> String? {
    // One may be an error beside an answer.
    first(in: languages) { $0.warnings[code] }
      ?? SourceError.Code(code.description).map { text(of: $0, in: languages).title }
  }

  private static func first<Found>(
    in languages: [String], _ text: (ErrorTranslation) -> Found?
  ) -> Found? {
    observer.withLock(\.self)?.read()
    let all = all.withLock { $0 }
    for language in languages.map({ $0.lowercased() }) {
      // `de-AT` also reads `de`.
      let base = String(language.prefix { $0 != "-" })
      for translation in [all[language], all[base]] {
        if let found = translation.flatMap(text) { return found }
      }
    }
    return text(english)
  }

  private static let chosen = Mutex<[String]?>(nil)

  /// Learns when texts or languages are read, and after they have changed.
  package protocol Observer: Sendable {
    func read()
    func changed()
  }

  private static let observer = Mutex<(any Observer)?>(nil)

  /// This module does not import Observation, of which the command line has no use.
  package static func observe(by new: any Observer) { observer.withLock { $0 = new } }

  /// The person's languages, as the system has them: those of the device, or of `LANGUAGE`, `LC_ALL`, `LC_MESSAGES`
  /// and `LANG` (https://www.gnu.org/software/gettext/manual/html_node/Locale-Environment-Variables.html).
  ///
  /// An app that is in fewer languages sets its own when it starts, so that it does not mix them:
  /// `ErrorTranslation.preferredLanguages = Bundle.main.preferredLocalizations`. It may set others at any time, such as for a
  /// switch in its settings: texts are looked up when they are asked for. Once there is a `PagedList`, a `SearchSession` or a
  /// `RecordDetail`, Observation draws the views again that have read a text.
  public static var preferredLanguages: [String] {
    get {
      observer.withLock(\.self)?.read()
      if let chosen = chosen.withLock(\.self) { return chosen }
      // An app of an Apple system has no such variables.
      let own = languages(in: ProcessInfo.processInfo.environment)
      return own.isEmpty ? Locale.preferredLanguages : own
    }
    set {
      chosen.withLock { $0 = newValue }
      observer.withLock(\.self)?.changed()
    }
  }

  package static func languages(in variables: [String: String]) -> [String] {
    let locale =
      ["LC_ALL", "LC_MESSAGES", "LANG"].lazy.compactMap { variables[$0] }.first { !$0.isEmpty }
    // Without a language of its own, the list of languages counts for nothing.
    guard let locale, !["C", "POSIX"].contains(String(locale.prefix { $0 != "." })) else {
      return []
    }
    let names = (variables["LANGUAGE"] ?? "").split(separator: ":").map(String.init) + [locale]
    return names.map { name in
      String(name.prefix { $0 != "." && $0 != "@" }.map { $0 == "_" ? "-" : $0 })
    }
  }
}

extension Warning {
  /// The text for people, in their language, see ``ErrorTranslation``; of a warning without one its ``message``.
  public var localizedDescription: String { ErrorTranslation.text(ofWarning: code) ?? message }
}

/// The texts of ``ErrorTranslation``; ``SourceError/message`` is for logs, terminals and developers.
extension SourceError: LocalizedError {
  public var errorDescription: String? { ErrorTranslation.text(of: code).title }
  public var failureReason: String? { ErrorTranslation.text(of: code).reason }
  /// With ``retryAfter`` it says the time, counted from when the error was made.
  public var recoverySuggestion: String? { ErrorTranslation.suggestion(for: self) }
}

extension ErrorTranslation {
  package static func suggestion(
    for error: SourceError, in languages: [String] = preferredLanguages
  ) -> String? {
    let text = text(of: error.code, in: languages)
    let time = error.retryAfter.flatMap(symbols)
    guard let time, let timed = text.timedSuggestion else { return text.suggestion }
    return timed.replacing("{time}", with: time)
  }

  /// A time with the symbol of its unit, which is the same in most languages, rounded up; `nil` for none, and for a year
  /// and more.
  private static func symbols(of time: Duration) -> String? {
    let seconds = (time / .seconds(1)).rounded(.up)
    return switch seconds {
    case ...0, 31_536_000...: nil
    case ..<120: "\(Int(seconds)) s"
    case ..<7200: "\(Int((seconds / 60).rounded(.up))) min"
    default: "\(Int((seconds / 3600).rounded(.up))) h"
    }
  }
}

extension SourceError {
  /// The domain and the code of an `NSError`, by the requirements of `Error` from which it is made: the protocol for them
  /// is not in the essentials of Foundation.
  public var _domain: String { "AggregatorKit.SourceError" }
  public var _code: Int { code.number }
}
