// swift-format-ignore-file: OmitExplicitReturns
// A return keeps the builder of views from a body.

// What Views.swift uses of SwiftUI, without doing anything: on Linux the views are compiled against it, so that they
// follow the library. It is no part of an app.
public import AggregatorObservation
public import Foundation

@MainActor public protocol View {
  associatedtype Body: View
  @ViewBuilder var body: Body { get }
}

public struct EmptyView: View {
  public init() {}
  public var body: Never { return fatalError("nothing is drawn on Linux") }
}

extension Never: View {
  public var body: EmptyView { return EmptyView() }
}

extension Optional: View where Wrapped: View {
  public var body: EmptyView { return EmptyView() }
}

@resultBuilder @MainActor public struct ViewBuilder {
  public static func buildBlock<each Content: View>(_ content: repeat each Content) -> some View {
    EmptyView()
  }
  public static func buildIf<Content: View>(_ content: Content?) -> Content? { content }
  public static func buildEither(first: some View) -> EmptyView { EmptyView() }
  public static func buildEither(second: some View) -> EmptyView { EmptyView() }
}

@MainActor public protocol App {
  associatedtype Body: Scene
  @SceneBuilder var body: Body { get }
  init()
}

extension App {
  public static func main() { print("SwiftUI is not on Linux: swift test tests the screens") }
}

@MainActor public protocol Scene {}

@resultBuilder @MainActor public struct SceneBuilder {
  public static func buildBlock<Content: Scene>(_ content: Content) -> Content { content }
}

public struct WindowGroup: Scene {
  public init(@ViewBuilder content: () -> some View) {}
}

@propertyWrapper @MainActor public struct State<Value> {
  public init(initialValue: Value) { self.initialValue = initialValue }
  public init(wrappedValue: Value) { initialValue = wrappedValue }
  private let initialValue: Value
  public var wrappedValue: Value {
    get { initialValue }
    nonmutating set {}
  }
  public var projectedValue: Binding<Value> { Binding(value: wrappedValue) }
}

@dynamicMemberLookup @MainActor public struct Binding<Value> {
  let value: Value
  public subscript<Member>(dynamicMember path: WritableKeyPath<Value, Member>) -> Binding<Member> {
    Binding<Member>(value: value[keyPath: path])
  }
}

@dynamicMemberLookup @MainActor public struct Bindable<Value: AnyObject> {
  let value: Value
  public init(_ value: Value) { self.value = value }
  public subscript<Member>(
    dynamicMember path: ReferenceWritableKeyPath<Value, Member>
  ) -> Binding<Member> {
    Binding<Member>(value: value[keyPath: path])
  }
}

public struct EnvironmentValues: Sendable { public var displayScale: CGFloat = 2 }

@propertyWrapper @MainActor public struct Environment<Value> {
  public init(_ path: KeyPath<EnvironmentValues, Value>) {
    wrappedValue = EnvironmentValues()[keyPath: path]
  }
  public let wrappedValue: Value
}

extension Thumbnail {
  public var cgImage: CGImage { CGImage() }
}

public struct CGImage { public init() {} }

public struct Font: Sendable { public static let footnote = Font() }
public struct ButtonRole: Sendable { public static let destructive = ButtonRole() }

/// A view that is never drawn.
public protocol InertView: View {}

extension InertView {
  public var body: EmptyView { return EmptyView() }
}

public struct Text: InertView { public init(_ text: String) {} }
public struct ProgressView: InertView { public init() {} }
public struct Label: InertView { public init(_ text: String, systemImage: String) {} }
public struct Image: InertView { public init(decorative image: CGImage, scale: CGFloat) {} }
public struct Color: InertView {
  public static let secondary = Color()
  public func opacity(_ opacity: Double) -> Color { self }
}
public struct ContentUnavailableView: InertView {
  public static let search = ContentUnavailableView()
}
public struct Button: InertView {
  public init(_ text: String, role: ButtonRole? = nil, action: @escaping @MainActor () -> Void) {}
}
public struct List: InertView { public init(@ViewBuilder content: () -> some View) {} }
public struct HStack: InertView { public init(@ViewBuilder content: () -> some View) {} }
public struct ZStack: InertView { public init(@ViewBuilder content: () -> some View) {} }
public struct TabView: InertView { public init(@ViewBuilder content: () -> some View) {} }
public struct NavigationStack: InertView { public init(@ViewBuilder content: () -> some View) {} }
public struct NavigationLink: InertView {
  public init(
    @ViewBuilder destination: () -> some View, @ViewBuilder label: () -> some View
  ) {}
}
public struct ForEach<Data: RandomAccessCollection>: InertView {
  public init(_ data: Data, @ViewBuilder content: @escaping (Data.Element) -> some View)
  where Data.Element: Identifiable {}
  public init<ID: Hashable>(
    _ data: Data, id: KeyPath<Data.Element, ID>,
    @ViewBuilder content: @escaping (Data.Element) -> some View
  ) {}
}

public typealias AsyncAction = @MainActor @Sendable () async -> Void

extension View {
  public func onAppear(perform action: @escaping @MainActor () -> Void) -> some View { self }
  public func task(_ action: @escaping AsyncAction) -> some View { self }
  public func task(id: some Equatable, _ action: @escaping AsyncAction) -> some View { self }
  public func refreshable(action: @escaping AsyncAction) -> some View { self }
  public func searchable(text: Binding<String>) -> some View { self }
  public func overlay(@ViewBuilder content: () -> some View) -> some View { self }
  public func toolbar(@ViewBuilder content: () -> some View) -> some View { self }
  public func swipeActions(@ViewBuilder content: () -> some View) -> some View { self }
  public func tabItem(@ViewBuilder content: () -> some View) -> some View { self }
  public func navigationTitle(_ title: String) -> some View { self }
  public func frame(width: CGFloat, height: CGFloat) -> some View { self }
  public func clipped() -> some View { self }
  public func font(_ font: Font) -> some View { self }
}
