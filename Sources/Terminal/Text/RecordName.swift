package import AggregatorKit

extension Sequence {
  /// The name of a record: the text of the field that is its name, or else its first shown text other than its ID; `nil` if
  /// there is none, or if the field that names the others of its source is empty.
  package func name<Item: SourceRecord>(of item: Item) -> String? where Element == Field<Item> {
    let id = item.id.description
    // Where the ID is the name, no other text is.
    if contains(where: { $0.isName && $0[item] == .string(id) }) { return nil }
    var isFirst = true
    for isName in [true, false] {
      for field in self where field.isShown && field.isName == isName {
        switch field[item] {
        case .string(let text) where text == id: continue
        case .integer(let number) where String(number) == id: continue
        case .string(let text): return text.isEmpty ? nil : text
        // Where kinds are not declared, names come first.
        case .null where field.kind == .text || field.kind == .any && isFirst: return nil
        default: isFirst = false
        }
      }
    }
    return nil
  }
}
