#if canImport(SwiftUI)
  import AggregatorKit
  import AggregatorObservation
  import HeroesSource
  import SwiftUI
  import UsersSource

  struct HeroesView: View {
    @State private var session: SearchSession<Hero>

    init(_ heroes: any DataSource<Hero>) {
      _session = State(initialValue: SearchSession(heroes, showsCachedFirst: true))
    }

    var body: some View {
      List {
        ForEach(session.list.records) { hero in
          Text(hero.name).onAppear { session.list.loadMoreIfNeeded(after: hero) }
        }
        ListFooter(list: session.list)
      }
      .overlay { if session.list.isEmpty { ContentUnavailableView.search } }
      .searchable(text: $session.text)
      .task { await session.list.load() }
      .refreshable { await session.list.refresh() }
    }
  }

  struct ListFooter<Item: SourceRecord>: View {
    let list: PagedList<Item>

    var body: some View {
      switch list.state {
      case .loading: ProgressView()
      case .failed(_, let error):
        Button("\(error.localizedDescription) Try again") { Task { await list.retry() } }
      case .idle, .ended: EmptyView()
      }
      if let badge = list.badge { Label(badge, systemImage: "wifi.slash") }
    }
  }

  struct UsersView: View {
    @State private var screen: UsersScreen

    init(_ sources: AppSources) { _screen = State(initialValue: UsersScreen(sources)) }

    var body: some View {
      List {
        ForEach(screen.list.records) { user in
          Text(user.email.description)
            .onAppear { screen.list.loadMoreIfNeeded(after: user) }
            .swipeActions {
              Button("Delete", role: .destructive) { Task { await screen.delete(user) } }
            }
        }
        ListFooter(list: screen.list)
      }
      .toolbar { if screen.deleted != nil { Button("Undo") { Task { await screen.undo() } } } }
      .task { await screen.list.load() }
      .refreshable { await screen.list.refresh() }
    }
  }

  struct HeroView: View {
    @State private var detail: HeroDetail

    init(_ hero: Hero, of heroes: any DataSource<Hero>) {
      _detail = State(initialValue: HeroDetail(hero, of: heroes))
    }

    var body: some View {
      List {
        Text(detail.hero.biography ?? "")
        if let error = detail.error { Text(error.localizedDescription) }
      }
      .navigationTitle(detail.hero.name)
      .task { await detail.load() }
    }
  }
#endif
