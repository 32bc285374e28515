extension Script {
  /// Search as you type, and endless scrolling.
  static let list = #"""

    let searching, typing, loading;

    /* The address of the list: the parameters without those that are over. */
    function listAddress(from = new URL(location)) {
      const address = new URL(form.action);
      address.search = from.search;
      for (const name of ["cursor", "deleted"]) address.searchParams.delete(name);
      if (address.searchParams.get("cache") === "reload") address.searchParams.delete("cache");
      return address;
    }

    function typedAddress() {
      const address = new URL(form.action);
      for (const [name, value] of new FormData(form)) {
        if (value.trim()) address.searchParams.append(name, value.trim());
      }
      return address;
    }

    let shownList = form && listAddress().href;

    /* The address in the bar: that of the open record, if any, with the parameters of the list. */
    function showAddress(address, state = history.state) {
      const bar = new URL(address);
      if (detail()?.dataset.id !== undefined) bar.pathname = location.pathname;
      if (bar.href !== location.href) history.replaceState(state, "", bar);
    }

    async function showList(address) {
      searching?.abort();
      loading?.abort();
      const controller = searching = new AbortController();
      shownList = listAddress(address).href;
      list().setAttribute("aria-busy", "true");
      form.classList.add("loading");
      try {
        const next = await part(address, "list", controller.signal);
        list().replaceWith(next);
        begin();
        announce($("[data-announce], .state h2", next)?.textContent ?? "");
        if (scrollY > form.offsetTop) form.parentElement.scrollIntoView();
      } catch (error) {
        if (controller.signal.aborted) return;
        shownList = undefined;
        list().removeAttribute("aria-busy");
        toast(words(error), { label: "Try again", run: () => { field.focus(); showList(address); } });
      } finally {
        if (searching === controller) form.classList.remove("loading");
      }
    }

    function search() {
      clearTimeout(typing);
      const address = typedAddress();
      if (address.href === shownList) return;
      showAddress(address, null);
      showList(address);
    }

    /* Prepares a list that has just arrived. */
    function begin() {
      const first = $(".records > li");
      if (first) first.dataset.page = location.href;
      mark();
      watch();
    }

    function mark() {
      const id = detail()?.dataset.id;
      for (const record of $$(".record[aria-current]")) record.removeAttribute("aria-current");
      if (id !== undefined) recordWith(id)?.setAttribute("aria-current", "true");
    }

    const recordWith = id => $(`.record[data-id="${CSS.escape(id)}"]`);

    const nearEnd = new IntersectionObserver(entries => {
      for (const { isIntersecting, target } of entries) {
        if (isIntersecting && !target.dataset.failed) loadMore(target);
      }
    }, { rootMargin: "0px 0px 600px" });

    /* Lets the address follow the page that is being read. */
    const inView = new IntersectionObserver(() => {
      const pages = $$(".records > li[data-page]");
      const page = pages.findLast(page => page.getBoundingClientRect().top < innerHeight / 2);
      if (!page) return;
      const cursor = new URL(page.dataset.page).searchParams.get("cursor");
      const address = new URL(listAddress());
      if (cursor) address.searchParams.set("cursor", cursor);
      showAddress(address);
    }, { rootMargin: "0px 0px -50%" });

    function watch() {
      if (!detail()) return;
      nearEnd.disconnect();
      const link = $(".more a");
      if (link) nearEnd.observe(link);
      for (const page of $$(".records > li[data-page]")) inView.observe(page);
    }

    async function loadMore(link) {
      if (loading && !loading.signal.aborted) return;
      const controller = loading = new AbortController();
      const hadFocus = document.activeElement === link;
      link.textContent = "Loading…";
      link.setAttribute("aria-busy", "true");
      delete link.dataset.failed;
      $(".more .note")?.remove();
      try {
        const next = await part(link.href, "list", controller.signal);
        const records = $$(".records > li", next);
        if (!records.length && $(".state", next)) {
          throw new Error($(".state p", next)?.textContent ?? "");
        }
        append(next, records, link);
        if (hadFocus && records.length) $(".record", records[0])?.focus();
      } catch (error) {
        if (controller.signal.aborted) return;
        const note = document.createElement("p");
        note.className = "note failed";
        note.textContent = words(error);
        link.before(note);
        link.textContent = "Try again";
        link.dataset.failed = "true";
        link.removeAttribute("aria-busy");
        announce(note.textContent);
      } finally {
        if (loading === controller) loading = undefined;
      }
    }

    /* Adds a page; one of another origin, or with other columns, keeps its own badge and headings. */
    function append(next, records, link) {
      const text = (selector, root) => $$(selector, root).at(-1)?.textContent;
      const place = link.parentElement;
      const isSame = selector => text(selector, list()) === text(selector, next);
      if (records.length) records[0].dataset.page = link.href;
      if (isSame(".badge .label") && isSame(".columns")) {
        $$(".records", list()).at(-1).append(...records);
      } else {
        $(".bar .count", next)?.remove();
        place.before(...$$(".bar, .columns, .records", next));
      }
      const known = new Set($$(".note", list()).map(note => note.textContent));
      place.before(...$$(".note", next).filter(note => !known.has(note.textContent)));
      place.replaceWith(...$$(".more, .end", next));
      const shown = $("[data-shown]");
      if (shown) shown.textContent = String($$(".records > li").length);
      announce(`${records.length} more`);
      mark();
      watch();
    }

    if (form) {
      field.addEventListener("input", () => {
        clearTimeout(typing);
        typing = setTimeout(search, 200);
      });
      form.addEventListener("submit", event => { event.preventDefault(); search(); });
      const address = new URL(location);
      if (address.searchParams.get("cache") === "reload" || address.searchParams.has("deleted")) {
        for (const name of ["cache", "deleted"]) address.searchParams.delete(name);
        history.replaceState(history.state, "", address);
      }
      begin();
    }

    """#
}
