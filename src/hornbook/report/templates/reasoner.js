/* Horn reasoning in the page. Knows nothing of the page; tests hold it equal to hornbook.logic.

   A variable is a number, ⊥ is BOTTOM. A theory is {width, duals, rules}, a rule {body, head}.
   A state is {yes, no}: two lists of variables; whatever is in neither is unknown. */
"use strict";

const BOTTOM = -1;

const Reasoner = (() => {
  /* Rules by the variables in their bodies, so that a closure looks at each literal once. */
  function compile(theory) {
    const users = Array.from({ length: theory.width }, () => []);
    theory.rules.forEach((rule, number) => rule.body.forEach((v) => users[v].push(number)));
    return { ...theory, users };
  }

  /* A state made pair-consistent: a variable is true exactly when its dual is false. */
  function literals(program, state) {
    const dual = (v) => program.duals[v];
    const paired = (list) => list.map(dual).filter((v) => v !== null);
    return {
      yes: new Set([...state.yes, ...paired(state.no)]),
      no: new Set([...state.no, ...paired(state.yes)]),
    };
  }

  /* The least superset of the facts that is closed under the rules. */
  function closure(program, facts) {
    const missing = program.rules.map((rule) => rule.body.length);
    const closed = new Set();
    const agenda = [];
    const add = (v) => {
      if (!closed.has(v)) { closed.add(v); agenda.push(v); }
    };
    facts.forEach(add);
    program.rules.forEach((rule) => rule.body.length || add(rule.head));
    while (agenda.length) {
      const v = agenda.pop();
      if (v === BOTTOM) continue;
      for (const number of program.users[v]) {
        if (--missing[number] === 0) add(program.rules[number].head);
      }
    }
    return closed;
  }

  /* Whether no completion of the state satisfies the theory. */
  function contradictory(program, state) {
    const { yes, no } = literals(program, state);
    const closed = closure(program, yes);
    return closed.has(BOTTOM) || [...no].some((v) => closed.has(v));
  }

  function set(state, variable, value) {
    return value
      ? { yes: [...state.yes, variable], no: state.no }
      : { yes: state.yes, no: [...state.no, variable] };
  }

  /* "yes" or "no" where the opposite would contradict the theory, else "undetermined"; a
     "contradiction" also where neither is possible. */
  function verdict(program, state, goal) {
    if (contradictory(program, state)) return "contradiction";
    const yes = contradictory(program, set(state, goal, false));
    const no = contradictory(program, set(state, goal, true));
    return yes && no ? "contradiction" : yes ? "yes" : no ? "no" : "undetermined";
  }

  /* The rules that add something to the facts, in an order in which each can fire. */
  function derive(rules, facts) {
    const closed = new Set(facts);
    const steps = [];
    let pending = rules;
    let progress = true;
    while (progress) {
      progress = false;
      for (const rule of pending) {
        if (!closed.has(rule.head) && rule.body.every((v) => closed.has(v))) {
          closed.add(rule.head);
          steps.push(rule);
          progress = true;
        }
      }
      pending = pending.filter((rule) => !closed.has(rule.head));
    }
    return steps;
  }

  /* The steps that the goal depends on, in their order. */
  function needed(steps, goal) {
    const wanted = new Set([goal]);
    const kept = [];
    for (const rule of [...steps].reverse()) {
      if (wanted.has(rule.head)) {
        rule.body.forEach((v) => wanted.add(v));
        kept.unshift(rule);
      }
    }
    return kept;
  }

  /* How the goal follows from facts: the steps, or null if it does not. */
  function explain(program, facts, goal) {
    const steps = derive(program.rules, facts);
    const reached = new Set([...facts, ...steps.map((rule) => rule.head)]);
    return reached.has(goal) ? needed(steps, goal) : null;
  }

  /* How a contradictory state contradicts itself: the steps to ⊥, or to a variable that is false. */
  function conflict(program, state) {
    const { yes, no } = literals(program, state);
    for (const goal of [BOTTOM, ...no]) {
      const steps = explain(program, yes, goal);
      if (steps) return { goal, steps };
    }
    return null;
  }

  /* Unknown facts that alone would settle the goal: [{variable, value, answer}]. */
  function deciders(program, state, goal, askable) {
    const found = [];
    for (const variable of unknown(program, state, askable)) {
      if (variable === goal || program.duals[goal] === variable) continue;
      for (const value of [true, false]) {
        const answer = verdict(program, set(state, variable, value), goal);
        if (answer === "yes" || answer === "no") found.push({ variable, value, answer });
      }
    }
    return found;
  }

  /* Values of unknown facts that the rules rule out: [{variable, value}]. */
  function excluded(program, state, askable) {
    const found = [];
    for (const variable of unknown(program, state, askable)) {
      for (const value of [true, false]) {
        if (contradictory(program, set(state, variable, value))) found.push({ variable, value });
      }
    }
    return found;
  }

  function unknown(program, state, askable) {
    const { yes, no } = literals(program, state);
    return askable.filter((v) => !yes.has(v) && !no.has(v));
  }

  /* The rules that may still settle the goal, those that lack least first:
     [{rule, answer, missing: [{variable, value}]}]. A rule with the goal in its body settles it by
     contraposition: the rest of the body true and the head false leave but one value. */
  function nearest(program, state, goal) {
    const { yes, no } = literals(program, state);
    const closed = closure(program, yes);
    const met = ({ variable, value }) => (value ? closed : no).has(variable);
    const refuted = ({ variable, value }) => (value ? no : closed).has(variable);
    const found = [];
    for (const rule of program.rules) {
      const answer = settled(program, rule, goal);
      if (answer === null) continue;
      const about = new Set([goal, program.duals[goal]]);
      const needs = rule.body.filter((v) => !about.has(v)).map((variable) => ({ variable, value: true }));
      if (rule.head !== BOTTOM && !about.has(rule.head)) needs.push({ variable: rule.head, value: false });
      const missing = needs.filter((need) => !met(need));
      if (missing.length && !needs.some(refuted)) found.push({ rule, answer, missing });
    }
    return found.sort((one, other) => one.missing.length - other.missing.length);
  }

  /* What a rule can say about the goal: "yes", "no", or null if nothing, or if it is always true. */
  function settled(program, rule, goal) {
    const dual = program.duals[goal];
    const yes = rule.head === goal || (dual !== null && rule.body.includes(dual));
    const no = rule.body.includes(goal) || (dual !== null && rule.head === dual);
    return yes === no ? null : yes ? "yes" : "no";
  }

  return { compile, set, literals, closure, contradictory, verdict, derive, explain, conflict, deciders, excluded, nearest };
})();
