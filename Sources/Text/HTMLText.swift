extension StringProtocol {
  /// Converts an HTML fragment to plain text: removes tags, decodes entities, keeps paragraphs.
  ///
  /// Blocks are separated by an empty line, `<br>` ends a line, list items begin with `• `, other white
  /// space collapses. Elements that are not prose (`script`, `style`, `noscript`, `figure`, `template`) are
  /// left out. Takes time linear in the length, whatever the markup.
  public func strippingHTML() -> String {
    var reader = HTMLReader()
    for scalar in unicodeScalars { reader.read(scalar) }
    return reader.finish()
  }
}

/// Reads HTML one character at a time; as in the HTML standard, a tag that never ends swallows the rest.
private struct HTMLReader {
  private enum State {
    case text
    case tagOpen
    /// In a tag; `quote` while in a quoted attribute.
    case tag(quote: Unicode.Scalar?)
    /// In `<!-- … -->`, after so many consecutive dashes.
    case comment(dashes: Int)
    case entity
  }

  private var state = State.text
  private var text = BlockText()
  private var tag = ""
  private var entity = ""
  /// True after `=` in a tag, the only place where a quote begins.
  private var expectsValue = false
  /// The element whose content is left out, until its end tag.
  private var skipped: String?
  /// True if only an end tag is a tag.
  private var isInCode: Bool { skipped == "script" || skipped == "style" }

  private static let notProse: Set = ["script", "style", "noscript", "figure", "template"]
  private static let blocks: Set = [
    "p", "div", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "table", "section", "blockquote",
    "article", "header", "footer", "pre", "hr", "dl",
  ]
  private static let lines: Set = ["br", "tr", "dt", "dd"]

  mutating func read(_ scalar: Unicode.Scalar) {
    switch state {
    case .text:
      switch scalar {
      case "<": state = .tagOpen
      case "&":
        state = .entity
        entity = ""
      default: write(scalar)
      }
    case .tagOpen:
      tag = ""
      expectsValue = false
      let isTag = scalar.isASCIILetter || scalar == "!" || scalar == "?"
      if scalar == "/" || isTag && !isInCode {
        tag.unicodeScalars.append(scalar)
        state = .tag(quote: nil)
      } else {
        state = .text
        write("<")
        read(scalar)
      }
    case .tag(let quote):
      if let quote {
        if scalar == quote { state = .tag(quote: nil) }
      } else if scalar == ">" {
        state = .text
        endTag()
      } else if scalar == "\"" || scalar == "'", expectsValue {
        state = .tag(quote: scalar)
        expectsValue = false
      } else if tag == "!-", scalar == "-" {
        state = .comment(dashes: 2)  // by the standard, `<!-->` is a whole comment
      } else if tag.utf8.count < 16, tag.last != " " {
        let endsName = scalar == "/" || scalar.properties.isWhitespace
        tag.unicodeScalars.append(endsName ? " " : scalar)
      } else if !scalar.properties.isWhitespace {
        expectsValue = scalar == "="
      }
    case .comment(let dashes):
      let isOver = scalar == ">" && dashes >= 2
      state = isOver ? .text : .comment(dashes: scalar == "-" ? dashes + 1 : 0)
    case .entity:
      if scalar == ";" {
        state = .text
        for scalar in HTMLEntity.text(of: entity).unicodeScalars { write(scalar) }
      } else if entity.utf8.count < 10, scalar.isASCIIAlphanumeric || scalar == "#" {
        entity.unicodeScalars.append(scalar)
      } else {
        state = .text
        for scalar in "&\(entity)".unicodeScalars { write(scalar) }
        read(scalar)
      }
    }
  }

  mutating func finish() -> String {
    if case .entity = state { for scalar in "&\(entity)".unicodeScalars { write(scalar) } }
    if case .tagOpen = state { write("<") }
    return text.finished
  }

  private mutating func write(_ scalar: Unicode.Scalar) {
    if skipped == nil { text.write(scalar) }
  }

