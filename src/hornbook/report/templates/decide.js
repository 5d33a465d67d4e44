/* Trees, score cards and rules in the page. Knows nothing of the page; tests hold it equal to hornbook.explanations.

   An explanation is what its `to_object` wrote. A row is a Map of columns to numbers, texts, booleans,
   or null where a value is missing; a column that is absent is missing. The words of a column are those
   of a code book: {label, unit, levels: [[value, name]], order: [value], whole, scale}, each optional. */
"use strict";

const Decider = (() => {
  const plain = (value) => (typeof value === "boolean" ? Number(value) : value);
  const same = (one, other) => plain(one) === plain(other);

  /* Whether a condition is true of a row: true, false, or null where it is unknown. */
  function evaluate(condition, row) {
    const value = row.get(condition.column) ?? null;
    if (condition.kind === "missing") return (value === null) === condition.missing;
    if (value === null) return null;
    if (condition.kind === "threshold") return plain(value) > condition.cut === condition.above;
    return valuesOf(condition).some((each) => same(value, each)) === condition.inside;
  }

  /* The values that a condition names; none if it names none. */
  const valuesOf = (condition) => condition.values ?? [];

  /* A value as Python writes it: the fewest digits, with an exponent where it is very large or small. */
  function write(value) {
    if (typeof value === "boolean") return value ? "True" : "False";
    if (typeof value !== "number") return String(value);
    const [digits, exponent] = value.toExponential().split("e");
    if (value === 0 || (exponent >= -4 && exponent < 16)) return String(value);
    return `${digits}e${exponent[0]}${exponent.slice(1).padStart(2, "0")}`;
  }

  /* Days as a date, a time or a duration, as Python writes them. */
  const day = 86_400_000;
  function writeDays(days, scale) {
    const iso = (milliseconds) => new Date(milliseconds).toISOString();
    if (scale === "date") return iso(Math.floor(days) * day).slice(0, 10);
    if (scale === "time") return iso(Math.round(days * day)).slice(0, 23).replace("T", " ").replace(/\.000$/, "").replace(/:00$/, "");
    let rest = Math.abs(days * day);
    const parts = [["d", day], ["h", day / 24], ["min", 60_000], ["s", 1000]].flatMap(([name, size]) => {
      const count = name === "s" ? Number((rest / size).toFixed(6)) : Math.floor((rest + 1e-4) / size);
      rest = Math.max(rest - count * size, 0);
      return count ? [`${count} ${name}`] : [];
    });
    return (days < 0 ? "-" : "") + (parts.join(" ") || "0 d");
  }

  const words = new Map(); // column → words
  const wordsOf = (column) => words.get(column) ?? {};
  const label = (column) => wordsOf(column).label ?? column;

  /* What a value of a column is called. */
  function name(column, value) {
    const { scale } = wordsOf(column);
    if (scale && typeof value === "number") return writeDays(value, scale);
    const level = (wordsOf(column).levels ?? []).find(([each]) => same(each, value));
    return level ? level[1] : write(value);
  }

  /* Numbers above `low` and at most `high`, either of which may be infinite. */
  function sayRange(column, low, high) {
    const { unit, whole, scale } = wordsOf(column);
    const end = unit ? ` ${unit}` : "";
    const [least, most] = whole ? [Math.floor(low) + 1, Math.floor(high)] : [low, high];
    if (low === -Infinity) return `${label(column)} ≤ ${name(column, most)}${end}`;
    if (high === Infinity) return `${label(column)} ${whole ? "≥" : ">"} ${name(column, least)}${end}`;
    if (!whole) return `${name(column, low)} < ${label(column)} ≤ ${name(column, high)}${end}`;
    if (least === most) return `${label(column)} = ${name(column, least)}${end}`;
    const [from, to] = [least, most].map((each) => (scale ? name(column, each) : write(each).replace("-", "−")));
    return `${label(column)} ${from}${scale || least < 0 ? " to " : "–"}${to}${end}`;
  }

  /* Values on one side of some place of their order, in words; null if they are not. */
  function saySegment(column, values, inside) {
    const order = wordsOf(column).order ?? wordsOf(column).pair ?? [];
    const among = (value, others) => others.some((each) => same(each, value));
    const meant = order.filter((value) => among(value, values) === inside);
    const [first, last] = [meant[0], meant[meant.length - 1]];
    if (meant.length && meant.length < order.length && values.every((value) => among(value, order))) {
      const place = order.indexOf(first);
      const together = order.indexOf(last) - place + 1 === meant.length;
      if (meant.length === 1) return `${label(column)} = ${name(column, first)}`;
      if (together && place === 0) return `${label(column)} ≤ ${name(column, last)}`;
      if (together && order.indexOf(last) === order.length - 1) return `${label(column)} ≥ ${name(column, first)}`;
    }
    return null;
  }

  /* That a column has one of some values or, if not `inside`, another one. */
  function sayValues(column, values, inside) {
    const order = (one, other) => (typeof one === "string") - (typeof other === "string") || (one < other ? -1 : Number(one > other));
    const distinct = values.filter((value, place) => values.findIndex((each) => same(each, value)) === place).sort(order);
    const segment = saySegment(column, distinct, inside);
    if (segment !== null) return segment;
    if (distinct.length === 1) return `${label(column)} ${inside ? "=" : "≠"} ${name(column, distinct[0])}`;
    return `${label(column)} ${inside ? "in" : "not in"} {${distinct.map((value) => name(column, value)).join(", ")}}`;
  }

  /* What a row says about conditions, [condition, answer], the answers true, false, or null: a text a column. */
  function sayAll(answers, row) {
    return [...new Set(answers.map(([{ column }]) => column))].flatMap((column) => {
      const value = row.get(column) ?? null;
      if (value === null) return [`${label(column)} is missing`];
      const known = wordsOf(column).order ?? wordsOf(column).pair;
      const isTold = known && !known.some((each) => same(each, value));
      let [low, high, allowed] = [-Infinity, Infinity, null];
      const excluded = [];
      for (const [condition, answer] of answers.filter(([each]) => each.column === column)) {
        if (condition.kind === "threshold" && condition.above === answer) low = Math.max(low, condition.cut);
        else if (condition.kind === "threshold") high = Math.min(high, condition.cut);
        const named = valuesOf(condition);
        if (!named.length) continue;
        const values = isTold ? [value] : named;
        if (!isTold && condition.inside !== answer) excluded.push(...named);
        else allowed = (allowed ?? values).filter((one) => values.some((other) => same(one, other)));
      }
      if (allowed !== null) {
        const left = allowed.filter((each) => !excluded.some((other) => same(each, other)));
        return [sayValues(column, left.filter((each) => typeof each === "string" || (each > low && each <= high)), true)];
      }
      const texts = low > -Infinity || high < Infinity ? [sayRange(column, low, high)] : [];
      if (excluded.length) texts.push(sayValues(column, excluded, false));
      return texts.length ? texts : [`${label(column)} is present`];
    });
  }

  /* By form: the number of the class, the facts that decide in words, and the sums of a card.
     `points` of a fact are empty where the form gives none. */
  const forms = {
    tree({ root }, row) {
      const answers = [];
      let node = root;
      while (typeof node !== "number") {
        const answer = evaluate(node.question, row);
        answers.push([node.question, answer]);
        node = answer ? node.yes : node.no;
      }
      return { outcome: node, facts: sayAll(answers, row).map((text) => ({ text, points: [] })), sums: [] };
    },

    rules({ rules, default: otherwise }, row) {
      const passed = [];
      for (const rule of rules) {
        const answers = rule.body.map((condition) => [condition, evaluate(condition, row)]);
        const failing = answers.find(([, answer]) => answer !== true);
        if (!failing) {
          const facts = sayAll([...answers, ...passed], row);
          return { outcome: rule.outcome, facts: facts.map((text) => ({ text, points: [] })), sums: [] };
        }
        passed.push(failing);
      }
      return { outcome: otherwise, facts: sayAll(passed, row).map((text) => ({ text, points: [] })), sums: [] };
    },

    card({ lines_of_points: lines, base }, row) {
      const sums = [...base];
      const facts = [];
      for (const line of lines) {
        const above = line.body.slice(0, -1);
        const own = line.body[line.body.length - 1];
        if (!above.every((condition) => evaluate(condition, row))) continue;
        const answer = evaluate(own, row);
        const points = answer ? line.points : answer === null ? line.unknown_points : [];
        points.forEach((each, number) => { sums[number] += each; });
        if (points.some(Boolean)) {
          const text = sayAll([...above.map((condition) => [condition, true]), [own, answer]], row).join(" and ");
          facts.push({ text, points });
        }
      }
      const outcome = sums.length === 1 ? Number(sums[0] >= 0) : sums.indexOf(Math.max(...sums));
      if (lines.length && !facts.length) facts.push({ text: "no line gives points", points: [] });
      return { outcome, facts, sums };
    },
  };

  const decide = (explanation, row) => forms[explanation.form](explanation, row);

  /* Every condition of an explanation, wherever it stands. */
  function conditions(part) {
    if (part === null || typeof part !== "object") return [];
    if (typeof part.column === "string") return [part];
    return Object.values(part).flatMap(conditions);
  }

  /* A category that no condition names. */
  const another = "… another value";

  /* A value for each part of a column that the conditions tell apart: [{value, text}]. The value of a
     range of numbers is the end that is nearer to `now`; `next` gives a number just above another. */
  function parts(own, column, now, next) {
    const cuts = [...new Set(own.flatMap(({ cut }) => cut ?? []))].sort((a, b) => a - b);
    const values = own.flatMap(valuesOf);
    const found = cuts.length ? [{ value: cuts[0], text: sayRange(column, -Infinity, cuts[0]) }] : [];
    cuts.forEach((low, number) => {
      const high = cuts[number + 1] ?? Infinity;
      const least = next(low);
      const end = high === Infinity ? low + Math.max(Math.abs(low), 1) : high;
      const value = (now !== null && now > high) || !(least > low && least <= high) ? end : least;
      found.push({ value, text: sayRange(column, low, high) });
    });
    const levels = wordsOf(column).order ?? wordsOf(column).pair ?? [];
    const named = [...new Set(values.length ? [...values, ...levels] : [])];
    for (const value of named) found.push({ value, text: `${label(column)} = ${name(column, value)}` });
    if (named.length && !levels.length && !cuts.length) {
      const value = named.every((each) => typeof each === "number") ? next(Math.max(...named)) : another;
      found.push({ value, text: sayValues(column, named, false) });
    }
    found.push({ value: null, text: `${label(column)} is missing` });
    return found;
  }

  /* Single changes that lead to another class, of each column the nearest below and above what it is
     now, its categories, and whether it is missing: [{column, value, text, outcome}]. */
  function changes(explanation, row, next = (column, low) => low + 1) {
    const { outcome } = decide(explanation, row);
    const all = conditions(explanation);
    const found = [];
    for (const column of new Set(all.map((condition) => condition.column))) {
      const now = row.get(column) ?? null;
      const number = typeof now === "number" ? now : null;
      const own = all.filter((condition) => condition.column === column);
      const turning = parts(own, column, number, (low) => next(column, low))
        .map((part) => ({ column, ...part, outcome: decide(explanation, new Map(row).set(column, part.value)).outcome }))
        .filter((part) => part.outcome !== outcome);
      const isNumber = ({ value }) => typeof value === "number";
      const numeric = turning.filter(isNumber).sort((one, other) => one.value - other.value);
      const below = number === null ? numeric : numeric.filter(({ value }) => value < number).slice(-1);
      const above = number === null ? [] : numeric.filter(({ value }) => value > number).slice(0, 1);
      found.push(...below, ...above, ...turning.filter((part) => !isNumber(part)));
    }
    return found;
  }

  return { words, another, evaluate, valuesOf, write, label, name, decide, conditions, changes };
})();
