/// Writes each record as a ``Block``.
struct BlockWriter<Item>: RecordWriter {
  let terminalLayout: TerminalLayout
  let block: (Item) -> Block

  mutating func append(_ records: [Item]) -> String {
    records.map { block($0).text(on: terminalLayout) }.joined()
  }
}
