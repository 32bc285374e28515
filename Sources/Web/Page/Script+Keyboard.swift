extension Script {
  /// `/` searches, arrows move, Escape closes.
  static let keyboard = #"""

    const shortcuts = $("#shortcuts");
    const isEditable = element => element?.matches?.("input, textarea, select, [contenteditable]");

    /* Browsers can be told to keep nothing. */
    function attempt(run) { try { return run(); } catch { return undefined; } }

    function showShortcuts() {
      attempt(() => localStorage.setItem("shortcuts", shortcuts.checked ? "on" : "off"));
      for (const hint of $$("kbd.hint")) hint.hidden = !shortcuts.checked;
    }

    if (shortcuts) {
      shortcuts.checked = attempt(() => localStorage.getItem("shortcuts")) !== "off";
      shortcuts.closest(".shortcuts").hidden = false;
      shortcuts.addEventListener("change", showShortcuts);
      showShortcuts();
    }

    /* The record that an arrow leads to; in a gallery, rows are as wide as the screen lets them be. */
    function neighbour(record, key) {
      const records = $$(".record", list());
      const index = records.indexOf(record);
      const gallery = record.closest(".gallery");
      const line = $$(".record", record.closest(".records"));
      const columns = gallery
        ? line.filter(other => other.offsetTop === line[0].offsetTop).length : 1;
      const isRightToLeft = getComputedStyle(record).direction === "rtl";
      const steps = {
        ArrowDown: columns, ArrowUp: -columns, Home: -index, End: records.length - 1 - index,
        ArrowRight: gallery ? (isRightToLeft ? -1 : 1) : 0,
        ArrowLeft: gallery ? (isRightToLeft ? 1 : -1) : 0,
      };
      const step = steps[key];
      if (!step) return null;
      if (index + step < 0) return key === "ArrowUp" ? field : null;
      return records[Math.min(index + step, records.length - 1)];
    }

    document.addEventListener("keydown", event => {
      if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey) return;
      const target = event.target;
      if (event.key === "/" && field && shortcuts?.checked && !isEditable(target)) {
        event.preventDefault();
        if (document.body.classList.contains("has-detail") && isNarrow()) closeDetail();
        field.focus();
        field.select();
      } else if (event.key === "Escape") {
        const badge = $("details.badge[open]");
        if (badge) {
          badge.open = false;
          $("summary", badge).focus();
        } else if (target === field && field.value) {
          return;
        } else if (shownDetail) {
          closeDetail();
        }
      } else if (event.key === "ArrowDown" && target === field) {
        const first = $(".record", list());
        if (first) { event.preventDefault(); first.focus(); }
      } else if (target.matches?.(".record")) {
        const next = neighbour(target, event.key);
        if (next) { event.preventDefault(); next.focus(); }
      }
    });

    document.addEventListener("click", event => {
      for (const badge of $$("details.badge[open]")) {
        if (!badge.contains(event.target)) badge.open = false;
      }
    });
    """#
}
