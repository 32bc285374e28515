package import AggregatorKit
package import AggregatorTerminal
import DeclaredSource

/// The verbs of every source.
package enum StandardVerb: String, CaseIterable {
  case list, next, search, show, pick, sync, diff, delete, restore, open, image

  package func summary(_ noun: RecordNoun, isEndless: Bool = false) -> String {
    switch self {
    case .list: "List \(noun.word(for: 2))"
    case .next: "Show the next page"
    case .search: "Search \(noun.word(for: 2))"
    case .show: "Show full details"
    case .pick: "Pick \(noun.withArticle) on the screen and print its ID"
    case .sync:
      isEndless
        ? "Download the next pages of \(noun.plural)"
        : "Download all records; resumes if interrupted"
    case .diff: "Show changes since a sync or a date"
    case .delete: "Hide \(noun.word(for: 2)) locally until restored"
    case .restore: "Restore deleted \(noun.word(for: 2))"
    case .open: "Open \(noun.ofOne) page in the browser"
    case .image: "Show or save \(noun.ofOne) image"
    }
  }
}

extension Plugin {
  /// The command with which an added source that has no web pages gets them; `nil` for all others.
  package var linkCommand: String? {
    guard let plugin = self as? DeclaredPlugin, layout.link == nil else { return nil }
    // Options change a source with a manifest of its own.
    return "sources edit \(name)\(plugin.service == nil ? " --link FIELD" : "")"
  }

  /// The remedy for an added source that has no web pages.
  package var linkHint: Hint? {
    linkCommand.map { .steps("name the field with its URL", .command($0)) }
  }

  /// The verbs of this source: those of every source, and its own.
  package var verbNames: [String] { StandardVerb.allCases.map(\.rawValue) + verbs.map(\.name) }
}
