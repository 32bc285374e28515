import AggregatorCore
import AggregatorFoundation
import AggregatorHTTP

extension DataSource {
  /// Replaces secrets in records, messages and errors, whatever the transport and the decoding.
  func redacted(by scanner: LiveScanner) -> some DataSource<Item> {
    Redacted(base: self, scanner: scanner)
  }
}

private struct Redacted<Base: DataSource>: Decorator {
  let base: Base
  let scanner: LiveScanner
  var label: String { "redacted()" }

  func page(_ request: PageRequest) async throws(SourceError) -> Page<Base.Item> {
    do throws(SourceError) {
      var page = try await base.page(request)
      let scanner = scanner.current
      page.warnings = redacted(page.warnings, by: scanner)
      var hasSecret = false
      for index in page.records.indices {
        guard let clean = try redacted(page.records[index], by: scanner) else { continue }
        page.records[index] = clean
        hasSecret = true
      }
      if hasSecret { page.warnings.append(.redacted) }
      page.unreadable.firstReason = page.unreadable.firstReason.map(scanner.redacted)
      return page
    } catch { throw scanner.current.redacted(error) }
  }

  func item(
    _ id: Base.Item.ID, cachePolicy: CachePolicy
  ) async throws(SourceError) -> LookupResult<Base.Item> {
    do throws(SourceError) {
      var found = try await base.item(id, cachePolicy: cachePolicy)
      let scanner = scanner.current
      found.warnings = redacted(found.warnings, by: scanner)
      if let clean = try redacted(found.item, by: scanner) {
        found.item = clean
        found.warnings.append(.redacted)
      }
      return found
    } catch { throw scanner.current.redacted(error) }
  }

  private func redacted(_ warnings: [Warning], by scanner: SecretScanner) -> [Warning] {
    warnings.map { Warning($0.code, scanner.redacted($0.message)) }
  }

  /// The record without the secrets in its JSON; `nil` if it has none, and the transport has removed none.
  private func redacted(
    _ record: Base.Item, by scanner: SecretScanner
  ) throws(SourceError) -> Base.Item? {
    if scanner.isEmpty { return nil }
    // A record without a JSON form cannot be stored either, and fails there.
    guard let json = (try? CanonicalJSON.bytes(of: record)).map(Array.init) else { return nil }
    let clean = scanner.redacted(json)
    if clean == json { return Data(json).hasRedacted ? record : nil }
    guard let copy = try? JSONText(Data(clean))?.read(Base.Item.self) else {
      throw SourceError(.malformed, "a record contains a key where it cannot be removed")
    }
    return copy
  }
}
