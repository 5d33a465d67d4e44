/* The explorer: facts on one side, what follows from them on the other. */
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const program = Reasoner.compile(data);
  const byId = (id) => document.getElementById(id);
  const values = new Map(); // variable → true or false; unknown facts are absent
  const inputs = new Map(); // variable → {fieldset, radios, hint}

  const say = (v) => (v === BOTTOM ? "a contradiction" : data.words[v]);
  const sayFact = (v, value) => (value ? say(v) : program.duals[v] === null ? `not ${say(v)}` : say(program.duals[v]));
  const state = () => ({
    yes: [...values].filter(([, value]) => value).map(([v]) => v),
    no: [...values].filter(([, value]) => !value).map(([v]) => v),
  });

  function element(name, properties = {}, ...children) {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  }

  /* The facts. */

  function choice(v) {
    const radios = {};
    const box = element("div", { className: "choice" });
    for (const [text, value, spoken] of [["yes", "yes", "yes"], ["no", "no", "no"], ["?", "", "unknown"]]) {
      const radio = element("input", { type: "radio", name: `fact${v}`, value, checked: value === "" });
      radio.setAttribute("aria-label", spoken);
      radio.addEventListener("change", () => choose(v, value === "" ? undefined : value === "yes"));
      radios[value] = radio;
      box.append(element("label", {}, radio, element("span", { textContent: text })));
    }
    const hint = element("small");
    const legend = element("legend", {}, element("span", { textContent: say(v) }), hint);
    const fieldset = element("fieldset", { className: "fact" }, legend, box);
    inputs.set(v, { fieldset, radios, hint });
    return fieldset;
  }

  function layFacts() {
    const place = byId("facts");
    for (const { title, variables } of data.sections) {
      const section = element("section", {}, element("h4", { textContent: title }), ...variables.map(choice));
      section.style.margin = "0";
      place.append(section);
    }
    if (data.unused) {
      const facts = data.unused === 1 ? "One more fact occurs in no rule and is" : `${data.unused} more facts occur in no rule and are`;
      byId("unused").textContent = `${facts} left out.`;
    }
  }

  /* At most one of a group is true: one yes makes the others no, and leaving it undoes that. */
  function choose(v, value) {
    const others = data.groups.filter((group) => group.includes(v)).flat().filter((w) => w !== v);
    if (value) others.forEach((w) => values.set(w, false));
    else if (values.get(v)) others.forEach((w) => values.delete(w));
    if (value === undefined) values.delete(v);
    else values.set(v, value);
    refresh();
  }

  function startFrom({ yes, no }) {
    values.clear();
    no.forEach((v) => values.set(v, false));
    yes.forEach((v) => choose(v, true));
    refresh();
  }

  function find() {
    const words = byId("find").value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const section of byId("facts").children) {
      const title = section.firstChild.textContent.toLowerCase();
      let any = false;
      for (const fact of section.querySelectorAll(".fact")) {
        const text = `${title} ${fact.querySelector("legend").textContent.toLowerCase()}`;
        fact.hidden = !words.every((word) => text.includes(word));
        fact.style.display = fact.hidden ? "none" : "";
        any ||= !fact.hidden;
      }
      section.hidden = !any;
    }
  }

  /* The answer. */

  const isFound = (rule) => program.rules.indexOf(rule) >= data.known;

  function steps(rules) {
    const list = element("ol");
    for (const rule of rules) {
      const because = rule.body.map(say).join(" and ") || "it always holds";
      const number = isFound(rule) ? ` (rule ${program.rules.indexOf(rule) - data.known + 1})` : "";
      list.append(element("li", {}, element("b", { textContent: say(rule.head) }), `, because ${because}${number}`));
    }
    return list;
  }

  function put(id, title, ...children) {
    byId(id).replaceChildren(...(children.length ? [element("h3", { textContent: title }), ...children] : []));
  }

  function showVerdict(answer, goal) {
    const box = byId("verdict");
    const texts = {
      yes: sayFact(goal, true),
      no: sayFact(goal, false),
      contradiction: "These facts contradict the rules",
      undetermined: "Undetermined",
    };
    box.className = answer;
    box.textContent = texts[answer];
    const otherwise = data.default === null ? "" : ` The default answer is ${data.default}.`;
    const notes = {
      undetermined: `The rules do not decide it.${otherwise}`,
      contradiction: `No case can have all of them, if the rules are right.${otherwise}`,
    };
    const follows = values.size ? "It follows from what you said." : "It always holds.";
    box.append(element("small", { textContent: notes[answer] ?? follows }));
  }

  function suppose(now, variable, value) {
    const text = `Suppose: ${sayFact(variable, value)}. Then there is a contradiction.`;
    const found = Reasoner.conflict(program, Reasoner.set(now, variable, value));
    return [element("p", { textContent: text }), steps(found.steps)];
  }

  /* A direct derivation where there is one, or else what is wrong with the opposite. */
  function showWhy(answer, goal, now) {
    if (answer === "undetermined") return put("why", "");
    if (answer === "contradiction") {
      const found = Reasoner.conflict(program, now);
      return put("why", "Why", ...(found ? [steps(found.steps)] : [...suppose(now, goal, true), ...suppose(now, goal, false)]));
    }
    const literal = answer === "yes" ? goal : program.duals[goal];
    const direct = literal === null ? null : Reasoner.explain(program, Reasoner.literals(program, now).yes, literal);
    if (!direct) return put("why", "Why", ...suppose(now, goal, answer !== "yes"));
    return put("why", "Why", direct.length ? steps(direct) : element("p", { textContent: "You said so." }));
  }

  function showDeciders(answer, goal, now) {
    if (answer !== "undetermined") return put("decide", "");
    const found = Reasoner.deciders(program, now, goal, data.askable);
    if (found.length) {
      const list = element("ul");
      for (const { variable, value, answer: then } of found) {
        const button = element("button", { type: "button", textContent: sayFact(variable, value) });
        button.addEventListener("click", () => choose(variable, value));
        list.append(element("li", {}, button, ` would give: ${sayFact(goal, then === "yes")}`));
      }
      return put("decide", "One more fact would decide it", list);
    }
    const close = Reasoner.nearest(program, now, goal).slice(0, 3);
    if (!close.length) return put("decide", "No rule can decide it any more");
    const list = element("ul");
    for (const { answer: then, missing } of close) {
      const needs = missing.map(({ variable, value }) => element("li", { textContent: sayFact(variable, value) }));
      const lacks = `, with ${missing.length} more ${missing.length === 1 ? "fact" : "facts"}: `;
      const facts = element("ul", { className: "if" }, ...needs);
      list.append(element("li", {}, element("b", { textContent: sayFact(goal, then === "yes") }), lacks, facts));
    }
    return put("decide", "No single fact decides it; the nearest rules", list);
  }

  function showExcluded(answer, goal, now, ruledOut) {
    if (answer === "contradiction") return put("contradict", "");
    const list = element("ul");
    for (const { variable, value } of ruledOut) {
      const found = Reasoner.conflict(program, Reasoner.set(now, variable, value));
      if (!found.steps.some(isFound)) continue; // two bins of one column need no explanation
      const details = element("details", {}, element("summary", { textContent: sayFact(variable, value) }), steps(found.steps));
      list.append(element("li", {}, details));
    }
    return list.children.length ? put("contradict", "This would contradict it", list) : put("contradict", "");
  }

  function showHints(ruledOut) {
    for (const { hint } of inputs.values()) hint.textContent = "";
    for (const { variable, value } of ruledOut) {
      const fact = inputs.get(variable);
      if (fact) fact.hint.textContent = value ? "follows: no" : "follows: yes";
    }
  }

  function refresh() {
    const now = state();
    for (const [v, { radios }] of inputs) {
      radios[values.has(v) ? (values.get(v) ? "yes" : "no") : ""].checked = true;
    }
    const goal = Number(byId("goal").value);
    const answer = Reasoner.verdict(program, now, goal);
    const ruledOut = answer === "contradiction" ? [] : Reasoner.excluded(program, now, data.askable);
    showVerdict(answer, goal);
    showWhy(answer, goal, now);
    showDeciders(answer, goal, now);
    showExcluded(answer, goal, now, ruledOut);
    showHints(ruledOut);
  }

  /* Set up. */

  layFacts();
  const goals = byId("goal");
  for (const v of data.goals) goals.append(element("option", { value: v, textContent: `${say(v)}?` }));
  const start = byId("start");
  start.append(element("option", { value: "", textContent: "nothing known" }));
  data.cases.forEach(({ name }, number) => start.append(element("option", { value: number, textContent: name })));
  start.addEventListener("change", () => startFrom(start.value === "" ? { yes: [], no: [] } : data.cases[start.value]));
  byId("start-label").hidden = !data.cases.length;
  goals.addEventListener("change", refresh);
  byId("find").addEventListener("input", find);
  byId("clear").addEventListener("click", () => { start.value = ""; startFrom({ yes: [], no: [] }); });
  if (data.goals.length) refresh();
})();
