import AggregatorKit
import AggregatorSourceTesting
import Testing

@testable import AggregatorProgramTesting
@testable import AggregatorTerminal

@Suite struct ColumnsTests {
  private func soft(_ natural: Int) -> Columns.Requirement {
    .init(natural: natural, isRigid: false, isRequired: false)
  }
  private func id(_ natural: Int) -> Columns.Requirement {
    .init(natural: natural, isRigid: true, isRequired: true)
  }

  @Test func `columns that fit have their natural widths`() {
    #expect(Columns([id(4), soft(10), soft(6)], in: 80).widths == [4, 10, 6])
    #expect(Columns([id(4), soft(10), soft(6)], in: 24).widths == [4, 10, 6])
  }

  @Test func `cuts the widest to the same width`() {
    #expect(Columns([id(4), soft(10), soft(100), soft(90)], in: 60).widths == [4, 10, 20, 20])
    #expect(Columns([id(4), soft(10), soft(90), soft(100)], in: 61).widths == [4, 10, 20, 21])
  }

  @Test func `drops trailing columns if they do not fit, but never the IDs`() {
    let columns = Columns([soft(30), soft(30), soft(30), id(6)], in: 40)
    #expect(columns.shown == [0, 1, 2, 3])
    #expect(Columns([soft(30), soft(30), soft(30), id(16)], in: 40).shown == [0, 1, 3])
    #expect(Columns([soft(30), id(60)], in: 40).shown == [1])
  }

  @Test func `no column is left out while another could be narrower`() {
    let wordy = Columns.Requirement(natural: 10, word: 10, isRigid: false, isRequired: false)
    #expect(Columns([id(4), wordy, wordy], in: 28).widths == [4, 10, 10])
    #expect(Columns([id(4), wordy, wordy], in: 25).widths == [4, 8, 9])
    #expect(Columns([id(4), wordy, wordy], in: 23).shown == [0, 1])
  }

  @Test func `room that narrow columns leave is for those with room for their words only`() {
    let summary = Columns.Requirement(natural: 40, word: 20, isRigid: false, isRequired: false)
    let columns = Columns([soft(9), summary, soft(10), id(7), id(16), soft(8)], in: 80)
    #expect(columns.widths == [9, 20, 10, 7, 16, 8])
  }

  @Test func `columns never exceed the width`() {
    var random = SeededGenerator(4)
    for _ in 0..<2000 {
      let count = Int.random(in: 1...7, using: &random)
      let requirements = (0..<count).map { _ in
        Columns.Requirement(
          natural: Int.random(in: 0...60, using: &random),
          isRigid: Bool.random(using: &random) && Bool.random(using: &random), isRequired: false)
      }
      let width = Int.random(in: 1...150, using: &random)
      let columns = Columns(requirements, in: width)
      let total = columns.widths.reduce(2 * (columns.widths.count - 1), +)
      #expect(total <= width || columns.shown.count == 1, "\(requirements) in \(width)")
      for (index, total) in zip(columns.shown, columns.widths) {
        #expect(total <= requirements[index].natural || requirements[index].natural == 0)
        if requirements[index].isRigid { #expect(total == requirements[index].natural) }
      }
    }
  }
}
