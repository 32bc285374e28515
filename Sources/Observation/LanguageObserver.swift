import AggregatorCore
import Observation

/// Has Observation draw the views again that have read texts of errors and warnings, after a change of their languages.
final class LanguageObserver: ErrorTranslation.Observer, Observable {
  private static let shared: Void = ErrorTranslation.observe(by: LanguageObserver())

  private let registrar = ObservationRegistrar()
  /// Stands for all languages and their texts.
  private var languages: Void { () }

  static func start() { shared }

  func read() { registrar.access(self, keyPath: \.languages) }

  // After the change: a view that reads meanwhile is either told or has read the new texts.
  func changed() { registrar.withMutation(of: self, keyPath: \.languages) {} }
}
