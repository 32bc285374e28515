import AggregatorCore
import AggregatorFoundation
import AggregatorStore
import AggregatorText

/// The end of a pass over partitions.
extension Sync {
  /// Removes the records of partitions that are gone, and takes note of the end of a pass.
  ///
  /// It may be called again for the same pass, by another worker or after an interruption.
  func conclude(
    _ pass: PartitionPass, of list: any PartitionList, _ result: inout SyncResult
  ) async throws(SourceError) {
    var pass = pass
    let text = pass.text
    if !pass.isListDoubtful { try await removeGone(from: list, &pass, &result) }
    result.shortfall = pass.shortfall
    (result.schema, result.begun) = (pass.schema, pass.begun)
    let end = PartitionEnd(pass: pass.id, at: now(), because: pass.shortfall)
    try await note(endName, end.text)
    if pass.incremental > 0 {
      try await concludeChanges(of: pass, &result)
    } else {
      try await conclude(&result, ofAll: !pass.skips)
    }
    let update = CheckpointUpdate(checkpointName, from: text, to: nil, replacesPages: true)
    _ = try await recordStore.save(
      StoreBatch([], update: update, completesSync: pass.shortfall == nil), at: now())
  }

  /// Takes note of the end of a pass that has asked partitions only for what has changed.
  private func concludeChanges(
    of pass: PartitionPass, _ result: inout SyncResult
  ) async throws(SourceError) {
    let full = try await recordStore.completeSync()?.date
    result.kind = .incremental
    (result.changedSince, result.lastFull) = (pass.mark, full)
    result.isComplete = result.shortfall == nil
    try await noteShortfall(of: result)
    guard result.isComplete else { return }
    try await noteSchema(pass.schema, ofAll: false, &result)
    guard let mark = pass.mark, let full else {
      try await note(Coverage.checkpoint, CompleteSync.mark(from: pass.begun, to: now()))
      return
    }
    try await noteChanges(since: mark, full: full)
  }

  /// The name of the checkpoint of the end of the last pass, for workers that took part in it.
  private var endName: String { "end \(checkpointName)" }

  /// Takes note that another worker has concluded a pass.
  func takeEnd(of pass: String?, _ result: inout SyncResult) async throws(SourceError) {
    let text = try await recordStore.store.checkpoint(endName, of: recordStore.source)
    let end = PartitionEnd(text).flatMap { $0.pass == pass ? $0 : nil }
    result.isComplete = end?.isComplete == true
    if !result.isComplete {
      result.shortfall =
        end?.shortfall
        ?? Shortfall(
          .incomplete, "another worker has ended the sync, and its result is not known")
    }
  }

  /// Removes the records of partitions that are no longer in the list, which is complete.
  private func removeGone(
    from list: any PartitionList, _ pass: inout PartitionPass, _ result: inout SyncResult
  ) async throws(SourceError) {
    let (store, source) = (recordStore.store, recordStore.source)
    let prefix = "\(checkpointName) "
    var ends = try await storedEnds()
    var position: Int64 = 0
    while !ends.isEmpty {
      let slice = try await list.partitions(after: position, limit: 1000, cachePolicy: .offline)
      guard let last = slice.partitions.last else { break }
      for partition in slice.partitions { ends[prefix + partition.key] = nil }
      position = last.position
    }
    if !ends.isEmpty {
      for key in try await list.hiddenKeys() { ends[prefix + key] = nil }
    }
    for (name, text) in ends.sorted(by: { $0.key < $1.key }) {
      let key = String(name.dropFirst(prefix.count))
      let end = PartitionEnd(pass: pass.id, at: now(), because: PartitionEnd.gone)
      // A finding of this pass must not confirm itself.
      if PartitionEnd(text).map({ $0.pass != end.pass || $0.shortfall != end.shortfall }) ?? true {
        var completion = Reconciliation.Completion(lastPosition: .max, minRecordCount: 0)
        completion.allowsNone = true
        var update = CheckpointUpdate(name, from: text, to: nil)
        update.toIfInconclusive = end.text
        update.reconciliation = Reconciliation(
          begins: true, completion: completion, of: "\(key)/")
        let changes = try await recordStore.save(StoreBatch([], update: update), at: now())
        result.removedUpstream += changes.removedUpstream
      }
      if try await store.checkpoint(name, of: source) == nil {
        try await note("\(ChangeState.checkpoint) \(key)", nil)
      } else {
        result.needsConfirmation = true
        pass.note(PartitionEnd.gone, of: key.percentDecoded ?? key)
      }
    }
  }
}
