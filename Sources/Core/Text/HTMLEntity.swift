/// Character references of HTML (WHATWG, section 13.5): all of Latin-1 and what prose uses.
package enum HTMLEntity {
  /// The text that `&name;` stands for; `&name;` itself if it is unknown.
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
    // Old pages number these as in Windows-1252, and browsers go along.
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
