import AggregatorCore
package import AggregatorFoundation
package import AggregatorText

/// The effect of a ``StoreBatch`` on the records of a source, decided before anything is written.
package struct BatchPlan: Sendable {
  /// A stored record that a batch may change.
  package struct Known: Sendable {
    var position: Int64
    /// The stored form; `nil` if it is that of the batch's entry.
    var json: Data?
    var isRemovedUpstream: Bool
  }

  /// The form in which a record is saved.
  package struct Form: Sendable {
    package let position: Int64
    package let id: String
    package let json: Data
    package let text: FoldedText
  }

  package struct Change: Sendable {
    package let kind: StoredHistory.Event.Kind
    package let position: Int64
    package var before: Data?
  }

  /// The new records; their positions follow the last known one, as do those of moved ones.
  private(set) var insertions: [Form] = []

  /// The old positions of known records that move, and their new ones, which ascend.
  private(set) var moves: [(from: Int64, to: Int64)] = []

  /// The records whose JSON, and maybe text, is replaced, at their new positions.
  private(set) var replacements: [Form] = []

  /// The positions of records that were removed upstream, and that the service has again.
  private(set) var returned: [Int64] = []

  /// The changes for the history, in order.
  private(set) var history: [Change] = []

  /// The positions of records that are replaced without a change for the history.
  private(set) var unrecorded: [Int64] = []

  /// The positions of all entries, in their order.
  private(set) var positions: [Int64] = []

  /// The JSON of their records after each entry.
  private(set) var json: [Data] = []

  private(set) var changes = StoreChanges()

  /// A record after the entries so far, and where its form is.
  private struct State {
    enum Place { case insertion(Int), replacement(Int), unwritten }

    var position: Int64
    var json: Data
    var place: Place
  }

  /// - Parameters:
  ///   - last: The position of the record first seen last.
  ///   - known: The stored record of each entry; `nil` for a new one.
  ///   - end: Records at positions up to it are moved behind the last one.
  init(
    _ entries: [StoreEntry], after last: Int64, known: [Known?], movingUpTo end: Int64 = .min
  ) {
    var last = last
    // A page, and so a batch, may have a record twice.
    var states = [RecordKey: State](minimumCapacity: entries.count)
    for (index, entry) in entries.enumerated() {
      let key = RecordKey(entry.id)
      let state: State
      if let earlier = states[key] {
        let known = Known(
          position: earlier.position, json: earlier.json == entry.json ? nil : earlier.json,
          isRemovedUpstream: false)
        state = update(known, by: entry, index, at: earlier.place)
      } else if var known = known[index] {
        if known.position <= end {
          last += 1
          moves.append((known.position, last))
          known.position = last
        }
        state = update(known, by: entry, index, at: .unwritten)
      } else {
        last += 1
        state = State(position: last, json: entry.json, place: .insertion(insertions.count))
        insertions.append(
          Form(position: last, id: entry.id, json: entry.json, text: entry.text()))
        positions.append(last)
        changes.added.append(index)
      }
      states[key] = state
      json.append(state.json)
    }
  }

  /// Plans an entry whose record is known, and has its form at `place`.
  private mutating func update(
    _ known: Known, by entry: StoreEntry, _ index: Int, at place: State.Place
  ) -> State {
    positions.append(known.position)
    if known.isRemovedUpstream {
      returned.append(known.position)
      history.append(Change(kind: .returned, position: known.position))
    }
    let merged = known.json.flatMap(entry.mergedWithStored)
    changes.merged[index] = merged?.json
    guard let old = known.json, old != merged?.json else {
      if known.isRemovedUpstream { changes.changed += 1 } else { changes.unchanged += 1 }
      return State(position: known.position, json: known.json ?? entry.json, place: place)
    }
    changes.changed += 1
    let form = Form(
      position: known.position, id: entry.id, json: merged?.json ?? entry.json,
      text: merged?.text ?? entry.text())
    var place = place
    if case .insertion(let slot) = place {
      insertions[slot] = form
    } else {
      // Of a record that is new in this batch, no earlier state is known.
      if entry.isChange(old) {
        history.append(Change(kind: .changed, position: known.position, before: old))
      } else {
        unrecorded.append(known.position)
      }
      if case .replacement(let slot) = place {
        replacements[slot] = form
      } else {
        place = .replacement(replacements.count)
        replacements.append(form)
      }
    }
    return State(position: form.position, json: form.json, place: place)
  }
}
