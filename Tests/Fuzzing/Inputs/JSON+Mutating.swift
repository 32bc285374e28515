import AggregatorKit
import AggregatorSourceTesting

extension JSON {
  /// What stands for a value that only raw text can tell, such as half of a surrogate pair.
  private static let mark = "\u{F8FF}"

  /// This value, its lists no longer than so many elements.
  func cut(to count: Int) -> JSON {
    switch self {
    case .array(let values): .array(values.prefix(count).map { $0.cut(to: count) })
    case .object(let members):
      .object(members.map { Member($0.name, $0.value.cut(to: count)) })
    default: self
    }
  }

  /// The elements of all lists inside.
  var elements: [JSON] {
    switch self {
    case .array(let values): values + values.flatMap(\.elements)
    case .object(let members): members.flatMap(\.value.elements)
    default: []
    }
  }

  /// The text, with a raw value where one was put.
  func bytes(marking raw: String) -> [UInt8] {
    Array(text.replacing(JSON.string(Self.mark).text, with: raw).utf8)
  }

  /// Changes one value somewhere inside, or what holds it.
  mutating func mutate(_ random: inout Seeded) {
    switch self {
    case .array(var values) where !values.isEmpty && Int.random(in: 0..<12, using: &random) > 0:
      let index = Int.random(in: 0..<values.count, using: &random)
      switch Int.random(in: 0..<10, using: &random) {
      case 0: values.remove(at: index)
      case 1: values.insert(values[index], at: index)
      case 2: values.insert(.hostile(&random), at: index)
      default: values[index].mutate(&random)
      }
      self = .array(values)
    case .object(var members) where !members.isEmpty && Int.random(in: 0..<12, using: &random) > 0:
      let index = Int.random(in: 0..<members.count, using: &random)
      let (name, value) = (members[index].name, members[index].value)
      switch Int.random(in: 0..<10, using: &random) {
      case 0: members.remove(at: index)
      case 1: members.insert(Member(name, .hostile(&random)), at: index)
      case 2: members[index] = Member(members.randomElement(using: &random)?.name ?? "", value)
      case 3: members[index] = Member(Hostile.texts.randomElement(using: &random) ?? "", value)
      default:
        var inner = value
        inner.mutate(&random)
        members[index] = Member(name, inner)
      }
      self = .object(members)
    default: self = .hostile(&random)
    }
  }

  private static func hostile(_ random: inout Seeded) -> JSON {
    switch Int.random(in: 0..<10, using: &random) {
    case 0: .null
    case 1: .bool(.random(using: &random))
    case 2: .integer(Hostile.integers.randomElement(using: &random) ?? 0)
    case 3: .number(Double(bitPattern: .random(in: .min ... .max, using: &random)))
    case 4: .array([])
    case 5: .object([])
    case 6: .string(mark)
    default: .string(Hostile.text(&random))
    }
  }
}
