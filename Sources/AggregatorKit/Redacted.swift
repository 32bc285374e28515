import AggregatorCore
import AggregatorFoundation
import AggregatorHTTP

extension DataSource {
  /// Replaces secrets in records, messages and errors, whatever the transport and the decoding.
  func redacted(by scanner: SecretScanner) -> some DataSource<Item> {
    Redacted(base: self, scanner: scanner)
  }
}

private struct Redacted<Base: DataSource>: Decorator {
  let base: Base
  let scanner: SecretScanner
  var label: String { "redacted()" }

  func page(_ request: PageRequest) async throws(SourceError) -> Page<Base.Item> {
    do throws(SourceError) {
      var page = try await base.page(request)
      for index in page.records.indices {
        page.records[index] = try redacted(page.records[index])
      }
      page.unreadable.firstReason = page.unreadable.firstReason.map(scanner.redacted)
      page.warnings = redacted(page.warnings)
      return page
    } catch { throw scanner.redacted(error) }
  }

  func item(
    _ id: Base.Item.ID, cachePolicy: CachePolicy
  ) async throws(SourceError) -> LookupResult<Base.Item> {
    do throws(SourceError) {
      var found = try await base.item(id, cachePolicy: cachePolicy)
      found.item = try redacted(found.item)
      found.warnings = redacted(found.warnings)
      return found
    } catch { throw scanner.redacted(error) }
  }

  private func redacted(_ warnings: [Warning]) -> [Warning] {
    warnings.map { Warning($0.code, scanner.redacted($0.message)) }
  }

  /// The record without secrets in its JSON.
  private func redacted(_ record: Base.Item) throws(SourceError) -> Base.Item {
    // A record without a JSON form cannot be stored either, and fails there.
    guard let json = (try? CanonicalJSON.bytes(of: record)).map(Array.init) else { return record }
    let clean = scanner.redacted(json)
    if clean == json { return record }
    guard let copy = try? JSONText(Data(clean))?.read(Base.Item.self) else {
      throw SourceError(.malformed, "a record contains a key where it cannot be removed")
    }
    return copy
  }
}
