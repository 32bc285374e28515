public import AggregatorKit
public import AggregatorObservation
public import Observation
public import UsersSource

/// The users, of which there are always more.
@Observable @MainActor
public final class UsersScreen {
  public let list: PagedList<User>
  public private(set) var error: SourceError?

  public init(_ sources: AppSources) {
    list = PagedList(sources.users, following: sources.userRecords)
  }

  public func delete(_ user: User) async {
    do throws(SourceError) {
      try await list.delete(user.id)
      error = nil
    } catch {
      // The user is back in the list.
      self.error = error
    }
  }

  public func undo() async {
    do throws(SourceError) {
      try await list.undoDelete()
      error = nil
    } catch {
      self.error = error
    }
  }
}
