import AggregatorArguments
import AggregatorBrowse
package import AggregatorKit
import AggregatorQueries
package import AggregatorSavedQueries
import AggregatorServing
import AggregatorSourceCommands
import AggregatorTerminal
package import DeclaredSource

extension CommandTree {
  package init(
    _ program: String, version: String = Version.current, plugins: [any Plugin],
    manifests: ManifestFolder? = nil, savedQueries: SavedQueries = SavedQueries()
  ) {
    self.init(
      Self.catalog(
        ProgramName(program, version: version), plugins: plugins, manifests: manifests,
        savedQueries: savedQueries))
  }

  /// The sources of a program with these commands.
  static func catalog(
    _ name: ProgramName, plugins: [any Plugin], manifests: ManifestFolder?,
    savedQueries: SavedQueries
  ) -> SourceCatalog {
    SourceCatalog(
      of: name, compiled: plugins, adding: manifests, savedQueries: savedQueries,
      reserving: Self.groups([], of: name).flatMap(\.nodes).map(\.word))
  }

  init(_ catalog: SourceCatalog) {
    let plugins = catalog.plugins
    let noun = RecordNoun("records")
    self.init(
      of: catalog, overview: .overview(plugins) { CommandTree($0) },
      verbs: StandardVerb.allCases.map { ($0.rawValue, $0.summary(noun)) },
      groups: Self.groups(plugins, of: catalog.name)
    ) { $0.node }
  }

  private static func groups(
    _ plugins: [any Plugin], of name: ProgramName
  ) -> [(title: String, nodes: [Node])] {
    let program = name.text
    return [
      (
        "Commands across sources",
        [
          Node("search", "Search all sources", .search(plugins)),
          .sources(plugins),
          Node("sync", "Sync all sources, the stale ones first", .sync(plugins)),
          Node("sql", "Query cached data with SQL (read-only)", .sql(plugins, program)),
          Node("export", "Save all cached records of a source to a file", .export(plugins)),
          Node("tap", "Send cached records to a Singer target", .tap),
          Node("watch", "Sync a source regularly and print changes", .watch(plugins)),
          Node("api", "Send a request to the service of a source", .api(plugins)),
          Node("browse", "Browse all sources on the full screen of a terminal", .browse(plugins)),
          Node("serve", "Serve a web page and an HTTP API", .serve(plugins)),
          Node("mcp", "Serve the sources to language models as tools", .mcp),
        ]
      ),
      (
        "Local data and settings",
        [.store(plugins), .config(plugins, of: name), .query]
      ),
      (
        "Shell and help",
        [
          Node("doctor", "Look for what is missing or does not work", .doctor),
          .completions(program),
          Node("help", "Show help for a command or topic", .help { CommandTree($0) }),
        ]
      ),
    ]
  }
}

extension Plugin {
  var node: CommandTree.Node { CommandTree.Node(name, summary, nil, children: verbNodes) }

  private var verbNodes: [CommandTree.Node] {
    let standard = StandardVerb.allCases.map { verb in
      let missing: String? =
        switch verb {
        case .open: layout.link == nil ? "web pages" : nil
        case .image: layout.images == nil ? "images" : nil
        default: nil
        }
      return CommandTree.Node(
        "\(name) \(verb.rawValue)",
        missing.map { "Not available: \(noun.word(for: 2)) have no \($0)" }
          ?? verb.summary(noun, isEndless: policy.isEndless),
        command(for: verb).attributed(to: self))
    }
    return standard
      + verbs.map { verb in
        .init("\(name) \(verb.name)", verb.summary, command(for: verb).attributed(to: self))
      }
  }

  private func command(for verb: StandardVerb) -> Command {
    switch verb {
    case .list: listCommand
    case .next: nextCommand
    case .search: searchCommand
    case .show: showCommand
    case .pick: pickCommand
    case .sync: syncCommand
    case .diff: diffCommand
    case .delete: deleteCommand
    case .restore: restoreCommand
    case .open: openCommand
    case .image: imageCommand
    }
  }
}
