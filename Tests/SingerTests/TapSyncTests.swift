import Foundation
import Testing

@Suite(.enabled(if: TapUser.hasPython, "python3 is not installed"), .timeLimit(.minutes(10)))
struct TapSyncTests {
  @Test func `the streams of a tap become sources, which a sync fills`() async throws {
    let user = try TapUser()
    try user.setRows(1...7)
    let added = try await user.add(#""streams": ["orders", "customers"]"#)
    #expect(added.status == 0, "\(added)")
    #expect(added.output.contains("streams  orders     id  full table  3 columns"), "\(added)")
    #expect(
      added.output.contains("(sources shop-orders, shop-customers; --stream NAME takes one)"),
      "\(added)")
    #expect(added.output.contains("next     aggregator shop-orders sync"), "\(added)")
    let early = try await user.run("shop-orders list")
    #expect(early.status == 69, "\(early)")
    #expect(early.errors.contains("aggregator shop-orders sync"), "\(early)")
    let synced = try await user.run("shop-orders sync")
    #expect(synced.status == 0, "\(synced)")
    #expect(synced.output.hasPrefix("shop-orders\t7\t0\t0\t0\t"), "\(synced)")
    #expect(try await user.records(of: "shop-orders") == rows(1...7))
    let other = try await user.run("shop-customers list")
    #expect(other.status == 69, "\(other)")
  }

  @Test func `a full table that ends well removes what it does not send`() async throws {
    let user = try TapUser()
    try user.setRows(1...30)
    #expect(try await user.add().status == 0)
    #expect(try await user.run("shop sync").status == 0)
    try user.setRows(3...30)
    let synced = try await user.run("shop sync")
    #expect(synced.output.hasPrefix("shop\t0\t0\t28\t2\t"), "\(synced)")
    #expect(try await user.records() == rows(3...30))
    // Many at once need a second pass.
    try user.setRows(29...30)
    let first = try await user.run("shop sync")
    #expect(first.status == 3, "\(first)")
    #expect(first.errors.contains("26 of 28 known records are missing"), "\(first)")
    #expect(try await user.records() == rows(3...30))
    #expect(try await user.run("shop sync").status == 0)
    #expect(try await user.records() == rows(29...30))
  }

