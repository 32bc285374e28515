import AggregatorKit
import AggregatorObservation
import CountriesSource
import HeroesSource
import ProductsSource
public import SwiftUI
import UsersSource

/// The four screens.
public struct ScreensView: View {
  private let sources: AppSources

  public init(_ sources: AppSources) { self.sources = sources }

  public var body: some View {
    TabView {
      NavigationStack { HeroesView(sources) }.tabItem { Label("Heroes", systemImage: "bolt") }
      NavigationStack { CountriesView(sources) }
        .tabItem { Label("Countries", systemImage: "globe") }
      NavigationStack { ProductsView(sources) }.tabItem { Label("Products", systemImage: "cart") }
      NavigationStack { UsersView(sources) }.tabItem { Label("Users", systemImage: "person") }
    }
  }
}

struct HeroesView: View {
  @State private var session: SearchSession<Hero>
  @Environment(\.displayScale) private var displayScale
  private let heroes: any DataSource<Hero>
  private let images: RecordImages<Hero>

  init(_ sources: AppSources) {
    heroes = sources.heroes
    _session = State(initialValue: SearchSession(sources.heroes, showsCachedFirst: true))
    images = sources.heroImages
  }

  var body: some View {
    List {
      ForEach(session.list.records) { hero in
        NavigationLink {
          HeroView(hero, of: heroes)
        } label: {
          HeroRow(hero: hero, images: images, place: .portrait(at: displayScale))
        }
        .onAppear {
          session.list.loadMoreIfNeeded(after: hero)
          let place = ThumbnailSize.portrait(at: displayScale)
          session.list.prefetch(images, .small, fitting: place, after: hero)
        }
      }
      ListFooter(list: session.list)
    }
    .overlay { if session.list.isEmpty { ContentUnavailableView.search } }
    .searchable(text: $session.text)
    .task { await session.list.load() }
    .refreshable { await session.refresh() }
  }
}

struct HeroRow: View {
  let hero: Hero
  let images: RecordImages<Hero>
  let place: ThumbnailSize
  @State private var loaded: Thumbnail?

  var body: some View {
    HStack {
      ZStack {
        Color.secondary.opacity(0.2)
        if let portrait = loaded ?? images.cachedThumbnail(of: hero, .small, fitting: place) {
          Image(decorative: portrait.cgImage, scale: portrait.scale)
        }
      }
      .frame(width: place.width, height: place.height).clipped()
      Text(hero.name)
    }
    .task(id: hero.id) {
      loaded = try? await images.thumbnail(of: hero, .small, fitting: place)
    }
  }
}

struct CountriesView: View {
  @State private var screen: CountriesScreen

  init(_ sources: AppSources) {
    _screen = State(initialValue: CountriesScreen(sources.countries))
  }

  var body: some View {
    List {
      if let dealt = screen.dealt { Text("Your country: \(dealt.name)") }
      if let error = screen.error { Text(error.localizedDescription) }
      ForEach(screen.session.list.records) { country in
        Text(country.name).onAppear { screen.session.list.loadMoreIfNeeded(after: country) }
      }
      ListFooter(list: screen.session.list)
    }
    .searchable(text: Bindable(screen.session).text)
    .toolbar { Button("Deal") { Task { await screen.deal() } } }
    .task { await screen.session.list.load() }
  }
}

struct ProductsView: View {
  @State private var session: SearchSession<Product>

  init(_ sources: AppSources) {
    _session = State(initialValue: SearchSession(sources.products, showsCachedFirst: true))
  }

  var body: some View {
    List {
      ForEach(session.list.records) { product in
        Text(product.title ?? "").onAppear { session.list.loadMoreIfNeeded(after: product) }
      }
      ListFooter(list: session.list)
    }
    .searchable(text: $session.text)
    .task { await session.list.load() }
    .refreshable { await session.refresh() }
  }
}

struct ListFooter<Item: SourceRecord>: View {
  let list: PagedList<Item>

  var body: some View {
    switch list.state {
    case .loading: ProgressView()
    case .failed(_, let error): Text(error.localizedDescription)
    case .idle, .ended: EmptyView()
    }
    if let badge = list.badge { Label(badge, systemImage: "wifi.slash") }
    if let error = list.error ?? list.provenance?.reason {
      if let suggestion = error.recoverySuggestion { Text(suggestion).font(.footnote) }
      Button("Try again") { Task { await list.retry() } }
    }
    ForEach(list.warnings, id: \.self) { Text($0.localizedDescription).font(.footnote) }
    if list.unreadable.count > 0 {
      Text("\(list.unreadable.count) records cannot be read").font(.footnote)
    }
  }
}

struct UsersView: View {
  @State private var screen: UsersScreen

  init(_ sources: AppSources) { _screen = State(initialValue: UsersScreen(sources)) }

  var body: some View {
    List {
      if screen.list.isOutdated {
        Button("New records") { Task { await screen.list.refresh() } }
      }
      if let error = screen.error { Text(error.localizedDescription) }
      ForEach(screen.list.records) { user in
        Text(user.email.description)
          .onAppear { screen.list.loadMoreIfNeeded(after: user) }
          .swipeActions {
            Button("Delete", role: .destructive) { Task { await screen.delete(user) } }
          }
      }
      ListFooter(list: screen.list)
    }
    .toolbar {
      if screen.list.lastDeleted != nil { Button("Undo") { Task { await screen.undo() } } }
    }
    .task { await screen.list.load() }
    .refreshable { await screen.list.refresh() }
  }
}

struct HeroView: View {
  @State private var detail: RecordDetail<Hero>

  init(_ hero: Hero, of heroes: any DataSource<Hero>) {
    _detail = State(initialValue: RecordDetail(hero, of: heroes))
  }

  var body: some View {
    List {
      if detail.isLoading { ProgressView() }
      Text(detail.record.biography ?? "")
      if let error = detail.error ?? detail.provenance?.reason {
        Text(error.localizedDescription)
        Button("Try again") { Task { await detail.refresh() } }
      }
    }
    .navigationTitle(detail.record.name)
    .task { await detail.load() }
  }
}
