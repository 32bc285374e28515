import AggregatorFilters
package import AggregatorKit
package import AggregatorSelection
package import AggregatorTerminal
import DeclaredSource

/// The records of a source on this machine.
package struct LocalRecords<Item: SourceRecord>: Sendable {
  package let source: any DataSource<Item>

  /// False if the store has no records, so that the source has bundled ones.
  package let isCached: Bool

  /// The records that the store lacks; `nil` for none.
  package let gap: CacheGap?
}

extension Invocation {
  /// Refuses an option that asks the service; `list` is the command that reads all records of it, `nil` for this one.
  package func refuseRefreshOfSelection(or list: String? = nil) throws(CommandError) {
    guard has(.refresh) else { return }
    throw CommandError(
      .usage, "--refresh cannot be used: --where, --sort and --count read cached records",
      hint: list.map { .command("\($0) --all") } ?? "--all reads all records of the service")
  }
}

extension CommandContext {
  /// The kinds of the fields of a source that may have any value, as its first cached records have them, or as its manifest
  /// names them; `date` for texts that filters compare as dates.
  package func kinds(of plugin: some Plugin) async -> [String: String] {
    let fields = plugin.fields.filter { $0.kind == .any }
    guard !fields.isEmpty, var environment = try? localEnvironment() else { return [:] }
    environment.readsChangedFiles = false
    let records = try? await plugin.localRecords(in: environment, mayBeBundled: false).source
      .page(PageRequest(limit: 100)).records
    let manifest = (plugin as? DeclaredPlugin)?.manifest
    var kinds: [String: String] = [:]
    for field in fields {
      let values = (records ?? []).map { field[$0] }.filter { $0 != .null && $0 != "" }
      let found = Set(values.compactMap(\.fieldKind))
      let kind =
        found.isEmpty
        ? manifest?.kind(ofField: field.name)
        : found == [.integer, .number] ? .number : found.count == 1 ? found.first : nil
      let isDate = if case .date = CommonKind(of: values) { true } else { false }
      kinds[field.name] = kind == .text && isDate ? "date" : kind?.rawValue
    }
    return kinds
  }
}

extension Plugin {
  /// Reads the first page of the list, which may be all of it, for a selection that needs it; returns a note of that.
  package func readFirstPage(
    of source: @autoclosure () throws(SourceError) -> any DataSource<Item>,
    in environment: PluginEnvironment, _ cachePolicy: CachePolicy
  ) async throws(SourceError) -> String? {
    guard await needsFirstPage(in: environment, cachePolicy) else { return nil }
    _ = try await source().page(PageRequest(limit: min(policy.largestPage, 100)))
    let isAll = (try? await environment.store?.coverage(of: name).isComplete) == true
    if !isAll, let store = environment.store, (try? await store.status(of: name).isEmpty) == true {
      // The page is not there if the store could not take it, for a reason that any change has.
      _ = try await store.restore([], of: name)
    }
    return "\(name): nothing was cached, so \(isAll ? "the list" : "its first page") was fetched"
  }

  /// True if a selection needs the first page of the list: nothing is cached, and there are no samples.
  package func needsFirstPage(
    in environment: PluginEnvironment, _ cachePolicy: CachePolicy
  ) async -> Bool {
    guard cachePolicy.mayAskService, !hasBundled, policy.readOrder != .storedOnly,
      let store = environment.store, (try? await store.status(of: name).isEmpty) == true
    else { return false }
    return (try? await store.coverage(of: name).isComplete) != true
  }

  /// The selected records of the store, or of the bundled data while the store is empty.
  ///
  /// Adds a warning to `outcome` if the store lacks records; errors are those of the store. An answer of bundled records is
  /// partial: they are samples.
  ///
  /// With an `index` of the store, a page reads no other records than its own.
  package func selected(
    by selection: Selection<Item>, in environment: PluginEnvironment, mayBeBundled: Bool? = nil,
    by index: RecordIndex<Item>? = nil, _ outcome: inout ListingOutcome
  ) async throws(CommandError) -> any DataSource<Item> {
    do throws(SourceError) {
      return try await selectedRecords(
        by: selection, in: environment, mayBeBundled: mayBeBundled, by: index, &outcome)
    } catch {
      throw CommandError(error, of: self)
    }
  }

  func selectedRecords(
    by selection: Selection<Item>, in environment: PluginEnvironment, mayBeBundled: Bool?,
    by index: RecordIndex<Item>? = nil, _ outcome: inout ListingOutcome
  ) async throws(SourceError) -> any DataSource<Item> {
    outcome.select(isFilter: selection.isFilter)
    let local = try await localRecords(in: environment, mayBeBundled: mayBeBundled)
    if environment.store != nil { outcome.syncHint = syncHint(in: environment) }
    outcome.claimAll(despite: local.gap)
    var selected = SelectedSource(
      name, of: local.source, selection, mayBeEmpty: local.isCached, lacksDetails: lacksDetails)
    if index == nil, local.isCached, !selection.isFilter, selection.order == nil,
      let records = environment.store.map(recordStore), try await records.completeSync() != nil
    {
      selected.isAll = true
    }
    guard let index, local.isCached else { return selected }
    return searchedInPlaceOfService(IndexedSource(index, selected))
      .warningOfDoubts(in: index.records)
      .observed(by: environment.observer, as: name)
  }

  /// The records of the store, or the bundled ones while the store is empty.
  ///
  /// A file that has changed is read first.
  ///
  /// - Parameter mayBeBundled: True for bundled records also in the place of a store that fails; by default it is thrown, as a
  ///   sample must not replace what an export or a page had.
  package func localRecords(
    in environment: PluginEnvironment, mayBeBundled: Bool? = nil
  ) async throws(SourceError) -> LocalRecords<Item> {
    let bundled = bundled
    var source: any DataSource<Item> = bundled
    var gap: CacheGap?
    var isCached = false
    if let store = environment.store {
      do throws(SourceError) { try await readChangedFile(in: environment) } catch {
        // The gap says that it has changed.
        guard ![.cancelled, .busy, .unusableStore].contains(error.code) else { throw error }
      }
      let recordStore = recordStore(in: store)
      source = searchedInPlaceOfService(recordStore.records).warningOfDoubts(in: recordStore)
      var failure: SourceError?
      do throws(SourceError) {
        isCached = try await !store.status(of: name).isEmpty
        // A list that is known to be empty.
        if !isCached { isCached = try await store.coverage(of: name).isComplete }
      } catch {
        guard hasBundled, mayBeBundled == true, error.allowsFallback else { throw error }
        failure = error
      }
      if isCached {
        gap = try await self.gap(in: store)
      } else if mayBeBundled != false {
        // It is the reason that nothing is cached.
        if hasBundled, let reason = failure ?? missingKey(in: environment) {
          source = UnavailableSource<Item>(reason)
        }
        source = source.fallback(to: bundled).hidingDeleted(in: recordStore)
      }
    }
    return LocalRecords(
      source: source.observed(by: environment.observer, as: name), isCached: isCached, gap: gap)
  }
}
