import AggregatorKit

/// A plugin of which only the images count.
struct Album: Plugin {
  static let url = Setting("ALBUM_URL", .url, default: "https://album.example/api", about: "")

  let name = "album"
  let summary = "images"
  let example = PluginExample(query: "", id: "1")
  let settings = [url]
  let fields = Note.fields
  var policy = Policy(retry: RetryPolicy(attempts: 1, firstWait: .zero, maxWait: .zero))
  let layout: RecordLayout<Note>
  var bundled: any DataSource<Note> { UnavailableSource(.because(.offline)) }

  init(images: (@Sendable (Note, ImageSize) -> [String])?) {
    layout = images.map { RecordLayout(card: [], images: $0) } ?? RecordLayout(card: [])
  }

  func remote(in environment: PluginEnvironment) throws(SourceError) -> any DataSource<Note> {
    bundled
  }
}
