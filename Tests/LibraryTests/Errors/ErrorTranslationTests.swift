import AggregatorCore
import Foundation
import Testing

/// The texts of errors for people.
@Suite struct ErrorTranslationTests {
  @Test(arguments: SourceError.Code.all)
  func `every code has whole sentences in each language`(code: SourceError.Code) throws {
    let english = ErrorTranslation.text(of: code, in: ["en"])
    let german = ErrorTranslation.text(of: code, in: ["de"])
    for text in [english, german] {
      for sentence in [text.title, text.reason, text.suggestion, text.timedSuggestion].compactMap(
        \.self)
      {
        #expect(sentence.wholeMatch(of: /[A-ZÄÖÜ].+\./) != nil, "\(sentence)")
      }
    }
    #expect(german.title != english.title)
    #expect((german.reason == nil) == (english.reason == nil))
    #expect((german.suggestion == nil) == (english.suggestion == nil))
    #expect((german.timedSuggestion == nil) == (english.timedSuggestion == nil))
  }

  @Test func `a suggestion has the time that is known`() {
    func suggestion(_ code: SourceError.Code, _ wait: Duration?, _ language: String) -> String? {
      ErrorTranslation.suggestion(
        for: SourceError(code, "words", retryAfter: wait), in: [language])
    }
    #expect(suggestion(.rateLimited, .seconds(540), "en") == "Wait 9 min, and try again.")
    #expect(
      suggestion(.rateLimited, .seconds(540), "de")
        == "Warten Sie 9 min und versuchen Sie es dann noch einmal.")
    #expect(suggestion(.circuitOpen, .milliseconds(29_100), "en") == "Try again in 30 s.")
    #expect(suggestion(.serverError, .seconds(86_400), "en") == "Try again in 24 h.")
    for wait in [nil, .zero, .seconds(40_000_000)] as [Duration?] {
      #expect(suggestion(.rateLimited, wait, "en") == "Wait a moment, and try again.")
    }
    // A code without such a sentence keeps its own.
    #expect(suggestion(.timedOut, .seconds(540), "en") == "Try again in a moment.")
    let error = SourceError(.rateLimited, "words", retryAfter: .seconds(540))
    #expect(error.recoverySuggestion == ErrorTranslation.suggestion(for: error))
  }

  /// Those of settings files are for terminals alone.
  @Test func `every warning that an app can show has a sentence in each language`() throws {
    let terminal = ["exposed", "ignored", "otherBuild", "settings", "unknownSetting"]
    let source = try SourceTree.text(of: "Sources/Core/Warning.swift")
    let names = source.matches(of: /static let \w+ = Code\("(\w+)"\)/).map { String($0.1) }
    #expect(names.count > 30)
    for name in names where !terminal.contains(name) {
      let code = Warning.Code(name)
      let texts = ["en", "de"].map { ErrorTranslation.text(ofWarning: code, in: [$0]) ?? "" }
      for text in texts { #expect(text.wholeMatch(of: /[A-ZÄÖÜ].+\./) != nil, "\(name): \(text)") }
      #expect(texts[0] != texts[1], "\(name)")
      #expect(Warning(code, "words").localizedDescription != "words")
    }
    for name in terminal + ["mine"] {
      #expect(Warning(Warning.Code(name), "words").localizedDescription == "words")
    }
  }

  @Test func `the guide has every code`() throws {
    let guide = try SourceTree.text(of: "Sources/AggregatorKit/AggregatorKit.docc/Errors.md")
    let named = guide.matches(of: /\n\| `(\w+)` \|/).map { String($0.1) }
    #expect(Set(named) == Set(SourceError.Code.all.map(\.description)))
  }

  @Test func `no two codes have the same title or number`() {
    let codes = SourceError.Code.all
    for language in ["en", "de"] {
      #expect(
        Set(codes.map { ErrorTranslation.text(of: $0, in: [language]).title }).count == codes.count)
    }
    let errors = codes.map { SourceError($0, "words") as NSError }
    #expect(Set(errors.map(\.code)).count == codes.count && !errors.map(\.code).contains(0))
    #expect(Set(errors.map(\.domain)) == ["AggregatorKit.SourceError"])
    // An app may have stored it.
    #expect((SourceError(.timedOut, "") as NSError).code == 9)
  }

  @Test func `the localized texts are those for people, and the message stays`() {
    let error: any Error = SourceError(.timedOut, "GET /list: 10 s", remedy: "--timeout 30")
    let text = ErrorTranslation.text(of: .timedOut)
    #expect(error.localizedDescription == text.title)
    let localized = error as? any LocalizedError
    #expect(localized?.failureReason == text.reason)
    #expect(localized?.recoverySuggestion == text.suggestion)
  }

  @Test
  func `the first language that is there counts, and a missing text comes from the next`()
    throws
  {
    let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).json")
    defer { try? FileManager.default.removeItem(at: file) }
    try Data(#"{"timedOut": {"title": "Zu langsam.", "suggestion": "Warte."}}"#.utf8).write(
      to: file)
    ErrorTranslation.add(try ErrorTranslation(of: "x-test", contentsOf: file))
    func title(_ code: SourceError.Code, _ languages: String...) -> String {
      ErrorTranslation.text(of: code, in: languages).title
    }
    let german = title(.timedOut, "de")
    #expect(title(.timedOut, "x-Test", "de") == "Zu langsam.")
    #expect(title(.offline, "x-test", "de") == title(.offline, "de"))
    #expect(title(.timedOut, "de-AT", "en") == german && title(.timedOut, "DE") == german)
    #expect(
      title(.timedOut, "xx") == title(.timedOut, "en") && title(.timedOut) == title(.timedOut, "en")
    )
    try Data(#"{"tooLarge": {"title": "Zu viel.", "warning": "Teils zu groß."}}"#.utf8).write(
      to: file)
    ErrorTranslation.add(try ErrorTranslation(of: "x-large", contentsOf: file))
    #expect(title(.tooLarge, "x-large") == "Zu viel.")
    let warning = Warning.Code(SourceError.Code.tooLarge.description)
    #expect(ErrorTranslation.text(ofWarning: warning, in: ["x-large"]) == "Teils zu groß.")
    try Data(#"{"timedout": {"title": "a"}}"#.utf8).write(to: file)
    #expect(throws: DecodingError.self) { try ErrorTranslation(of: "fr", contentsOf: file) }
  }

  @Test(arguments: [
    (["LANG": "de_AT.UTF-8"], ["de-AT"]),
    (["LANG": "C.UTF-8", "LANGUAGE": "de"], []),
    (["LANG": "fr_FR", "LC_ALL": "pt_BR@x", "LANGUAGE": "de:en_GB"], ["de", "en-GB", "pt-BR"]),
    (["LC_ALL": "", "LC_MESSAGES": "de"], ["de"]), ([:], []),
  ])
  func `languages are those of the environment`(variables: [String: String], languages: [String]) {
    #expect(ErrorTranslation.languages(in: variables) == languages)
  }
}
