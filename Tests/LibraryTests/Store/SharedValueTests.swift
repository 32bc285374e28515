import AggregatorSourceTesting
import Testing

@testable import AggregatorCore
@testable import AggregatorKit

/// Two values over the same text stand for two processes.
@Suite(.timeLimit(.minutes(10)))
struct SharedTests {
  private struct Count: Codable, Equatable, Sendable {
    var number = 0
  }

  private let texts = Texts()

  private func shared() -> SharedValue<Count> {
    SharedValue(Count()) { [texts] body throws(SourceError) in try await texts.change("count", body)
    }
  }

  @Test func `is one value for all processes`() async {
    let (one, other) = (shared(), shared())
    #expect(
      await one.update {
        $0.number += 1; return $0.number
      } == 1)
    #expect(
      await other.update {
        $0.number += 1; return $0.number
      } == 2)
    #expect(await one.update(\.number) == 2)
    #expect(texts.texts == ["count": #"{"number":2}"#])
  }

  @Test func `loses no concurrent change`() async {
    let processes = [shared(), shared(), shared()]
    await withTaskGroup { group in
      for number in 0..<300 {
        group.addTask { await processes[number % 3].update { $0.number += 1 } }
      }
    }
    #expect(await processes[0].update(\.number) == 300)
  }

  @Test func `is in memory if there is no store`() async {
    let alone = SharedValue(Count())
    await alone.update { $0.number = 7 }
    #expect(await alone.update(\.number) == 7)
  }

  @Test func `writes nothing if the value is unchanged`() async {
    let value = shared()
    await value.update { _ in }
    #expect(texts.texts.isEmpty)
    await value.update { $0.number = 3 }
    await value.update { $0.number = 3 }
    #expect(texts.writes == 1)
  }

  @Test(arguments: ["", "{", "{}", #"{"number":"many"}"#, #"{"count":1}"#, "\u{0}", "null", "[1]"])
  func `starts over if the text cannot be read`(text: String) async {
    texts.set("count", text)
    let value = shared()
    #expect(await value.update(\.number) == 0)
    #expect(texts.texts["count"] == text)
    await value.update { $0.number += 1 }
    #expect(await shared().update(\.number) == 1)
  }

  @Test(arguments: [Texts.Fault.busy, .full])
  func `continues in memory with the last value when the store fails`(fault: Texts.Fault) async {
    let value = shared()
    await value.update { $0.number = 40 }
    texts.fail(fault)
    #expect(
      await value.update {
        $0.number += 1; return $0.number
      } == 41)
    #expect(
      await value.update {
        $0.number += 1; return $0.number
      } == 42)
    #expect(texts.changes == 2)
    texts.fail(nil)
    #expect(await value.update(\.number) == 42)
    #expect(texts.texts["count"] == #"{"number":40}"#)
  }

  @Test func `counts a repeated change once`() async {
    let value = shared()
    texts.fail(.twice)
    #expect(
      await value.update {
        $0.number += 1; return $0.number
      } == 1)
    #expect(
      await value.update {
        $0.number += 1; return $0.number
      } == 2)
    #expect(texts.texts["count"] == #"{"number":2}"#)
  }

  @Test func `is also changed by cancelled callers`() async {
    let value = shared()
    texts.fail(.cancellable)
    let gate = Gate()
    let leaving = Task {
      try? await gate.pass()
      await value.update { $0.number += 1 }
    }
    leaving.cancel()
    await leaving.value
    #expect(texts.texts["count"] == #"{"number":1}"#)
  }
}
