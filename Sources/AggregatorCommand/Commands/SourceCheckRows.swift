import AggregatorKit
import AggregatorTerminal

extension [SourceHealth] {
  /// One line a source: `✓ heroes    82 ms  live   107 cached`.
  func rows(on layout: TerminalLayout, hasUTF8: Bool) -> String {
    let sources = map { $0.id.safeLine }
    let results = map { health in
      health.status == "ok"
        ? Duration.milliseconds(health.milliseconds ?? 0).text : health.status
    }
    let widest = (
      source: sources.map(\.displayWidth).max() ?? 0,
      result: results.map(\.displayWidth).max() ?? 0,
      origin: map { $0.origin.displayWidth }.max() ?? 0
    )
    var text = ""
    for (index, health) in enumerated() {
      let isSound = health.status == "ok"
      let mark = isSound ? (hasUTF8 ? "✓" : "+") : (hasUTF8 ? "✗" : "x")
      var line = Line(on: layout)
      line.add(mark, as: isSound ? .id : .error)
      line.move(to: 2)
      line.add(sources[index])
      // Times end in one column.
      var column = 4 + widest.source + widest.result
      line.move(to: column - results[index].displayWidth)
      line.add(results[index], as: isSound ? nil : .error)
      column += 2
      if column + widest.origin <= layout.width {
        line.move(to: column)
        line.add(health.origin, as: .label)
        column += widest.origin + 2
        let cached = health.records.map { $0 > 0 ? "\($0) cached" : "" } ?? ""
        if !cached.isEmpty, column + cached.displayWidth <= layout.width {
          line.move(to: column)
          line.add(cached, as: .label)
        }
      }
      text += line.text + "\n"
    }
    return text
  }
}