  private mutating func endTag() {
    let isEnd = tag.first == "/"
    let name = tag.dropFirst(isEnd ? 1 : 0).prefix { $0.isLetter || $0.isNumber }.lowercased()
    if let skipped {
      if isEnd && name == skipped { self.skipped = nil }
    } else if Self.notProse.contains(name) {
      if !isEnd { skipped = name }
    } else if Self.blocks.contains(name) {
      text.breakLine(2)
      if isEnd && (name == "ul" || name == "ol") { text.dropBullet() }
    } else if Self.lines.contains(name) {
      text.breakLine(1)
    } else if name == "li" {
      text.breakLine(1)
      if isEnd { text.dropBullet() } else { text.bullet() }
    } else if name == "td" || name == "th" {
      text.write(" ")
    }
  }
}

/// Builds text with collapsed white space, in lines and paragraphs.
private struct BlockText {
  private(set) var finished = ""
  private var breaks = 0
  private var needsSpace = false
  private var needsBullet = false

  mutating func write(_ scalar: Unicode.Scalar) {
    if scalar.properties.isWhitespace {
      needsSpace = true
      return
    }
    if !finished.isEmpty {
      if breaks > 0 {
        finished += breaks > 1 ? "\n\n" : "\n"
      } else if needsSpace {
        finished += " "
      }
    }
    if needsBullet { finished += "• " }
    (breaks, needsSpace, needsBullet) = (0, false, false)
    finished.unicodeScalars.append(scalar)
  }

  mutating func breakLine(_ count: Int) { breaks = max(breaks, count) }

  mutating func bullet() { needsBullet = true }

  mutating func dropBullet() { needsBullet = false }
}

extension Unicode.Scalar {
  fileprivate var isASCIILetter: Bool { (value | 0x20) &- 0x61 < 26 }
  fileprivate var isASCIIAlphanumeric: Bool { isASCIILetter || value &- 0x30 < 10 }
}

/// Character references of HTML (WHATWG, section 13.5): all of Latin-1, and those common in prose.
package enum HTMLEntity {
  /// The text of `&name;`; `&name;` itself if it is unknown.
  package static func text(of name: String) -> String {
    if name.first == "#" {
      return scalar(name.dropFirst()).map(String.init) ?? "\u{FFFD}"
    }
    return named[name] ?? "&\(name);"
  }

  private static func scalar(_ digits: Substring) -> Unicode.Scalar? {
    let isHex = digits.first == "x" || digits.first == "X"
    guard let code = UInt32(isHex ? digits.dropFirst() : digits, radix: isHex ? 16 : 10) else {
      return nil
    }
    // Old pages use the numbers of Windows-1252, and browsers accept them.
    if 0x80..<0xA0 ~= code { return windows1252[Int(code - 0x80)] }
    return code == 0 ? nil : Unicode.Scalar(code)
  }

  private static let windows1252 = Array(
    "€\u{81}‚ƒ„…†‡ˆ‰Š‹Œ\u{8D}Ž\u{8F}\u{90}‘’“”•–—˜™š›œ\u{9D}žŸ".unicodeScalars)

  private static let named: [String: String] = {
    // U+00A0 to U+00FF in order.
    let latin1 = """
      nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn \
      sup2 sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave \
      Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml \
      ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN \
      szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave \
      iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute \
      ucirc uuml yacute thorn yuml
      """
    var named = [
      "amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'", "ndash": "–", "mdash": "—",
      "lsquo": "‘", "rsquo": "’", "sbquo": "‚", "ldquo": "“", "rdquo": "”", "bdquo": "„",
      "hellip": "…", "bull": "•", "trade": "™", "euro": "€", "dagger": "†", "Dagger": "‡",
      "permil": "‰", "lsaquo": "‹", "rsaquo": "›", "OElig": "Œ", "oelig": "œ", "Scaron": "Š",
      "scaron": "š", "Yuml": "Ÿ", "fnof": "ƒ", "circ": "ˆ", "tilde": "˜", "ensp": " ", "emsp": " ",
      "thinsp": " ", "minus": "−", "prime": "′", "Prime": "″", "infin": "∞", "larr": "←",
      "rarr": "→", "hearts": "♥",
    ]
    for (offset, name) in latin1.split(separator: " ").enumerated() {
      named[String(name)] = Unicode.Scalar(UInt32(0xA0 + offset)).map(String.init)
    }
    return named
  }()
}
