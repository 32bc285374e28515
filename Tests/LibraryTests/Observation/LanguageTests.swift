import AggregatorKit
import AggregatorObservation
import AggregatorTestSupport
import Foundation
import Testing

/// A view that has read a text for people is drawn again in another language.
@MainActor struct LanguageTests {
  private let error = SourceError(.noProgress, "no new records")

  /// Whoever has one of these reads errors.
  init() { _ = PagedList(Notes().source) }

  @Test func `a change of languages is told to those who have read a text, with the new one`() {
    let before = ErrorTranslation.preferredLanguages
    ErrorTranslation.add(ErrorTranslation(of: "x-chosen", [.noProgress: .init("Chosen.")]))
    let others = changes { _ = error.message }
    let errors = changes { _ = (error as any Error).localizedDescription }
    let warnings = changes { _ = Warning(Warning.Code("tooLarge"), "words").localizedDescription }
    let settings = changes { _ = ErrorTranslation.preferredLanguages }
    // Other tests may read any text but this one meanwhile.
    ErrorTranslation.preferredLanguages = ["x-chosen"] + before
    defer { ErrorTranslation.preferredLanguages = before }
    #expect([errors, warnings, settings].map(\.value) == [1, 1, 1] && others.value == 0)
    #expect(error.localizedDescription == "Chosen.")
  }

  @Test func `so is a language that is added`() {
    func text() -> String { ErrorTranslation.text(of: .noProgress, in: ["x-added"]).title }
    let english = text()
    let errors = changes { _ = text() }
    ErrorTranslation.add(ErrorTranslation(of: "x-added", [.noProgress: .init("Added.")]))
    #expect(errors.value == 1 && text() == "Added." && english != "Added.")
  }
}
