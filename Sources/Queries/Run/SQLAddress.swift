package import AggregatorKit
import AggregatorPostgres

/// The address of queries of a store in PostgreSQL, which log in as a role of their own.
///
/// `SET ROLE` in the session of the store would be no sandbox: `set_config('role', 'none', …)` in a query undoes it.
package enum SQLAddress {
  package static func setting(of program: ProgramName) -> Setting {
    Setting(
      program.variable("SQL_STORE"), .secret,
      about: "URL by which sql reads a store in PostgreSQL, for a role that may only read")
  }

  /// The address in the settings; `nil` for that of the store.
  ///
  /// Fails with code `invalidSettings` for a text that is none.
  static func chosen(
    by settings: Settings, of program: ProgramName
  ) throws(SourceError) -> PostgresAddress? {
    let setting = setting(of: program)
    guard let text = settings.secret(setting)?.reveal(\.self) else { return nil }
    do throws(SourceError) { return try PostgresAddress(text) } catch {
      throw SourceError(
        .invalidSettings, "invalid value for \(setting.key): \(error.message)",
        remedy: error.remedy)
    }
  }
}
