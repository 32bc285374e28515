/// The check that the current task runs, so that a crash in the code of a source can be located.
package enum RunningCheck {
  /// The parts of its name: `papers in empty-page: list, first page`.
  @TaskLocal package static var name: String?

  /// Runs a part of the current check.
  package static func named<Answer>(_ part: String, _ body: () async -> Answer) async -> Answer {
    await $name.withValue(name.map { "\($0): \(part)" } ?? part, operation: body)
  }
}
