import AggregatorCore
import AggregatorStore
import Testing

struct ShortfallTests {
  @Test func `reasons of different kinds are all named, and kept in a checkpoint`() {
    let sum =
      Shortfall([
        Warning(.cutOff, "line 4"), Warning(.cutOff, "line 9"), Warning(.restarted, "new"),
      ])
      + .unreadable(1) + .repeatedIDs(0) + .unreadable(7)
    #expect(
      sum?.description
        == "line 4; new; 1 row could not be read")
    #expect(sum.map { Shortfall(checkpoint: $0.checkpoint) } == sum)
    #expect(sum?.isFinal == false && sum?.isUnproved == false)
    #expect((Shortfall([Warning(.sentFewer, "3")]) + .unreadable(1))?.isFinal == true)
    #expect(Shortfall([.unproved]).map { $0.isUnproved && $0.isFinal } == true)
  }

  @Test func `a warning without missing records is no reason`() {
    #expect(Shortfall([Warning(.rounded, "digits")]) == nil)
    #expect(Shortfall(of: []) == nil)
    #expect(Shortfall.unreadable(0) == nil)
  }

  @Test(arguments: ["1 row could not be read", "[]", "[1]", "{\"code\": 1}", "\"a\" or b"])
  func `the words of an older version are a reason`(text: String) {
    #expect(Shortfall(checkpoint: text) == Shortfall(.incomplete, text))
  }
}
