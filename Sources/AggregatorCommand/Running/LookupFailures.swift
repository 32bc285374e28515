import AggregatorKit
import AggregatorQueries
import AggregatorTerminal

/// The failures of several lookups; those with the same reason are reported together.
struct LookupFailures {
  private var groups: [(error: SourceError, ids: [String])] = []

  var isEmpty: Bool { groups.isEmpty }

  mutating func add(_ error: SourceError, of id: String) {
    let same = groups.firstIndex {
      $0.error.code == error.code && $0.error.message == error.message
    }
    if let same { groups[same].ids.append(id) } else { groups.append((error, [id])) }
  }

  /// The failures, with the IDs in their messages.
  var errors: [SourceError] {
    groups.map { group in
      guard !group.error.namesID else { return group.error }
      var error = group.error
      error.message +=
        " (\(group.ids.count == 1 ? "ID" : "IDs") \(group.ids.joined(separator: ", ")))"
      return error
    }
  }

  /// Prints the failures as errors if there is no answer beside them.
  func report<P: Plugin>(
    of plugin: P, in environment: PluginEnvironment, to diagnostics: Diagnostics
  ) async -> ExitCode {
    let errors = errors
    for (error, ids) in zip(errors, groups.map(\.ids)) {
      var failure = CommandError(error, of: plugin)
      if error.cause is DeletedRecord, let id = ids.first?.argument {
        failure.hint = .command("\(plugin.name) restore \(id)")
      } else if error.namesID, ids.count == 1 {
        // An invalid ID is looked for as a name.
        failure.suggestion = await RecordFinder(plugin, plugin.bundled, environment)
          .suggestion(for: ids[0])
        // A search for a misspelt name finds nothing.
        if failure.suggestion != nil, failure.hint == plugin.searchHint(ids[0]) {
          failure.hint = nil
        }
      }
      diagnostics.error(failure)
    }
    return code
  }

  /// Any other failure takes precedence over a record that was not found.
  var code: ExitCode { errors.map(ExitCode.init).first { $0 != .notFound } ?? .notFound }
}

extension SourceError {
  /// True if the message of a failed lookup names the ID.
  fileprivate var namesID: Bool {
    switch code {
    case .notFound, .unsupported, .invalidRequest, .offline, .nothingCached: true
    default: false
    }
  }
}
