import AggregatorKit
import AggregatorSourceTesting
import Testing

@Suite
struct HTMLTextTests {
  @Test(arguments: [
    ("", ""), ("plain", "plain"), ("  a \n\t b  ", "a b"), ("<p>one</p><p>two</p>", "one\n\ntwo"),
    ("<p>one<br>two<br/>three<BR />four</p>", "one\ntwo\nthree\nfour"),
    ("<h2>Head</h2>text<hr>more", "Head\n\ntext\n\nmore"),
    ("<div><div><p>deep</p></div></div>after", "deep\n\nafter"),
    ("a<b>b</b><i>c</i> <em>d</em>", "abc d"), ("<a href='x'>link</a>s", "links"),
    ("<table><tr><td>1<td>2<tr><th>3</th><th>4</th></table>", "1 2\n3 4"),
    ("<dl><dt>term<dd>meaning</dl>", "term\nmeaning"),
  ])
  func `keeps words and paragraphs`(html: String, text: String) {
    #expect(html.strippingHTML() == text)
  }

  @Test(arguments: [
    ("<ul><li>one</li><li>two</li></ul>after", "• one\n• two\n\nafter"),
    ("<ul><li>one<li>two</ul>after", "• one\n• two\n\nafter"),
    ("before<ol><li>one</ol>", "before\n\n• one"), ("<ul><li></li></ul><p>after", "after"),
    ("<ul><li></ul><p>after", "after"), ("<ul><li><p>one</p></li></ul>", "• one"),
    ("<ul><li>a<ul><li>b</li></ul></li></ul>", "• a\n\n• b"),
  ])
  func `begins items with a bullet`(html: String, text: String) {
    #expect(html.strippingHTML() == text)
  }

  @Test(arguments: [
    ("&amp;&lt;&gt;&quot;&apos;", "&<>\"'"), ("a&nbsp;b&#160;c", "a b c"),
    ("&#65;&#x42;&#X43;", "ABC"),
    ("&eacute;&Eacute;&ntilde;&szlig;&yuml;&frac12;", "éÉñßÿ½"), ("&hellip;&mdash;&trade;", "…—™"),
    ("&#150;&#x92;", "–’"), ("&#0;&#xD800;&#x110000;&#;&#x;&#99999999;", "������"),
    ("&unknown;", "&unknown;"), ("AT&T; R&D &amp", "AT&T; R&D &amp"), ("&", "&"),
    ("a & b", "a & b"),
    ("&&amp;&", "&&&"), ("&amp;lt;", "&lt;"), ("&lt;b&gt;", "<b>"),
    ("&verylongname;", "&verylongname;"),
    ("&am<b>p;", "&amp;"),
  ])
  func `decodes character references`(html: String, text: String) {
    #expect(html.strippingHTML() == text)
  }

  @Test(arguments: [
    ("a<!-- b -->c", "ac"), ("a<!-- <p> > -- -> -->c", "ac"), ("a<!---->b", "ab"),
    ("a<!-->b", "ab"), ("a<!--->b", "ab"), ("a<!doctype html>b", "ab"),
    ("a<?xml version='1'?>b", "ab"),
    ("a<!-- never ends", "a"), ("a<![CDATA[x]]>b", "ab"),
  ])
  func `removes comments`(html: String, text: String) {
    #expect(html.strippingHTML() == text)
  }

  @Test(arguments: [
    ("a<script>b</script>c", "ac"), ("a<style type='x'>b > c</style >d", "ad"),
    ("a<figure><img><figcaption>b</figcaption></figure>c", "ac"), ("a<SCRIPT>b</Script>c", "ac"),
    ("a<script>for(i=0;i<n ;i++){}</script>b", "ab"),
    ("a<script>if (x<y && z == \"</p>\")</script>b", "ab"),
    ("a<script>'<!--'</script>b", "ab"), ("a<noscript><p>b</p></noscript>c", "ac"),
    ("a<template>b</template>c", "ac"), ("a</script>b", "ab"), ("a<script>b", "a"),
    ("a<scripture>b</scripture>", "ab"),
  ])
  func `removes content that is not prose`(html: String, text: String) {
    #expect(html.strippingHTML() == text)
  }

  @Test(arguments: [
    ("a<b title=\"x > y\">c", "ac"), ("a<b title='x > \" y'>c", "ac"),
    ("a<b title = \"x>y\">c", "ac"),
    ("a<a href=/o'neil>b</a> it's", "ab it's"), ("a<b 'c'>d", "ad"), ("a<b/title=\">\">c", "ac"),
    ("a<custom-element-name title='>'>b", "ab"), ("a<b", "a"), ("a<b title=\"never ends>c", "a"),
    ("a<", "a<"), ("a < b", "a < b"), ("1<2", "1<2"), ("<<b>a", "<a"), ("a<>b", "a<>b"),
    ("a</>b", "ab"),
    ("<<<", "<<<"), ("</p>a</p></p>b", "a\n\nb"),
  ])
  func `finds the end of a tag`(html: String, text: String) {
    #expect(html.strippingHTML() == text)
  }

  @Test(arguments: ["<", "&"])
  func `reads a megabyte of unfinished markup`(piece: String) {
    let html = String(repeating: piece, count: 1_000_000)
    #expect(html.strippingHTML() == html)
  }

  @Test(arguments: [
    "<p", "<p>", "&#", "&amp", "<!--", "<!-", "--", "<a b='", "<script>", "</script>", "<li>",
    "<a x=",
    " <", "\"", "<ul><li>", "&#x41;",
  ])
  func `reads large input quickly`(piece: String) {
    let html = String(repeating: piece, count: 100_000 / piece.utf8.count)
    #expect(html.strippingHTML().utf8.count <= 2 * html.utf8.count)
  }

  @Test func `reads invalid input`() {
    var random = SeededGenerator(3)
    let pieces = [
      "<", ">", "&", ";", "/", "!", "-", "'", "\"", "=", " ", "p", "script", "li", "#", "a",
    ]
    for _ in 0..<3000 {
      let html = (0..<30).compactMap { _ in pieces.randomElement(using: &random) }.joined()
      let text = html.strippingHTML()
      #expect(text.first?.isWhitespace != true && text.last?.isWhitespace != true)
    }
  }
}