  @Test(arguments: [(mode: "full", status: 3), ("incremental", 0)])
  func `silence proves no removal, and is said of a full table`(
    mode: String, status: Int32
  ) async throws {
    let user = try TapUser()
    try user.setRows(1...3)
    #expect(try await user.add("\"mode\": \"\(mode)\"").status == 0)
    #expect(try await user.run("shop sync").status == 0)
    try user.write(#"{"silent": true}"#, to: "plan")
    for _ in 1...2 {
      let synced = try await user.run("shop sync")
      #expect(synced.status == status, "\(synced)")
      #expect(synced.errors.contains("sent no SCHEMA of orders") == (status == 3), "\(synced)")
      #expect(try await user.records() == rows(1...3))
    }
  }

  @Test func `an old tap has the catalog as its properties`() async throws {
    let user = try TapUser()
    try user.write(
      #"""
      #!/usr/bin/env python3
      import argparse, json
      parser = argparse.ArgumentParser()
      for name in ["config", "catalog", "properties", "state"]:
          parser.add_argument("--" + name)
      parser.add_argument("--discover", action="store_true")
      options = parser.parse_args()
      schema = {"type": "object", "properties": {"id": {"type": "integer"}, "name": {"type": "string"}}}
      if options.discover:
          print(json.dumps({"streams": [
              {"tap_stream_id": name, "stream": name, "schema": schema, "key_properties": ["id"]}
              for name in ["orders", "customers"]]}))
      elif options.properties:
          for stream in json.load(open(options.properties))["streams"]:
              if stream["schema"].get("selected"):
                  print(json.dumps({"type": "SCHEMA", **stream}))
                  print(json.dumps({
                      "type": "RECORD", "stream": stream["stream"], "record": {"id": 1, "name": "row 1"}}))
      """#, to: "tap")
    #expect(try await user.add().status == 0)
    let synced = try await user.run("shop-customers sync")
    #expect(synced.status == 0, "\(synced)")
    #expect(try await user.records(of: "shop-customers") == rows([1]))
  }

  @Test func `an incremental stream goes on from its state, and removes nothing`() async throws {
    let user = try TapUser()
    try user.setRows(1...5)
    #expect(try await user.add(#""mode": "incremental""#).status == 0)
    #expect(try await user.run("shop sync").status == 0)
    try user.setRows(6...7)
    let synced = try await user.run("shop sync")
    #expect(synced.status == 0, "\(synced)")
    #expect(synced.output.hasPrefix("shop\t2\t0\t0\t0\t"), "\(synced)")
    #expect(try await user.records() == rows(1...7))
    #expect(try user.text("log").contains(#"start {"at": 5, "n": 5}"#))
    let nothing = try await user.run("shop sync")
    #expect(nothing.status == 0, "\(nothing)")
    #expect(nothing.output.hasPrefix("shop\t0\t0\t0\t0\t"), "\(nothing)")
    let all = try await user.run("shop sync --full")
    #expect(all.output.hasPrefix("shop\t0\t0\t2\t0\t"), "\(all)")
  }

  @Test func `a version that is activated removes older records at once`() async throws {
    let user = try TapUser()
    try user.setRows(1...40)
    #expect(try await user.add(#""mode": "versioned""#).status == 0)
    #expect(try await user.run("shop sync").status == 0)
    try user.setRows(38...40)
    let same = try await user.run("shop sync")
    #expect(same.status == 0, "\(same)")
    #expect(same.output.hasPrefix("shop\t0\t0\t3\t37\t"), "\(same)")
    #expect(try await user.records() == rows(38...40))
  }

  @Test func `a version that is activated before its first record removes nothing`() async throws {
    let user = try TapUser()
    try user.setRows(1...40)
    #expect(try await user.add(#""mode": "versioned", "early": true"#).status == 0)
    #expect(try await user.run("shop sync").status == 0)
    try user.setRows(1...20)
    try user.write("2", to: "version")
    try user.write(#"{"line": 2, "who": "tap"}"#, to: "plan")
    #expect(try await user.run("shop sync").status != 0)
    #expect(try await user.records() == rows(1...40))
    try FileManager.default.removeItem(atPath: user.path("plan"))
    let synced = try await user.run("shop sync")
    #expect(synced.output.hasPrefix("shop\t0\t0\t20\t20\t"), "\(synced)")
    #expect(try await user.records() == rows(1...20))
  }

  @Test func `sources check starts the tap, and judges its records`() async throws {
    let user = try TapUser()
    try user.setRows(1...9)
    #expect(try await user.add().status == 0)
    let checked = try await user.run("sources check shop")
    #expect(checked.status == 0, "\(checked)")
    let judged = try await user.run("sources check shop --laws")
    #expect(judged.status == 0, "\(judged)")
    #expect(judged.output.contains("shop\trecord-round-trip\tpass"), "\(judged)")
    // Nothing is stored.
    #expect(try await user.run("shop list").status == 69)
    try user.configure(#""exit": 1, "rows": "/nowhere""#)
    #expect(try await user.add(#""rows": "/nowhere""#, options: "--replace").status == 0)
    let failed = try await user.run("sources check shop")
    #expect(failed.status == 69, "\(failed)")
    #expect(failed.errors.contains("No such file"), "\(failed)")
  }

  @Test func `pages cannot be counted`() async throws {
    let user = try TapUser()
    try user.setRows(1...2)
    #expect(try await user.add().status == 0)
    #expect(try await user.run("shop sync --max-pages 1").status == 64)
    #expect(try await user.run("shop sync --offline").status != 0)
    #expect(!FileManager.default.fileExists(atPath: user.path("log")))
    #expect(try await user.run("sources export shop --swift").status == 64)
  }

  @Test func `a stream without keys has digests as IDs, which is said`() async throws {
    let user = try TapUser()
    try user.write(
      #"{"name": "a"}"# + "\n" + #"{"name": "b"}"# + "\n" + #"{"name": "a"}"# + "\n", to: "rows")
    let added = try await user.add(#""keys": [], "every": 99"#)
    #expect(added.errors.contains("digest of the whole row"), "\(added)")
    try user.write(
      #"{"id": 1, "name": "a"}"# + "\n" + #"{"id": 1, "name": "a"}"# + "\n", to: "rows")
    let synced = try await user.run("shop sync")
    #expect(synced.output.hasPrefix("shop\t1\t"), "\(synced)")
  }

  @Test func `a record that an incomplete sync did not bring may exist`() async throws {
    let user = try TapUser()
    try user.setRows(1...3)
    #expect(try await user.add().status == 0)
    try user.write(#"{"line": 2, "who": "tap"}"#, to: "plan")
    #expect(try await user.run("shop sync").status != 0)
    for line in ["shop show 9 --offline", "shop show 9"] {
      let shown = try await user.run(line)
      #expect(shown.status == 69, "\(shown)")
      #expect(
        shown.errors == """
          error: shop: record 9 is not cached, and the list was not synced completely yet
          hint: aggregator shop sync

          """, "\(shown)")
    }
    try FileManager.default.removeItem(atPath: user.path("plan"))
    #expect(try await user.run("shop sync").status == 0)
    #expect(try await user.run("shop show 9").errors.hasPrefix("error: shop: record 9 not found"))
  }

  @Test func `several keys are one ID`() async throws {
    let user = try TapUser()
    try user.setRows(1...2)
    #expect(try await user.add(#""keys": ["id", "name"]"#).status == 0)
    #expect(try await user.run("shop sync").status == 0)
    let shown = try await user.run("shop list --format ndjson --fields id")
    #expect(shown.output.contains("1/row 1"), "\(shown)")
  }

  @Test func `a list cannot be refreshed by a request`() async throws {
    let user = try TapUser()
    try user.setRows(1...2)
    #expect(try await user.add().status == 0)
    #expect(try await user.run("shop sync").status == 0)
    let refreshed = try await user.run("shop list --refresh")
    #expect(refreshed.status != 0, "\(refreshed)")
    #expect(refreshed.errors.contains("aggregator shop sync"), "\(refreshed)")
    let explained = try await user.run("shop sync --explain")
    #expect(explained.errors.contains("plan: '\(user.path("tap"))'"), "\(explained)")
    let shown = try await user.run("sources show shop --format json")
    #expect(
      shown.output.contains("\(user.path("tap"))".replacing("/", with: "\\/"))
        || shown.output.contains(user.path("tap")), "\(shown)")
  }

  @Test func `only the own folder starts programs`() async throws {
    let user = try TapUser()
    try user.setRows(1...2)
    #expect(try await user.add().status == 0)
    try FileManager.default.copyItem(
      atPath: user.path("home/.config/aggregator/sources"), toPath: user.path("elsewhere"))
    let refused = try await user.run("shop sync --manifests elsewhere")
    #expect(refused.status == 78, "\(refused)")
    #expect(refused.errors.contains("which only one in your own folder may"), "\(refused)")
    #expect(!FileManager.default.fileExists(atPath: user.path("log")))
    let notAdded = try await user.run("sources add other --tap ./tap --manifests elsewhere")
    #expect(notAdded.status == 64, "\(notAdded)")
  }
}
