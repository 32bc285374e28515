import Foundation
import Testing

@Suite(.enabled(if: TapUser.hasPython, "python3 is not installed"), .timeLimit(.minutes(10)))
struct HostileTapTests {
  /// A user whose source has seven rows, and after them the given lines of JSON.
  private func user(then lines: [String], exit: Int = 0) async throws -> TapUser {
    let user = try TapUser()
    try user.setRows(1...7)
    let texts = try lines.map { String(decoding: try JSONEncoder().encode($0), as: UTF8.self) }
    let added = try await user.add(
      "\"then\": [\(texts.joined(separator: ", "))], \"exit\": \(exit)")
    #expect(added.status == 0, "\(added)")
    return user
  }

  /// A user whose tap is a shell script after it was added.
  private func user(running script: String) async throws -> TapUser {
    let user = try TapUser()
    try user.setRows(1...3)
    #expect(try await user.add().status == 0)
    try user.write("#!/bin/sh\n\(script)\n", to: "tap")
    return user
  }

  private static let schema =
    #"{"type":"SCHEMA","stream":"orders","schema":{},"key_properties":["id"]}"#

  @Test(arguments: [
    #"{"type":"RECORD","stream":"orders","record":{"id":NaN}}"#,
    #"{"type":"RECORD","stream":"orders","record":{"name":"no key"}}"#,
    #"{"type":"RECORD","stream":"orders","record":[1]}"#,
    #"{"type":"RECORD","stream":"orders","record":{"id":1.5}}"#,
    #"{"type":"RECORD","stream":"orders","record":{"id":123456789012345678901234567890}}"#,
    "not JSON", #"{"no":"type"}"#, "[]",
  ])
  func `a row that cannot be read is counted, and nothing counts as removed`(_ line: String)
    async throws
  {
    let user = try await user(then: [line])
    let synced = try await user.run("shop sync")
    #expect(synced.status == 3, "\(synced)")
    #expect(synced.errors.contains("1 row could not be read"), "\(synced)")
    #expect(try await user.records() == rows(1...7))
  }

  @Test func `messages of unknown types, and of other streams, are left out`() async throws {
    let user = try await user(then: [
      #"{"type":"FOO"}"#, #"{"type":"BAR"}"#, #"{"type":"FOO"}"#,
      #"{"type":"SCHEMA","stream":"other","schema":{},"key_properties":["id"]}"#,
      #"{"type":"RECORD","stream":"other","record":{"id":99}}"#,
    ])
    let synced = try await user.run("shop sync")
    #expect(synced.status == 0, "\(synced)")
    #expect(synced.errors.contains("left out 3 messages of unknown types: FOO, BAR"), "\(synced)")
    #expect(try await user.records() == rows(1...7))
  }

