/* The slider along the frontier, and a case to try: values on one side, the decision on the other. */
(() => {
  const MAX_CHANGES = 8;
  const data = JSON.parse(document.getElementById("data").textContent);
  const byId = (id) => document.getElementById(id);
  data.columns = data.columns.map((column) => ({ missing: 0, numbers: [], categories: [], words: {}, ...column }));
  const columns = new Map(data.columns.map((column) => [column.name, column]));
  const all = data.explanations.flatMap(Decider.conditions);
  const rows = data.rows.map((values) => new Map(values.map((value, number) => [data.columns[number].name, value])));
  const row = new Map(); // column → value, null where it is missing
  const { another } = Decider;
  let current = data.chosen;
  for (const column of data.columns) Decider.words.set(column.name, column.words);

  document.documentElement.classList.add("js");

  function element(name, properties = {}, ...children) {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  }

  const conditionsOn = (name) => all.filter((condition) => condition.column === name);
  const isNumeric = ({ name, numbers, categories }) =>
    numbers.length > 0 || (!categories.length && conditionsOn(name).some((each) => each.kind === "threshold"));

  /* The categories of a column: those of the table, of the conditions and of the rows to start from. */
  function categories({ name, categories: common }) {
    const named = conditionsOn(name).flatMap(Decider.valuesOf);
    const present = rows.map((each) => each.get(name) ?? null).filter((value) => value !== null);
    return [...new Set([...common, ...named, ...present])];
  }

  /* A number of the column just above another: the next whole one, or a step of about a hundredth. */
  function next(name, low) {
    const { numbers, whole } = columns.get(name);
    if (whole) return Math.floor(low) + 1;
    const spread = numbers.length ? numbers[2] - numbers[0] : Math.abs(low);
    const above = low + 10 ** (Math.floor(Math.log10(spread || 1)) - 2);
    return Number(above.toPrecision(12));
  }

  /* The fields. */

  const fields = new Map(); // column → {box, show}

  function describeRange({ name, numbers, missing, words: { unit } }) {
    const end = unit ? ` ${unit}` : "";
    const known = numbers.length ? [`in the table ${Decider.name(name, numbers[0])} to ${Decider.name(name, numbers[2])}${end}`] : [];
    if (missing) known.push(`missing in ${(100 * missing).toPrecision(2).replace(/^(\d+)\.0$/, "$1")} % of rows`);
    return known.join(", ");
  }

  function numberField(column, id) {
    const isDate = column.words.scale === "date"; // of other times days are typed in
    const input = element("input", isDate ? { type: "date", id } : { type: "number", step: "any", id });
    const read = () => (input.value === "" ? null : isDate ? Date.parse(input.value) / 86_400_000 : Number(input.value));
    const write = (value) => (isDate ? Decider.name(column.name, value) : value);
    const blank = element("input", { type: "checkbox" });
    const hint = element("small", { textContent: describeRange(column), id: `${id}-hint` });
    input.setAttribute("aria-describedby", hint.id);
    blank.setAttribute("aria-label", `${Decider.label(column.name)} is missing`);
    input.addEventListener("input", () => choose(column.name, read()));
    blank.addEventListener("change", () => choose(column.name, blank.checked ? null : (middle(column) ?? 0)));
    const show = (value) => {
      if (read() !== value) input.value = value === null ? "" : write(value);
      blank.checked = value === null;
      const [low, , high] = column.numbers;
      hint.classList.toggle("outside", value !== null && (value < low || value > high));
    };
    const unit = column.words.unit ? [element("span", { className: "unit", textContent: column.words.unit })] : [];
    const parts = [input, ...unit, element("label", { className: "blank" }, blank, " missing")];
    return { parts, hint, show };
  }

  function categoryField(column, id) {
    const values = [...categories(column), another, null];
    const select = element("select", { id });
    values.forEach((value, number) => {
      const text = value === null ? "(missing)" : value === another ? "(another value)" : Decider.name(column.name, value);
      select.append(element("option", { value: number, textContent: text }));
    });
    select.addEventListener("change", () => choose(column.name, values[Number(select.value)]));
    const hint = element("small", { textContent: describeRange(column) });
    return { parts: [select], hint, show: (value) => { select.value = values.indexOf(value); } };
  }

  function layFields() {
    data.columns.forEach((column, number) => {
      const id = `field${number}`;
      const { parts, hint, show } = (isNumeric(column) ? numberField : categoryField)(column, id);
      const label = element("label", { htmlFor: id, textContent: Decider.label(column.name) });
      const box = element("div", { className: "field" }, element("div", {}, label, hint), element("div", { className: "entry" }, ...parts));
      byId("fields").append(box);
      fields.set(column.name, { box, show });
    });
  }

  function choose(name, value) {
    row.set(name, value);
    refresh();
  }

  function middle({ numbers, categories: common }) {
    return numbers.length ? Number(numbers[1].toPrecision(6)) : (common[0] ?? null);
  }

  function startFrom(values) {
    for (const column of data.columns) {
      row.set(column.name, values === null ? middle(column) : (values.get(column.name) ?? null));
    }
    refresh();
  }

  /* The decision. */

  const signed = (points) => (points > 0 ? `+${points}` : String(points).replace("-", "−"));

  function put(id, title, ...children) {
    byId(id).replaceChildren(...(children.length ? [element("h3", { textContent: title }), ...children] : []));
  }

  function describeSums({ classes, base }, sums) {
    if (!sums.length) return "";
    if (sums.length > 1) return classes.map((name, number) => `${name} ${signed(sums[number])}`).join(", ");
    return `${signed(sums[0] - base[0])} points; ${signed(-base[0]).replace("+", "")} or more for ${classes[1]}`;
  }

  function showDecision(explanation, { outcome, facts, sums }) {
    const box = byId("verdict");
    box.className = `s${outcome % data.colours}`;
    box.textContent = explanation.classes[outcome];
    const note = describeSums(explanation, sums);
    if (note) box.append(element("small", { textContent: note }));
    if (!facts.length) return put("why", "Because", element("p", { textContent: "nothing that it speaks of is true of the case." }));
    const list = element("dl", { className: "score" });
    for (const { text, points } of facts) {
      list.append(element("dt", { textContent: text }), element("dd", { textContent: points.map(signed).join(", ") }));
    }
    return put("why", sums.length > 1 ? `Because (points for ${explanation.classes.join(", ")})` : "Because", list);
  }

  function showChanges(explanation) {
    const turning = Decider.changes(explanation, row, next).slice(0, MAX_CHANGES);
    if (!turning.length) return put("changes", "What would change it", element("p", { textContent: "No single value would." }));
    const list = element("ul");
    for (const { column, value, text, outcome } of turning) {
      const button = element("button", { type: "button", textContent: text });
      button.addEventListener("click", () => choose(column, value));
      list.append(element("li", {}, button, ` would give: ${explanation.classes[outcome]}`));
    }
    return put("changes", "One change that would change it", list);
  }

  /* The rows that the chosen explanation decides differently, decided by the current one. */
  function showDifferences() {
    const explanation = data.explanations[current];
    let agree = 0;
    document.querySelectorAll(".differences tbody tr").forEach((difference, number) => {
      const { outcome, facts } = Decider.decide(explanation, rows[number]);
      const name = explanation.classes[outcome];
      const says = difference.querySelector(".says .then");
      says.textContent = name;
      says.className = `then s${outcome % data.colours}`;
      const texts = facts.map(({ text, points }) => (points.length ? `${text}: ${points.map(signed).join(", ")}` : text));
      const items = texts.length ? texts : ["nothing that it speaks of is true"];
      difference.querySelector("ul.if").replaceChildren(...items.map((textContent) => element("li", { textContent })));
      agree += name === difference.dataset.model;
    });
    for (const count of document.querySelectorAll("#differences .agree")) count.textContent = agree;
  }

  function refresh() {
    const explanation = data.explanations[current];
    const used = new Set(Decider.conditions(explanation).map((condition) => condition.column));
    for (const [name, { box, show }] of fields) {
      box.hidden = !used.has(name);
      show(row.get(name));
    }
    showDecision(explanation, Decider.decide(explanation, row));
    showChanges(explanation);
  }

  /* The slider. */

  function moveTo(point) {
    current = point;
    for (const part of document.querySelectorAll("[data-point]")) part.hidden = Number(part.dataset.point) !== point;
    const figures = document.querySelector(`#size [data-point="${point}"]`).textContent;
    byId("literals").textContent = data.literals[point];
    byId("slider").setAttribute("aria-valuetext", figures.replace(/\s+/g, " ").trim());
    document.querySelector(".chart .mark")?.setAttribute("transform", `translate(${data.marks[point]})`);
    showDifferences();
    refresh();
  }

  /* Set up. */

  layFields();
  const start = byId("start");
  start.append(element("option", { value: "", textContent: "middle values of the table" }));
  rows.forEach((_, number) => start.append(element("option", { value: number, textContent: `difference ${number + 1}` })));
  start.addEventListener("change", () => startFrom(start.value === "" ? null : rows[start.value]));
  byId("case").addEventListener("submit", (event) => event.preventDefault());
  startFrom(null);
  const slider = byId("slider");
  if (slider) {
    slider.addEventListener("input", () => moveTo(Number(slider.value)));
    moveTo(Number(slider.value));
  }
})();
