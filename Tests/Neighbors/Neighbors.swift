// Types of modules that an app imports beside AggregatorKit, without what is in them: a file that uses a name of both would
// not compile (https://developer.apple.com/documentation/swiftui, …/swiftdata, …/combine,
// https://github.com/groue/GRDB.swift, https://github.com/pointfreeco/swift-composable-architecture).

// SwiftUI
public enum Alert {}
public enum Alignment {}
public enum Anchor {}
public enum Animation {}
public enum App {}
public enum Axis {}
public enum Binding {}
public enum Button {}
public enum Canvas {}
public enum Color {}
public enum Commands {}
public enum Edge {}
public enum Environment {}
public enum Font {}
public enum Form {}
public enum Gauge {}
public enum Gesture {}
public enum Grid {}
public enum Group {}
public enum Image {}
public enum Label {}
public enum Layout {}
public enum Link {}
public enum List {}
public enum Menu {}
public enum Namespace {}
public enum Path {}
public enum Picker {}
public enum Scene {}
public enum Section {}
public enum Settings {}
public enum State {}
public enum Table {}
public enum Text {}
public enum Toggle {}
public enum Transaction {}
public enum View {}
public enum Window {}

// SwiftData
public enum Attribute {}
public enum DataStore {}
public enum Model {}
public enum Query {}
public enum Relationship {}
public enum Schema {}

// Combine
public enum Fail {}
public enum Future {}
public enum Just {}
public enum Publisher {}
public enum Subject {}

// GRDB
public enum Association {}
public enum Column {}
public enum Cursor {}
public enum Database {}
public enum Record {}
public enum Row {}
public enum SQL {}
public enum Statement {}

// The Composable Architecture
public enum Action {}
public enum Dependency {}
public enum Effect {}
public enum Reducer {}
public enum Shared {}
public enum Store {}
