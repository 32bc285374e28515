extension Script {
  /// Opening and closing a record without leaving the list.
  static let detail = #"""

    let opening, scrolled = 0;
    let shownDetail = detail()?.dataset.id === undefined ? undefined : location.pathname;
    const heading = $("h1")?.textContent;

    async function openDetail(address) {
      opening?.abort();
      const controller = opening = new AbortController();
      if (!shownDetail) scrolled = scrollY;
      shownDetail = new URL(address, location).pathname;
      document.body.classList.add("has-detail");
      detail().hidden = false;
      detail().setAttribute("aria-busy", "true");
      try {
        const next = await part(address, "detail", controller.signal);
        detail().replaceWith(next);
        mark();
        const title = $("h2", next);
        document.title = [title?.textContent, heading, "aggregator"].filter(Boolean).join(" – ");
        title?.setAttribute("tabindex", "-1");
        title?.focus({ preventScroll: true });
        if (isNarrow()) scrollTo(0, 0);
      } catch (error) {
        if (controller.signal.aborted) return;
        hideDetail();
        toast(words(error));
      }
    }

    const isNarrow = () => getComputedStyle(list()).display === "none";

    function hideDetail() {
      opening?.abort();
      const id = detail().dataset.id;
      const wasNarrow = isNarrow();
      shownDetail = undefined;
      document.body.classList.remove("has-detail");
      detail().removeAttribute("data-id");
      detail().removeAttribute("aria-busy");
      detail().removeAttribute("aria-labelledby");
      detail().setAttribute("aria-label", "Details");
      detail().hidden = true;
      detail().replaceChildren();
      mark();
      document.title = `${heading} – ${program}`;
      if (wasNarrow) scrollTo(0, scrolled);
      focusRecord(id);
    }

    /* Returns the focus to the list. */
    function focusRecord(id) {
      const record = (id !== undefined && recordWith(id)) || $(".record[aria-current]");
      (record ?? $(".record") ?? field)?.focus({ preventScroll: Boolean(record) });
    }

    function closeDetail() {
      if (history.state?.isFromList) return history.back();
      const address = new URL(listAddress());
      hideDetail();
      history.pushState(null, "", address);
    }

    function isPlainClick(event) {
      return event.button === 0 && !event.defaultPrevented
        && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    }

    if (detail()) {
      document.addEventListener("click", event => {
        if (!isPlainClick(event)) return;
        const link = event.target.closest("a");
        if (link?.matches(".record")) {
          event.preventDefault();
          const isFromList = !shownDetail;
          history.pushState({ isFromList }, "", link.href);
          openDetail(link.href);
        } else if (link?.matches(".close")) {
          event.preventDefault();
          closeDetail();
        } else if (link?.matches(".more a")) {
          event.preventDefault();
          loadMore(link);
        }
      });
      addEventListener("popstate", () => {
        const address = listAddress();
        if (address.href !== shownList) {
          field.value = address.searchParams.get("query") ?? "";
          showList(address);
        }
        const isRecord = location.pathname !== new URL(form.action).pathname;
        if (!isRecord || location.pathname === "/") {
          if (shownDetail) hideDetail();
        } else if (location.pathname !== shownDetail) {
          openDetail(location.href);
        }
      });
    }

    """#

  /// Deleting a record, with a way back.
  static let deletion = #"""

    document.addEventListener("submit", async event => {
      if (!event.target.matches("form.delete")) return;
      event.preventDefault();
      const { api, name } = event.target.dataset;
      const button = $("button", event.target);
      button.disabled = true;
      try {
        await send("DELETE", api);
      } catch (error) {
        button.disabled = false;
        return toast(words(error));
      }
      const item = recordWith(detail().dataset.id)?.closest("li");
      const gap = document.createComment("deleted");
      item?.replaceWith(gap);
      changeCount(-1);
      const path = location.pathname;
      const address = new URL(listAddress());
      hideDetail();
      history.replaceState(null, "", address);
      toast(`Deleted “${name}”`, { label: "Undo", run: () => restore(api, path, item, gap) });
    });

    async function restore(api, path, item, gap) {
      try {
        await send("POST", `${api}/restore`);
      } catch (error) {
        return toast(words(error), { label: "Try again", run: () => restore(api, path, item, gap) });
      }
      if (item && gap.isConnected) {
        gap.replaceWith(item);
        changeCount(1);
        $(".record", item).focus();
      } else {
        focusRecord();
      }
      announce("Restored");
    }

    function changeCount(change) {
      const count = $(".count [data-shown]") ?? $(".count");
      const number = count?.firstChild;
      if (!number) return;
      number.textContent = number.textContent.replace(/\d+/, text => String(Number(text) + change));
    }

    """#
}
