/// What a store can do beyond what every ``Store`` can.
public struct StoreCapabilities: Sendable {
  /// The store as one with scopes; `nil` if it shows all records.
  package var scopes: ScopedStore?

  /// The store in a database; `nil` for another one, such as one in memory.
  package var database: (any DatabaseStore)?

  /// The store as one that creates roles for queries; `nil` if its database has none.
  package var roles: (any SQLRoleStore)?

  /// None.
  public init() {}

  package init(database: any DatabaseStore, roles: (any SQLRoleStore)? = nil) {
    self.database = database
    self.roles = roles
  }
}
