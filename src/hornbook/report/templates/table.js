/* Sorting and searching the table of rules. */
(() => {
  const SHOWN = 7; // conditions of a body; the style sheet hides the rest
  const FIRST = 25; // rules
  document.documentElement.classList.add("js");
  const table = document.getElementById("table");
  if (!table) return; // a card or a tree has no rules
  const body = table.tBodies[0];
  const rows = [...body.rows].filter((row) => row.cells.length > 1);
  const data = JSON.parse(document.getElementById("data").textContent);
  const search = document.getElementById("search");
  const conclusion = document.getElementById("conclusion");
  const shown = document.getElementById("shown");

  /* Of many rules only the first are written out; the page holds the words of the others once. */
  rows.forEach((row, number) => {
    const list = row.querySelector("ul.if");
    if (list.children.length) return;
    for (const v of data.rules[data.known + number].body) {
      const item = document.createElement("li");
      item.textContent = data.words[v];
      list.append(item);
    }
  });
  const texts = new Map(rows.map((row) => [row, `${row.cells[1].textContent} ${row.cells[2].textContent}`.toLowerCase()]));

  /* A long body is folded; a search unfolds it, so that what was found can be seen. */
  const folded = [...document.querySelectorAll("ul.if")].filter((list) => list.children.length > SHOWN + 1);
  for (const list of folded) {
    const button = document.createElement("button");
    button.type = "button";
    const more = `and ${list.children.length - SHOWN} more`;
    const fold = (open) => {
      list.classList.toggle("open", open);
      button.setAttribute("aria-expanded", String(open));
      button.textContent = open ? "fewer" : more;
    };
    button.addEventListener("click", () => fold(!list.classList.contains("open")));
    const item = document.createElement("li");
    item.className = "more";
    item.append(button);
    list.append(item);
    list.classList.add("long");
    list.fold = fold;
    fold(false);
  }

  let everything = rows.length <= FIRST + 5;
  const all = document.getElementById("all");
  all.textContent = `Show all ${rows.length} rules`;
  all.addEventListener("click", () => { everything = true; filter(); });

  function filter() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const matches = (row) => {
      const wanted = !conclusion.value || row.cells[2].textContent.trim() === conclusion.value;
      return wanted && words.every((word) => texts.get(row).includes(word));
    };
    let count = 0;
    for (const row of table.tBodies[0].rows) {
      if (!texts.has(row)) continue;
      row.hidden = !matches(row);
      count += !row.hidden;
      row.classList.toggle("later", !everything && count > FIRST);
    }
    folded.forEach((list) => list.fold(words.length > 0));
    all.hidden = everything || count <= FIRST;
    shown.textContent = count === rows.length ? `${count} rules` : `${count} of ${rows.length} rules`;
  }

  function key(row, column, kind) {
    const cell = row.cells[column];
    return kind === "number" ? Number(cell.dataset.key ?? cell.textContent) : cell.textContent.trim();
  }

  function sort(header, column) {
    const direction = header.getAttribute("aria-sort") === "ascending" ? -1 : 1;
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    header.setAttribute("aria-sort", direction === 1 ? "ascending" : "descending");
    const keyed = rows.map((row) => [key(row, column, header.dataset.kind), row]);
    keyed.sort(([one], [other]) => direction * (header.dataset.kind === "number" ? one - other : one.localeCompare(other)));
    body.append(...keyed.map(([, row]) => row));
    filter();
  }

  [...table.tHead.rows[0].cells].forEach((header, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = header.textContent;
    button.addEventListener("click", () => sort(header, column));
    header.dataset.name = header.textContent; // for print, where buttons are not repeated on every sheet
    header.replaceChildren(button);
  });
  search.addEventListener("input", filter);
  conclusion.addEventListener("change", filter);
  filter();
})();
