import AggregatorKit
import Foundation

extension Completer.CompletionContext {
  /// More than these are not offered.
  private static let most = 200

  /// What is stored on this machine: looked at as it is, without waiting, and without a word if it
  /// cannot be read.
  ///
  /// - Parameters:
  ///   - session: The session.
  ///   - invocation: The options that were typed.
  /// - Returns: The memory.
  static func local(_ session: Session, _ invocation: Invocation) -> Self {
    func directories() -> Directories? {
      let loader = session.settingsLoader
      guard let loaded = try? loader.load(configFile: invocation.text(.config)) else { return nil }
      return try? Directories(loaded.settings, variables: session.variables)
    }
    return Self { source, beginning, areDeleted in
      guard let plugin = try? session.tree.plugin(named: source),
        let path = directories()?.storePath
      else { return [] }
      let readsWithoutWaiting = SQLiteStore(at: path, busyTimeout: .zero).readWithoutWaiting(
        source, idsFrom: beginning, areDeleted: areDeleted, atMost: most)
      return plugin.candidates(readsWithoutWaiting)
    } sessions: {
      guard let state = directories()?.state else { return [] }
      let names = try? FileManager.default.contentsOfDirectory(atPath: "\(state)/positions")
      return (names ?? []).filter(SessionName.isSession).sorted().prefix(most).map(\.self)
    }
  }
}

extension Plugin {
  /// The ids of records, each with what the record is called.
  fileprivate func candidates(_ readsWithoutWaiting: [StoredID]) -> [Candidate] {
    let names = fields.filter(\.isShown)
    return readsWithoutWaiting.compactMap { glance in
      guard Item.ID(glance.id)?.description == glance.id else { return nil }
      let item = glance.json.flatMap { try? JSONText($0)?.read(Item.self) }
      for field in names {
        if let item, case .string(let text) = field[item], text != glance.id {
          return Candidate(glance.id, text)
        }
      }
      return Candidate(glance.id)
    }
  }
}