  @Test func `whole numbers that are rounded have one warning`() async throws {
    let user = try await user(then: [
      #"{"type":"RECORD","stream":"orders","record":{"id":8,"sum":12345678901234567891}}"#,
      #"{"type":"RECORD","stream":"orders","record":{"id":9,"sum":12345678901234567892}}"#,
    ])
    let synced = try await user.run("shop sync")
    #expect(synced.status == 0, "\(synced)")
    #expect(
      synced.errors.components(separatedBy: "are rounded to about 16 digits: \"sum\"").count == 2,
      "\(synced)")
  }

  @Test func `records before their schema are dropped and counted`() async throws {
    let user = try await user(
      running: """
        echo '{"type":"RECORD","stream":"orders","record":{"id":1,"name":"early"}}'
        echo '\(Self.schema)'
        echo '{"type":"RECORD","stream":"orders","record":{"id":2,"name":"row 2"}}'
        """)
    let synced = try await user.run("shop sync")
    #expect(synced.status == 3, "\(synced)")
    #expect(synced.errors.contains("1 record came before their schema"), "\(synced)")
    #expect(try await user.records() == rows(2...2))
  }

  @Test func `a line over the limit of a record is skipped and counted`() async throws {
    let user = try await user(
      running: """
        echo '\(Self.schema)'
        head -c 5000000 /dev/zero | tr '\\0' a
        echo
        echo '{"type":"RECORD","stream":"orders","record":{"id":2,"name":"row 2"}}'
        """)
    let synced = try await user.run("shop sync")
    #expect(synced.status == 3, "\(synced)")
    #expect(synced.errors.contains("larger than 4 MB"), "\(synced)")
    #expect(try await user.records() == rows(2...2))
  }

  @Test func `what was stored before a failure stays, and the failure is said`() async throws {
    let user = try await user(then: [], exit: 1)
    let synced = try await user.run("shop sync")
    #expect(synced.status == 3, "\(synced)")
    #expect(synced.errors.contains("ended with status 1"), "\(synced)")
    #expect(try await user.records() == rows(1...7))
    let listed = try await user.run("shop list")
    #expect(listed.errors.contains("the last sync was not complete"), "\(listed)")
  }

  @Test func `a tap that prints nothing is ended after the time limit`() async throws {
    let user = try await user(
      running: """
        trap '' TERM
        sleep 600 &
        echo 'waiting for the service' >&2
        wait
        """)
    let synced = try await user.run("shop sync --timeout 200ms")
    #expect(synced.status == 75, "\(synced)")
    #expect(synced.errors.contains("sent no message for 200 ms"), "\(synced)")
    #expect(synced.errors.contains("waiting for the service"), "\(synced)")
  }

  @Test func `standard error without end is no message`() async throws {
    let user = try await user(running: "yes 'still working' >&2")
    let synced = try await user.run("shop sync --timeout 300ms")
    #expect(synced.status == 75, "\(synced)")
    #expect(synced.errors.contains("still working"), "\(synced)")
    #expect(synced.errors.utf8.count < 1000)
  }

  @Test func `a child that keeps the output open ends with the tap`() async throws {
    let user = try await user(
      running: """
        echo '\(Self.schema)'
        echo '{"type":"RECORD","stream":"orders","record":{"id":2,"name":"row 2"}}'
        sleep 600 &
        exit 0
        """)
    let synced = try await user.run("shop sync")
    #expect(synced.status == 0, "\(synced)")
    #expect(try await user.records() == rows(2...2))
  }

  @Test func `a child that leaves the group and prints for ever holds nothing up`() async throws {
    let user = try await user(
      running: """
        echo '\(Self.schema)'
        echo '{"type":"RECORD","stream":"orders","record":{"id":2,"name":"row 2"}}'
        setsid yes '{}' &
        exit 0
        """)
    let synced = try await user.run("shop sync")
    // What it prints may come before the end of the tap.
    #expect([0, 3].contains(synced.status), "\(synced)")
    #expect(try await user.records() == rows(2...2))
  }

  @Test func `files of a batch are read only below the directory of the run`() async throws {
    let user = try await user(
      running: """
        echo '\(Self.schema)'
        echo '{"id":5,"name":"row 5"}' > "$TMPDIR/batch.jsonl"
        echo "{\\"type\\":\\"BATCH\\",\\"stream\\":\\"orders\\",\\"manifest\\":[\\"file://$TMPDIR/batch.jsonl\\"]}"
        echo '{"id":6,"name":"row 6"}' | gzip > "$TMPDIR/batch.gz"
        echo "{\\"type\\":\\"BATCH\\",\\"stream\\":\\"orders\\",\\"manifest\\":[\\"file://$TMPDIR/batch.gz\\"]}"
        """)
    let synced = try await user.run("shop sync")
    #expect(synced.status == 0, "\(synced)")
    #expect(try await user.records() == rows(5...6))
    try user.write(#"{"id":9,"name":"row 9"}"#, to: "outside.jsonl")
    try user.write(
      """
      #!/bin/sh
      echo '\(Self.schema)'
      ln -s '\(user.path("outside.jsonl"))' "$TMPDIR/link"
      echo "{\\"type\\":\\"BATCH\\",\\"stream\\":\\"orders\\",\\"manifest\\":[\\"file://$TMPDIR/link\\"]}"
      """, to: "tap")
    let refused = try await user.run("shop sync")
    #expect(refused.status != 0, "\(refused)")
    #expect(refused.errors.contains("is not in the directory of the run"), "\(refused)")
    #expect(try user.text("outside.jsonl").contains("row 9"))
  }

  @Test func `a million streams are too many to add, and harmless`() async throws {
    let user = try TapUser()
    try user.write(
      """
      #!/usr/bin/env python3
      print('{"streams": [' + ",".join(
          '{"tap_stream_id": "s%d", "schema": {}}' % n for n in range(1000000)) + ']}')
      """, to: "tap")
    try user.configure()
    let refused = try await user.run("sources add shop --tap ./tap --tap-config config.json")
    #expect(refused.status == 64, "\(refused)")
    #expect(refused.errors.contains("1000000 streams"), "\(refused)")
    let added = try await user.run(
      "sources add shop --tap ./tap --tap-config config.json --stream s999999")
    #expect(added.status == 0, "\(added)")
  }

  @Test(arguments: ["", "[]", "{}", #"{"streams": [{}]}"#, "{"])
  func `an invalid catalog is refused`(_ text: String) async throws {
    let user = try TapUser()
    try user.write("#!/bin/sh\ncat <<'E'\n\(text)\nE\n", to: "tap")
    let refused = try await user.run("sources add shop --tap ./tap")
    #expect(refused.status != 0, "\(refused)")
    #expect(refused.errors.hasPrefix("error: "), "\(refused)")
    #expect(user.files(under: "home/.config/aggregator/sources").isEmpty)
  }

  @Test func `a secret reaches the tap alone`() async throws {
    let secret = "s3cr3t-\(UUID().uuidString)"
    let user = try TapUser()
    try user.setRows(1...2)
    let added = try await user.add("\"api_token\": \"\(secret)\"")
    #expect(added.status == 0, "\(added)")
    #expect(try !user.text("home/.config/aggregator/sources/shop.json").contains(secret))
    try user.write(
      """
      #!/bin/sh
      token=$(sed -n 's/.*"api_token":"\\([^"]*\\)".*/\\1/p' "$2")
      echo "$token" | grep -q s3cr3t && echo found > \(user.path("found"))
      env > \(user.path("environment"))
      ls -l "$2" > \(user.path("mode"))
      echo "the token $token is wrong" >&2
      echo '\(Self.schema)'
      echo "{\\"type\\":\\"RECORD\\",\\"stream\\":\\"orders\\",\\"record\\":{\\"id\\":1,\\"name\\":\\"$token\\"}}"
      exit 1
      """, to: "tap")
    let synced = try await user.run(
      "shop sync", variables: ["COMIC_VINE_API_KEY": secret, "OTHER": secret])
    #expect(synced.status == 3, "\(synced)")
    #expect(synced.errors.contains("the token REDACTED is wrong"), "\(synced)")
    #expect(try user.text("found") == "found\n")
    #expect(try user.text("mode").hasPrefix("-rw-------"))
    #expect(try !user.text("environment").contains(secret))
    let listed = try await user.run("shop list --format ndjson")
    #expect(listed.output.contains("REDACTED"), "\(listed)")
    for outcome in [synced, listed] {
      #expect(!outcome.output.contains(secret))
      #expect(!outcome.errors.contains(secret))
    }
    for file in user.files(under: "home") where !file.hasSuffix("config.xcconfig") {
      let bytes = try? Data(contentsOf: user.root.appending(path: "home/\(file)"))
      #expect(bytes?.range(of: Data(secret.utf8)) == nil, "\(file)")
    }
  }

  @Test func `a tap that cannot be started is named with what helps`() async throws {
    let user = try TapUser()
    try user.write("text", to: "file")
    for name in ["none", "file"] {
      let added = try await user.run("sources add shop --tap ./\(name)")
      #expect(added.status == 69, "\(added)")
      #expect(added.errors.contains("\(user.path(name)) is no program"), "\(added)")
    }
    let added = try await user.run("sources add shop --tap tap-none")
    #expect(added.errors.contains("pipx install tap-none"), "\(added)")
  }
}
