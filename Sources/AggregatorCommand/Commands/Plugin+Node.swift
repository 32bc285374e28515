import AggregatorKit

extension Plugin {
  /// This source's word, and its verbs.
  var node: CommandTree.Node {
    CommandTree.Node(
      name, summary, nil,
      children: [
        .init("\(name) list", "Show \(name) from the start", listCommand),
        .init(
          "\(name) next", "Show the \(name) after those shown last",
          nextCommand(goesOnAfterEnd: policy.readOrder == .localFirst)),
        .init("\(name) search", "Show \(name) that match words", searchCommand),
        .init("\(name) show", "Show all that is known of single \(name)", showCommand),
        .init(
          "\(name) sync", "Fetch all \(name) into the store, and go on where that stopped",
          syncCommand),
        .init("\(name) delete", "Hide \(name) here, until they are restored", deleteCommand),
        .init("\(name) restore", "Bring deleted \(name) back", restoreCommand),
        .init(
          "\(name) open",
          layout.link == nil
            ? "Not possible: \(name) have no web pages"
            : "Open a web page of \(name) in the browser",
          openCommand),
        .init(
          "\(name) image",
          layout.images == nil
            ? "Not possible: \(name) have no images" : "Save an image of \(name)",
          imageCommand),
      ] + verbs.map { .init("\(name) \($0.name)", $0.summary, command(for: $0)) })
  }
}
