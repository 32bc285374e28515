import AggregatorKit
import AggregatorLaws

extension StoreLaw {
  private typealias Change = @Sendable (any Store, String) async throws(SourceError) -> Void

  /// Each is a change after those before it.
  private static let changes: [(name: String, make: Change)] = [
    (
      "a new record",
      { store, source throws(SourceError) in
        try await store.save([StoreEntry("a"), StoreEntry("b")], of: source)
      }
    ),
    (
      "a changed record",
      { store, source throws(SourceError) in try await store.save([StoreEntry("a", 1)], of: source)
      }
    ),
    (
      "a deletion",
      { store, source throws(SourceError) in
        _ = try await store.delete(["b"], of: source, at: .law(1))
      }
    ),
    (
      "another deletion and a restored record",
      { store, source throws(SourceError) in
        _ = try await store.delete(["a"], of: source, at: .law(1))
        _ = try await store.restore(["b"], of: source)
      }
    ),
    (
      "the deletion of a record that is not stored",
      { store, source throws(SourceError) in
        _ = try await store.delete(["never"], of: source, at: .law(2))
      }
    ),
    (
      "all records restored",
      { store, source throws(SourceError) in _ = try await store.restore(nil, of: source) }
    ),
    (
      "a record that was removed upstream",
      { store, source throws(SourceError) in _ = try await store.pass(["a"], of: source)
      }
    ),
    (
      "a record that has returned",
      { store, source throws(SourceError) in try await store.save([StoreEntry("b")], of: source) }
    ),
    (
      "the removal of all records",
      { store, source throws(SourceError) in try await store.clear(source, forgetsDeleted: true) }
    ),
  ]

  /// No store needs as long, however busy its machine is.
  private static let limit = Duration.seconds(60)

  static let changesNotified = StoreLaw(
    "changes-notified", "Everyone who listens is notified of every change, by any process."
  ) { trial throws(SourceError) in
    for (index, change) in changes.enumerated() {
      let streams = [
        await trial.store.changeNotifications(of: trial.source),
        await trial.other.changeNotifications(of: trial.source),
      ]
      try await change.make(trial.other, trial.source)
      for stream in streams {
        let answer = await within(limit) {
          var elements = stream.makeAsyncIterator()
          return await elements.next() != nil
        }
        if index == 0, answer == false {
          return trial.context.notApplicable("changes are not notified")
        }
        trial.expect(answer == true, "a notification", at: "changeNotifications, \(change.name)")
      }
    }
  }
}
