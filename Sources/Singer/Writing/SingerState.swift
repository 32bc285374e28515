import AggregatorFiles
package import AggregatorKit

/// A file that another program gives to a tap: JSON that nobody has checked.
package struct TapFile {
  /// Of a state and a catalog, whose streams may be many.
  private static let maxSize = 64 << 20

  private let path: String
  private let kind: String
  private let code: SourceError.Code

  package init(_ path: String, _ kind: String, _ code: SourceError.Code) {
    (self.path, self.kind, self.code) = (path, kind, code)
  }

  /// The object in the file, or in its last line: a target prints state after state; `nil` in an empty file.
  package func read() throws(SourceError) -> JSON? {
    let bytes: [UInt8]
    do throws(FileReadFailure) {
      bytes = try OpenFile.contents(of: path, atMost: Self.maxSize)
    } catch {
      switch error {
      case .system(let failure):
        throw SourceError(.storage, "cannot read \(kind) file \"\(path)\": \(failure.words)")
      case .notRegular: throw failure("it is not a file")
      case .tooLarge: throw failure("it is larger than \(Self.maxSize >> 20) MB")
      }
    }
    let lines = bytes.split(separator: UInt8(ascii: "\n")).filter { line in
      !line.allSatisfy { [0x20, 0x09, 0x0D].contains($0) }
    }
    guard let last = lines.last else { return nil }
    guard let text = JSONText(Data(bytes)) ?? (lines.count > 1 ? JSONText(Data(last)) : nil) else {
      let offset = JSONText.errorOffset(in: Data(bytes)).map { " (byte \($0))" } ?? ""
      throw failure("it is not JSON\(offset)")
    }
    let value = JSON(text)
    guard value.isObject else { throw failure("it is not a JSON object") }
    return value
  }

  package func failure(_ reason: String, remedy: Remedy? = nil) -> SourceError {
    SourceError(code, "invalid \(kind) file \"\(path)\": \(reason)", remedy: remedy)
  }
}

/// The state of a target, with a bookmark for each stream.
///
/// Other members stay as they are.
package struct SingerState: Sendable {
  package private(set) var json: JSON
  private let path: String?

  /// Nothing was exported.
  package init() { (json, path) = (["bookmarks": [:]], nil) }

  /// - Parameter path: An empty file is the state of nothing.
  /// - Throws: ``SourceError`` with code `invalidRequest`, or `storage` if the file cannot be read.
  package init(reading path: String) throws(SourceError) {
    let file = TapFile(path, "state", .invalidRequest)
    json = try file.read() ?? SingerState().json
    self.path = path
    let bookmarks = json["bookmarks"]
    guard bookmarks == nil || bookmarks?.isObject == true else {
      throw file.failure("\"bookmarks\" is not an object")
    }
  }

  /// The bookmark of a stream; `nil` if there is none.
  package func position(of stream: String) throws(SourceError) -> ExportPosition? {
    guard let bookmark = json["bookmarks"]?[stream], bookmark != .null, bookmark != [:] else {
      return nil
    }
    guard let position = ExportPosition(bookmark) else {
      throw TapFile(path ?? "", "state", .invalidRequest).failure(
        "the bookmark of \"\(stream)\" is not one of this program",
        remedy: "remove it to send everything again")
    }
    return position
  }

  package func setting(_ stream: String, to position: ExportPosition) -> SingerState {
    var state = self
    let bookmarks = (json["bookmarks"] ?? [:]).replacing(stream, by: position.json)
    state.json = json.replacing("bookmarks", by: bookmarks)
    return state
  }
}

extension JSON {
  /// This object with another value of a member.
  fileprivate func replacing(_ name: String, by value: JSON) -> JSON {
    var members = members
    if let index = members.firstIndex(where: { $0.name == name }) {
      members[index] = Member(name, value)
    } else {
      members.append(Member(name, value))
    }
    return .object(members)
  }
}
