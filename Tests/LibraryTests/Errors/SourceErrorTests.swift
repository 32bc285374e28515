import AggregatorKit
import Foundation
import Testing

@Suite
struct SourceErrorTests {
  private static let names = [
    "cancelled", "invalidRequest", "invalidCursor", "notFound", "invalidSettings", "offline",
    "unreachable",
    "connectionLost", "timedOut", "missingKey", "invalidKey", "rateLimited", "rejected",
    "serverError", "circuitOpen", "malformed", "tooLarge", "noProgress", "storage",
  ]

  @Test(arguments: names)
  func `a code reads back from its name`(name: String) throws {
    let code = try #require(SourceError.Code(name))
    #expect(code.description == name)
    #expect(!code.text.isEmpty)
    #expect(name.utf8.allSatisfy { ($0 | 0x20) &- 0x61 < 26 })
  }

  @Test(arguments: ["", "ok", "Cancelled", "timed out", "timedOut "])
  func `other codes do not exist`(name: String) {
    #expect(SourceError.Code(name) == nil)
  }

  @Test func `errors are equal but for their causes`() {
    let error = SourceError(
      .busy, "locked", remedy: "wait", retryAfter: .seconds(1), cause: CancellationError())
    #expect(error == SourceError(.busy, "locked", remedy: "wait", retryAfter: .seconds(1)))
    #expect(error != SourceError(.storage, "locked", remedy: "wait", retryAfter: .seconds(1)))
    #expect(error != SourceError(.busy, "late", remedy: "wait", retryAfter: .seconds(1)))
    #expect(error != SourceError(.busy, "locked", remedy: "go", retryAfter: .seconds(1)))
    #expect(error != SourceError(.busy, "locked", remedy: "wait"))
  }

  @Test func `pages are equal in all that they show`() {
    let page = Page<Note>.notes([1, 2], next: .place(2))
    #expect(page == Page<Note>.notes([1, 2], next: .place(2)))
    let change: [(inout Page<Note>) -> Void] = [
      { $0.records = [Note(1)] }, { $0.next = nil }, { $0.total = 2 }, { $0.hidden = 1 },
      { $0.provenance.origin = .cached }, { $0.warnings = [Warning(Warning.Code("code"), "text")] },
      { $0.unreadable = UnreadableRows(count: 1, firstReason: nil) },
    ]
    for change in change {
      var other = page
      change(&other)
      #expect(page != other)
    }
  }

  @Test func `only temporary failures are transient`() throws {
    let transient = Set(["timedOut", "connectionLost", "rateLimited", "serverError"])
    for name in Self.names {
      let error = SourceError(try #require(SourceError.Code(name)), "x")
      #expect(error.isTransient == transient.contains(name), "\(name)")
    }
  }

  @Test func `answers and usage errors allow no fallback`() throws {
    let final = Set([
      "busy", "cancelled", "notFound", "invalidCursor", "invalidRequest", "invalidSettings",
    ])
    for name in Self.names {
      let error = SourceError(try #require(SourceError.Code(name)), "x")
      #expect(error.allowsFallback == !final.contains(name), "\(name)")
    }
  }

  @Test func `a catch can name a code`() {
    var caught = ""
    do throws(SourceError) {
      throw .notFound(7, in: "notes")
    } catch .timedOut {
      caught = "timedOut"
    } catch .notFound {
      caught = "notFound"
    } catch {
      caught = "another"
    }
    #expect(caught == "notFound")
    #expect(SourceError.notFound(7, in: "notes").message == "notes record \"7\" not found")
  }

  @Test func `suggests a remedy if there is one`() {
    #expect(SourceError(.offline, "no network").description == "no network")
    #expect(
      SourceError(.offline, "no network", remedy: "plug it in").description
        == "no network (plug it in)")
  }

  @Test func `unreadable rows add up and keep the first reason`() {
    let some = UnreadableRows(count: 2, firstReason: "a")
    #expect(
      some + UnreadableRows(count: 1, firstReason: "b")
        == UnreadableRows(count: 3, firstReason: "a"))
    #expect(.none + some == some)
    #expect(some + .none == some)
  }
}
