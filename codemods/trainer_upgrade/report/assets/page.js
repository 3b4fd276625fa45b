"use strict";
(() => {
  const list = document.getElementById("findings");
  if (!list) return;
  const items = [...list.querySelectorAll(".finding")];
  const field = (name) => document.getElementById(name);
  const count = field("count");
  const none = field("none");
  const order = { silent: (e) => [e.dataset.silent === "true" ? 0 : 1, +e.dataset.order],
                  file: (e) => [+e.dataset.order], code: (e) => [e.dataset.code, +e.dataset.order],
                  kind: (e) => [{ manual: 0, unsafe: 1, safe: 2 }[e.dataset.kind], +e.dataset.order] };
  const compare = (a, b) => { for (let i = 0; i < a.length; i++) { if (a[i] < b[i]) return -1; if (a[i] > b[i]) return 1; } return 0; };
  const filter = () => {
    const words = field("search").value.toLowerCase().split(/\s+/).filter(Boolean);
    const wanted = { code: field("code").value, kind: field("kind").value, file: field("file").value, severity: field("severity").value };
    const silent = field("silent").checked;
    let shown = 0;
    for (const item of items) {
      const text = item.dataset.text ??= item.textContent.toLowerCase();
      const fits = words.every((word) => text.includes(word))
        && Object.entries(wanted).every(([name, value]) => !value || item.dataset[name] === value)
        && (!silent || item.dataset.silent === "true");
      item.hidden = !fits;
      shown += fits;
    }
    count.textContent = shown === items.length ? `${shown} findings` : `${shown} of ${items.length} findings`;
    none.hidden = shown > 0;
  };
  const sort = () => {
    const key = order[field("sort").value];
    items.sort((a, b) => compare(key(a), key(b)));
    list.append(...items);
  };
  for (const name of ["code", "kind", "file", "severity", "silent"]) field(name).addEventListener("change", filter);
  field("search").addEventListener("input", filter);
  field("sort").addEventListener("change", sort);
  field("reset").addEventListener("click", () => {
    for (const name of ["search", "code", "kind", "file", "severity"]) field(name).value = "";
    field("silent").checked = false;
    filter();
    field("search").focus();
  });
  for (const link of document.querySelectorAll("[data-filter]")) {
    link.addEventListener("click", () => { field(link.dataset.filter).value = link.dataset.value; filter(); });
  }
  for (const button of document.querySelectorAll("th button")) {
    button.addEventListener("click", () => {
      const head = button.closest("th"), table = head.closest("table"), body = table.tBodies[0];
      const column = [...head.parentNode.children].indexOf(head);
      const down = head.getAttribute("aria-sort") === "ascending";
      for (const each of head.parentNode.children) each.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const value = (row) => { const text = row.cells[column].textContent.trim(); return /^\d+$/.test(text) ? +text : text; };
      body.append(...[...body.rows].sort((a, b) => compare([value(a)], [value(b)]) * (down ? -1 : 1)));
    });
  }
  field("filters").hidden = false;
  sort();
  filter();
})();
