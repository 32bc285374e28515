package import AggregatorKit
package import AggregatorPostgres
import AggregatorTerminal

/// The place of the store: a file of SQLite, or a database of PostgreSQL.
package enum StoreLocation: Hashable, Sendable {
  /// An absolute path.
  case file(String)
  case postgres(PostgresAddress)

  /// Parses the value of the setting or option `name`.
  ///
  /// Fails with code `invalidRequest`; the message repeats the text unless it may contain a password.
  package init(_ text: String, for name: String) throws(SourceError) {
    if PostgresAddress.isAddress(text) {
      do throws(SourceError) { self = .postgres(try PostgresAddress(text)) } catch {
        throw SourceError(
          error.code, "invalid value for \(name): \(error.message)", remedy: error.remedy)
      }
      return
    }
    guard text.hasPrefix("/"), text.singleLine == text else {
      let shown = text.contains { "@:=".contains($0) } ? "" : "\"\(text)\" "
      throw SourceError(
        .invalidRequest,
        "invalid value \(shown)for \(name): must be an absolute path or a PostgreSQL URL",
        remedy: "write it like /srv/store.sqlite or postgresql://USER@HOST/DATABASE")
    }
    self = .file(text)
  }

  /// Parses an argument of the command line, where the path may be relative to `directory`.
  ///
  /// Fails with code `invalidRequest`, as for other texts; a relative path that could be a mistyped URL begins
  /// with `./`.
  package init(argument text: String, for name: String, in directory: String) throws(SourceError) {
    let isRelative =
      text.hasPrefix("./") || !text.isEmpty && !text.contains { "~:=@".contains($0) }
    guard isRelative, !text.hasPrefix("/") else {
      self = try StoreLocation(text, for: name)
      return
    }
    let path = URL(
      filePath: text, relativeTo: URL(filePath: directory, directoryHint: .isDirectory))
    self = try StoreLocation(path.standardizedFileURL.path, for: name)
  }

  /// This without symbolic links, to compare locations.
  package var resolved: StoreLocation {
    switch self {
    case .file(let path): .file(URL(filePath: path).resolvingSymlinksInPath().path)
    case .postgres: self
    }
  }

  /// The files of the store, also those that are there for moments only: nothing else may be written to them.
  package var files: [String] {
    switch self {
    case .file(let path): ["", "-wal", "-shm", "-journal"].map { path + $0 }
    case .postgres: []
    }
  }

  package var hasPassword: Bool {
    switch self {
    case .file: false
    case .postgres(let address): address.hasPassword
    }
  }

  package static func setting(of program: ProgramName) -> Setting {
    Setting(
      program.variable("STORE"), .store,
      about:
        "the store: absolute path of an SQLite file, or URL of a PostgreSQL database, like --store")
  }

  package static func password(of program: ProgramName) -> Setting {
    Setting(
      program.variable("STORE_PASSWORD"), .secret,
      about: "password of the PostgreSQL database, unless the URL has one")
  }

  /// The location that the settings choose; `nil` for the default, `invalidSettings` for another text, or if they name
  /// standbys of a store that is not in PostgreSQL.
  package init?(chosenBy settings: SourceSettings, of program: ProgramName) throws(SourceError) {
    let setting = Self.setting(of: program)
    let text = settings.secret(setting)?.reveal(\.self)
    var location: StoreLocation?
    do throws(SourceError) {
      location = try text.map { text throws(SourceError) in
        try StoreLocation(text, for: setting.key).completed(by: settings, of: program)
      }
    } catch {
      throw settings.failure(error.message, setting, remedy: error.remedy)
    }
    // The standbys are those of the setting's store.
    if settings.origin(of: setting) != .option {
      let reads = SQLAddress.reads(of: program)
      let standbys = try SQLAddress.all(in: reads, settings)
      if case .postgres(var address)? = location {
        for var standby in standbys {
          if !standby.hasPassword { standby.password = address.password }
          address.standbys.append(standby)
        }
        location = .postgres(address)
      } else if !standbys.isEmpty {
        throw settings.failure(
          "\(reads.key) names standbys, but the store is a file", reads,
          remedy: "set \(setting.key) to the URL of their database, or unset \(reads.key)")
      }
    }
    guard let location else { return nil }
    self = location
  }

  /// This with the password of the settings, if it has none.
  package func completed(by settings: SourceSettings, of program: ProgramName) -> StoreLocation {
    guard case .postgres(var address) = self, !address.hasPassword else { return self }
    address.password = settings.secret(Self.password(of: program))
    return .postgres(address)
  }
}

extension StoreLocation: CustomStringConvertible {
  /// The path, or the URL without its password.
  package var description: String {
    switch self {
    case .file(let path): path
    case .postgres(let address): address.description
    }
  }
}

/// The other addresses of a store in PostgreSQL: those of standbys, and that of queries, which log in as a role of their own.
///
/// `SET ROLE` in the session of the store would be no sandbox: `set_config('role', 'none', …)` in a query undoes it.
package enum SQLAddress {
  package static func setting(of program: ProgramName) -> Setting {
    Setting(
      program.variable("SQL_STORE"), .secret,
      about: "URL by which sql reads a store in PostgreSQL, for a role that may only read")
  }

  package static func reads(of program: ProgramName) -> Setting {
    Setting(
      program.variable("STORE_READS"), .store,
      about: "URLs of standbys of the PostgreSQL database, with commas between, which answer reads")
  }

  /// The addresses in a setting; none if it is not set, `invalidSettings` for another text.
  static func all(
    in setting: Setting, _ settings: SourceSettings
  ) throws(SourceError) -> [PostgresAddress] {
    guard let text = settings.secret(setting)?.reveal(\.self) else { return [] }
    do throws(SourceError) { return try PostgresAddress.list(text) } catch {
      throw SourceError(
        .invalidSettings, "invalid value for \(setting.key): \(error.message)",
        remedy: error.remedy)
    }
  }
}
