import AggregatorFakeServices
import AggregatorPostgresServer
import Foundation
import Testing

@testable import AggregatorProgramTesting

/// A store on a disk that is too small for a sync.
@Suite struct FullDiskTests {
  /// Runs our program with a small disk in place of the directory of the store, of which it keeps the files.
  ///
  /// Its status is 99 if no disk can be mounted.
  private static let smallDisk = [
    "/usr/bin/env", "unshare", "--mount", "/bin/sh", "-c",
    """
    state=$HOME/.local/share/aggregator
    mkdir -p -m 700 "$state" "$HOME/kept"
    mount -t tmpfs -o size=24m,mode=700 none "$state" || exit 99
    "$@"
    status=$?
    cp "$state"/store.sqlite* "$HOME/kept/"
    exit $status
    """, "sh",
  ]

  @Test(.enabled(if: PostgresServer.canMount, "no disk can be mounted here"))
  func `a sync that fills the disk ends with an error and keeps what was stored`() async throws {
    let service = try FakeProducts((0..<200).map(FakeProduct.large))
    let home = try TestHome(service.settings.merging(["PRODUCTS_PAGE_SIZE": "10"]) { $1 })
    let outcome = try await home.run("products sync --jobs 4", by: Self.smallDisk)
    #expect(outcome.status == 3, "\(outcome)")
    #expect(outcome.errors.contains("the disk is full"), "\(outcome)")
    let file = StoredFile(path: home.sandbox.root.appending(path: "home/kept/store.sqlite").path)
    let ids = try file.ids(of: "products")
    #expect(!ids.isEmpty && ids.count < 200)
    #expect(ids == (0..<ids.count).map(FakeProduct.id))
    #expect(try file.faults() == [])
  }
}
