package import AggregatorCore

/// One settings file with all that it includes, in the order of reading.
package struct SettingsLayer: Sendable {
  /// Where something stands.
  package struct Place: Hashable, Sendable, CustomStringConvertible {
    /// The file, as people know it.
    package let file: String
    /// The line, 1-based; `nil` for the file as a whole.
    package let line: Int?

    /// The place in words: `Configuration/Debug.xcconfig:3`.
    package var description: String { line.map { "\(file):\($0)" } ?? file }
  }

  /// A fault and where it is.
  package struct Complaint: Error, Hashable, CustomStringConvertible {
    /// Where it is.
    package let place: Place
    /// What is wrong.
    package let fault: XcconfigFault

    /// Place, fault and remedy in one line.
    package var description: String { error.description }

    /// The complaint as a failure.
    package var error: SourceError {
      SourceError(fault.code, "\(place): \(fault.what)", remedy: fault.remedy)
    }
  }

  /// One assignment.
  package struct Assignment: Sendable {
    /// What is assigned.
    package let statement: Xcconfig.Assignment
    /// Where.
    package let place: Place
    /// Whether other users of this machine may read or write the file.
    package let isOpenToOthers: Bool
  }

  /// How many files deep an include may lead.
  package static let deepestInclude = 16

  /// How many files are read for one layer.
  package static let mostFiles = 32

  /// How many complaints are kept: a binary file has one a line.
  package static let mostComplaints = 3

  /// Every assignment; later ones win.
  package private(set) var assignments: [Assignment] = []

  /// What could not be read, in order: the first ``mostComplaints``.
  package private(set) var complaints: [Complaint] = []

  /// How many lines could not be read.
  package private(set) var complaintCount = 0

  private var files = 0

  /// Reads a file and its includes.
  ///
  /// - Parameters:
  ///   - root: The file.
  ///   - read: Gives an included file by its path: absolute, or relative as `root`'s own path is.
  package init(_ root: SettingsText, read: (String) -> SettingsReading) {
    add(root, above: [], read)
  }

  private mutating func add(
    _ text: SettingsText, above: [String], _ read: (String) -> SettingsReading
  ) {
    files += 1
    for line in Xcconfig(text.bytes).lines {
      let place = Place(file: text.path, line: line.number)
      switch line.statement {
      case .assignment(let statement):
        assignments.append(
          Assignment(statement: statement, place: place, isOpenToOthers: text.isOpenToOthers))
      case .unreadable(let fault):
        complain(fault, at: place)
      case .include(let path, let isOptional):
        do throws(XcconfigFault) {
          let above = above + [text.realPath]
          try include(path, isOptional: isOptional, in: text, above: above, read)
        } catch {
          complain(error, at: place)
        }
      }
    }
  }

  private mutating func complain(_ fault: XcconfigFault, at place: Place) {
    complaintCount += 1
    if complaints.count < Self.mostComplaints {
      complaints.append(Complaint(place: place, fault: fault))
    }
  }

  private mutating func include(
    _ path: String, isOptional: Bool, in text: SettingsText, above: [String],
    _ read: (String) -> SettingsReading
  ) throws(XcconfigFault) {
    guard above.count <= Self.deepestInclude else {
      throw XcconfigFault("files include each other more than \(Self.deepestInclude) deep")
    }
    guard files < Self.mostFiles else {
      throw XcconfigFault("more than \(Self.mostFiles) files are included")
    }
    switch read(path.hasPrefix("/") ? path : text.path.directory + path) {
    case .text(let included) where above.contains(included.realPath):
      throw XcconfigFault(
        "\(included.path) includes itself in a circle", remedy: "remove one #include")
    case .text(let included):
      add(included, above: above, read)
    case .missing where isOptional:
      break
    case .missing:
      throw XcconfigFault(
        "there is no file \(path)", remedy: "create it, or write #include? \"\(path)\"")
    case .refused(let fault):
      throw XcconfigFault("\(path) \(fault.what)", remedy: fault.remedy, code: fault.code)
    }
  }
}

extension String {
  /// The path of the directory with its final slash; empty for a bare name.
  fileprivate var directory: Substring {
    self[..<(lastIndex(of: "/").map(index(after:)) ?? startIndex)]
  }
}
