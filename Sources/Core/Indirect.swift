/// A value behind one reference, which a change replaces: whatever holds it is small, and cheap to copy.
///
/// Whatever copies, keeps or throws a large value repeats the code for each of its parts: decision 31 has the measure.
@propertyWrapper
package struct Indirect<Value: Sendable>: Sendable {
  @usableFromInline
  package indirect enum Reference: Sendable {
    case to(Value)
  }

  @usableFromInline package var reference: Reference

  @inlinable
  package init(wrappedValue: Value) { reference = .to(wrappedValue) }

  @inlinable package var wrappedValue: Value {
    get {
      switch reference {
      case .to(let value): value
      }
    }
    set { reference = .to(newValue) }
  }
}
