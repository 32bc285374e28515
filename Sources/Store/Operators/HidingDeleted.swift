public import AggregatorCore

extension DataSource {
  /// Leaves deleted records out of every page, whoever sends them.
  ///
  /// Pages may then be shorter, and say in ``Page/hidden`` by how much. A deleted record that is asked for
  /// is `notFound`. Where the store cannot tell what is deleted, everything is given, with a warning.
  ///
  /// - Parameter shelf: Where deletions are remembered.
  /// - Returns: The source without what was deleted.
  public func hidingDeleted(in recordStore: RecordStore<Item>) -> some DataSource<Item> {
    HidingDeleted(base: self, recordStore: recordStore)
  }
}

struct HidingDeleted<Base: DataSource>: Decorator {
  let base: Base
  let recordStore: RecordStore<Base.Item>
  var label: String { "hidingDeleted(in: \(recordStore.source))" }

  func page(_ request: PageRequest) async throws(SourceError) -> Page<Base.Item> {
    var page = try await base.page(request)
    do throws(SourceError) {
      let deleted = try await deleted(among: page.records.map(\.id))
      guard !deleted.isEmpty else { return page }
      let count = page.records.count
      page.records.removeAll { deleted.contains($0.id.description) }
      page.hidden += count - page.records.count
    } catch {
      page.warnings.append(try warning(of: error))
    }
    return page
  }

  func item(_ id: Base.Item.ID) async throws(SourceError) -> LookupResult<Base.Item> {
    var warnings: [Warning] = []
    do throws(SourceError) {
      guard try await deleted(among: [id]).isEmpty else {
        throw .deleted(id, in: recordStore.source)
      }
    } catch {
      guard error.code != .notFound else { throw error }
      warnings.append(try warning(of: error))
    }
    var found = try await base.item(id)
    found.warnings += warnings
    return found
  }

  private func deleted(among ids: [Base.Item.ID]) async throws(SourceError) -> Set<String> {
    guard !ids.isEmpty else { return [] }
    return try await recordStore.store.deleted(
      among: ids.map(\.description), of: recordStore.source)
  }

  private func warning(of error: SourceError) throws(SourceError) -> Warning {
    guard error.code != .cancelled else { throw error }
    return .storage(error)
  }
}

extension Warning {
  /// The store failed, and it went on without it.
  static func storage(_ error: SourceError) -> Warning {
    Warning(error.code.description, error.description)
  }
}

extension SourceError {
  /// There was such a record, and a person deleted it.
  static func deleted(_ id: some LosslessStringConvertible, in source: String) -> SourceError {
    SourceError(
      .notFound, "the \(source) record '\(id.description.oneLine(atMost: 80))' is deleted",
      remedy: "restore it to see it again", cause: DeletedRecord())
  }
}

/// Why a record is not found that a person deleted: tells it from one that never was.
package struct DeletedRecord: Error {}
