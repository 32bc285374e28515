/// Writes each record as a ``Block``.
struct BlockWriter<Item>: RecordWriter {
  let surface: Surface
  let block: (Item) -> Block

  mutating func append(_ records: [Item]) -> String {
    records.map { block($0).text(on: surface) }.joined()
  }
}
