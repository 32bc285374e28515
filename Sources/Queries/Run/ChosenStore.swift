import AggregatorFiles
package import AggregatorKit
package import AggregatorPostgres
import AggregatorSQLite
package import AggregatorTerminal
import DeclaredSource

extension StoreLocation {
  /// The directory of its file, if it is not there.
  package var missingDirectory: String? {
    guard case .file(let path) = self, case let directory = PrivateFile.directory(of: path),
      access(directory, F_OK) != 0, errno == ENOENT
    else { return nil }
    return directory
  }
}

extension CommandContext {
  /// The location of the store; `nil` if there is no directory for its file, `settings` if it is invalid.
  package func storeLocation(_ settings: SourceSettings) throws(CommandError) -> StoreLocation? {
    if let chosen = try chosenLocation(settings) { return chosen }
    return try directories(settings).storePath.map(StoreLocation.file)
  }

  /// The location in the settings; `nil` for the default, `settings` if it is invalid.
  package func chosenLocation(_ settings: SourceSettings) throws(CommandError) -> StoreLocation? {
    try CommandError.wrapping(try StoreLocation(chosenBy: settings, of: catalog.name))
  }

  /// The store of this run, opened on first use; `nil` if there is no directory for its file.
  ///
  /// A damaged file is an error for commands that only examine it; others move it aside, unless somebody named it.
  package func store(
    _ settings: SourceSettings, isStrict: Bool = false
  ) throws(CommandError) -> (any SourceStore)? {
    guard let location = try storeLocation(settings) else { return nil }
    let isChosen = try chosenLocation(settings) != nil
    // A path that was mistyped would be an empty store.
    if isChosen, let directory = location.missingDirectory {
      diagnostics.warning("there is no directory \(directory) yet, so the store is empty")
    }
    let history = try CommandError.wrapping(
      try settings.history(Directories.history(of: catalog.name)))
    return scoped(
      store(
        at: location, history: history,
        // A file that somebody named stays where it is.
        isStrict: isStrict || isChosen
      ) { [name = catalog.name] () throws(SourceError) in
        try SQLAddress.all(in: SQLAddress.setting(of: name), settings).first
      }, settings)
  }

  /// The store at a location, which is opened on first use: the only place that knows the kinds of stores.
  ///
  /// `queryAddress` returns the address of queries of a store in PostgreSQL; `nil` for that of the store.
  package func store(
    at location: StoreLocation, history: HistoryLimit = .standard, isStrict: Bool,
    queryAddress: @escaping @Sendable () throws(SourceError) -> PostgresAddress? = { nil }
  ) -> any DatabaseStore {
    // A run with other added sources does not know all of those of the store.
    let views = SourceViews(keepingOthers: invocation.has(.manifests)) {
      [plugins = catalog.plugins] in
      plugins.flatMap(\.storedViews)
    }
    switch location {
    case .file(let path):
      return SQLiteStore(
        at: path, busyTimeout: busyTimeout, history: history, showing: views,
        isStrict: isStrict
      ) { [diagnostics] warning in
        diagnostics.alarm(
          warning.message,
          hint: .words("move it back to use it again, or read what is left: sqlite3 FILE .recover"))
      }
    case .postgres(let address):
      return PostgresStore(
        at: address, busyTimeout: busyTimeout, history: history, showing: views,
        queryAddress: queryAddress
      ) { [diagnostics, isTold = invocation.has(.verbose)] failure in
        if isTold { diagnostics.trace(failure.message) }
      }
    }
  }

  private func scoped(_ store: some ScopeKeepingStore, _ settings: SourceSettings)
    -> any SourceStore
  {
    ScopedStore(store) { [plugins = catalog.plugins] name in
      plugins.first { $0.name == name }?.storeScope(in: settings)
    }
  }

  /// The longest wait for another process that uses the store, or for its server.
  private var busyTimeout: Duration {
    min(.seconds(5), invocation.duration(.timeout) ?? .seconds(5))
  }
}

extension Plugin {
  /// The scope of the records in a store; `nil` for a manifest that cannot be read.
  package func storeScope(in settings: SourceSettings) -> StoreScope? {
    guard let declared = self as? DeclaredPlugin else { return recordScope(in: settings, of: nil) }
    return declared.recordScope(in: settings)
  }

  /// The views of the records, and of the lists in them, for other programs.
  fileprivate var storedViews: [SourceView] { SourceView.all(of: name, fields, tables) }
}
