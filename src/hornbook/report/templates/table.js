/* Sorting and searching the table of rules. */
(() => {
  const LONG = 240; // characters of a rule; the style sheet hides what is beyond three lines
  const FIRST = 25; // rules
  document.documentElement.classList.add("js");
  const table = document.getElementById("table");
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const conclusions = [...table.tHead.rows[0].cells].findIndex((cell) => cell.textContent === "Then");
  const search = document.getElementById("search");
  const conclusion = document.getElementById("conclusion");
  const shown = document.getElementById("shown");

  const texts = new Map(rows.map((row) => [row, `${row.cells[0].textContent} ${row.cells[conclusions].textContent}`.toLowerCase()]));

  /* A long rule is folded; a search unfolds it, so that what it looks for can be seen. */
  const folded = rows.map((row) => row.cells[0]).filter((cell) => cell.textContent.length > LONG);
  for (const cell of folded) {
    const text = document.createElement("div");
    text.append(...cell.childNodes);
    const button = document.createElement("button");
    button.type = "button";
    button.className = "screen";
    cell.fold = (open) => {
      text.classList.toggle("clipped", !open);
      button.setAttribute("aria-expanded", String(open));
      button.textContent = open ? "less" : "the whole rule";
    };
    button.addEventListener("click", () => cell.fold(text.classList.contains("clipped")));
    cell.append(text, button);
    cell.fold(false);
  }

  let everything = rows.length <= FIRST + 5;
  const all = document.getElementById("all");
  all.textContent = `Show all ${rows.length} rules`;
  all.addEventListener("click", () => { everything = true; filter(); });

  function filter() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const matches = (row) => {
      const wanted = !conclusion.value || row.cells[conclusions].textContent.trim() === conclusion.value;
      return wanted && words.every((word) => texts.get(row).includes(word));
    };
    let count = 0;
    for (const row of table.tBodies[0].rows) {
      if (!texts.has(row)) continue;
      row.hidden = !matches(row);
      count += !row.hidden;
      row.classList.toggle("later", !everything && count > FIRST);
    }
    folded.forEach((cell) => cell.fold(words.length > 0));
    all.hidden = everything || count <= FIRST;
    shown.textContent = count === rows.length ? `${count} rules` : `${count} of ${rows.length} rules`;
  }

  function key(row, column, kind) {
    const text = row.cells[column].textContent.trim();
    if (kind !== "number") return text;
    const number = parseFloat(text.replaceAll(",", ""));
    return Number.isNaN(number) ? -1 : number; // what was not measured
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
