import AggregatorKit
import AggregatorPostgres
import AggregatorQueries
import AggregatorTerminal

extension CommandContext {
  /// Warns of a password in `--store`.
  func warnOfVisiblePassword() {
    let name = Option.store.spelling
    guard let text = invocation.text(.store),
      (try? StoreLocation(text, for: name))?.hasPassword == true
    else { return }
    warnOfVisiblePassword("\(name) has a password, which other users can see in the process list")
  }

  func warnOfVisiblePassword(_ message: String) {
    let setting = StoreLocation.password(of: catalog.name)
    diagnostics.warning(
      message,
      hint: .steps(
        .words("leave it out of the URL, and run this command, which prompts for it"),
        .command("config set \(setting.key)")))
  }
}

extension SourceSettings {
  /// A setting's value for people: without secrets, and without the password of a store.
  func visible(_ setting: Setting) -> String {
    guard setting.form == .store, let value = secret(setting) else {
      return shown(setting).description
    }
    let locations = value.reveal { text in
      (try? PostgresAddress.list(text))?.map(\.description)
        ?? (try? StoreLocation(text, for: setting.key)).map { [$0.description] }
    }
    return locations?.joined(separator: ",") ?? shown(setting).description
  }
}
