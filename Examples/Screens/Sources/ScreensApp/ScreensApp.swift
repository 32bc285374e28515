import AggregatorKit
import Screens
import SwiftUI

@main struct ScreensApp: App {
  private let sources = Result { () throws(SourceError) in try AppSources.ofApp() }

  var body: some Scene {
    WindowGroup {
      switch sources {
      case .success(let sources): ScreensView(sources)
      case .failure(let error): Text(error.localizedDescription)
      }
    }
  }
}
