/** Custom shortcuts, stored in this browser. The defaults are those of the terminal. */

import { useEffect, useState } from "preact/hooks";
import type { Act, ChoiceView, QuestionView } from "../api/schema";
import { isNumber, NONE } from "../components/question/use-marks";
import DEFAULTS from "./default-keys.json";
import { caption } from "./keys";

/** Where a shortcut applies: to pairs, to groups, to items that are marked, to every question. */
export type Scope = "pair" | "groups" | "marks" | "always" | "acts";
/** Something that has a shortcut: "pair:same", "marks:none", "acts:back". */
export type Slot = `${Scope}:${string}`;
export type Bindings = Partial<Record<Slot, string[]>>;

const STORAGE_KEY = "samekind:keys";
const PAIR = new Set(Object.keys(DEFAULTS.pair));
const ALWAYS = new Set(Object.keys(DEFAULTS.always));
/** Keys that must keep their meaning, so that nobody is trapped in the page. */
const RESERVED = /^(Tab|Escape|Shift|Control|Alt|AltGraph|Meta|CapsLock|Dead|Process|Unidentified|F\d+)$/;
const LABELS: Record<string, string> = {
  "pair:same": "Same",
  "pair:different": "Different",
  "groups:none": "None of these",
  "marks:none": "Submit marked items",
  "always:unsure": "Not sure",
  "acts:back": "Back",
  "acts:skip": "Skip for now",
  "acts:help": "Help",
  "acts:finish": "Finish",
  "acts:look": "Look closer",
  "acts:find": "Find a group",
};

export const FIND_GROUP: Act = { name: "find", label: "Find a group", keys: DEFAULTS.acts.find };
export const LOOK_CLOSER: Act = { name: "look", label: "Look closer", keys: DEFAULTS.acts.look };

/** Everything that has a shortcut, with its default keys. */
export function slots(): [Slot, string[]][] {
  return (Object.entries(DEFAULTS) as [Scope, Record<string, string[]>][]).flatMap(([scope, keys]) =>
    Object.entries(keys).map(([name, own]): [Slot, string[]] => [`${scope}:${name}`, own]),
  );
}

export function slotLabel(slot: Slot): string {
  const [scope, name] = slot.split(":");
  return LABELS[slot] ?? (scope === "marks" ? `Mark item ${name}` : `Group ${name}`);
}

/** The slot of a choice in a question. */
export function slotOf(question: QuestionView, choice: ChoiceView): Slot {
  if (ALWAYS.has(choice.value)) return `always:${choice.value}`;
  if (question.many) return `marks:${choice.value}`;
  if (PAIR.has(choice.value)) return `pair:${choice.value}`;
  if (choice.place !== null) return `groups:${choice.place + 1}`;
  if (isNumber(choice.value) || choice.value === NONE) return `groups:${choice.value}`;
  return `always:${choice.value}`;
}

/** Whether two slots can be on the screen at the same time. */
function overlap(a: Slot, b: Slot): boolean {
  const [one, other] = [a.split(":")[0], b.split(":")[0]];
  const global = (scope: string | undefined) => scope === "always" || scope === "acts";
  return one === other || global(one) || global(other);
}

export function keysOf(bindings: Bindings, slot: Slot, defaults: string[]): string[] {
  return bindings[slot] ?? defaults;
}

/** Why a key cannot be used for a slot; empty when it can. */
export function keyConflict(bindings: Bindings, slot: Slot, key: string): string {
  if (RESERVED.test(key)) return `${key} is reserved by the browser. Choose another key.`;
  for (const [other, defaults] of slots()) {
    if (other === slot || !overlap(slot, other)) continue;
    if (keysOf(bindings, other, defaults).includes(key)) {
      return `${caption(key)} is already used for “${slotLabel(other)}”. Choose another key, or change that one first.`;
    }
  }
  return "";
}

export function readBindings(storage: Storage = localStorage): Bindings {
  try {
    const stored: unknown = JSON.parse(storage.getItem(STORAGE_KEY) ?? "{}");
    const known = new Set<string>(slots().map(([slot]) => slot));
    const entries = Object.entries(stored as Record<string, unknown>).filter(
      ([slot, keys]) =>
        known.has(slot) && Array.isArray(keys) && keys.every((key) => typeof key === "string"),
    );
    return Object.fromEntries(entries) as Bindings;
  } catch {
    return {};
  }
}

/** The question with its custom keys. */
export function bindQuestion(bindings: Bindings, question: QuestionView): QuestionView {
  const choices = question.choices.map((choice) => ({
    ...choice,
    keys: keysOf(bindings, slotOf(question, choice), choice.keys),
  }));
  return { ...question, choices };
}

let current: Bindings | null = null;
const listeners = new Set<() => void>();

function store(bindings: Bindings): void {
  current = bindings;
  try {
    localStorage.setItem(STORAGE_KEY, JSON.stringify(bindings));
  } catch {
    // Without storage they last until the page is closed.
  }
  for (const notify of listeners) notify();
}

export interface Shortcuts {
  bindings: Bindings;
  bindQuestion: (question: QuestionView) => QuestionView;
  bindActs: (acts: Act[]) => Act[];
  /** Assign a key; returns why that is not possible, or an empty string. */
  assign: (slot: Slot, key: string) => string;
  reset: () => void;
}

export function useShortcuts(): Shortcuts {
  const [, render] = useState(0);
  useEffect(() => {
    const listener = () => render((n) => n + 1);
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }, []);
  const bindings = (current ??= readBindings());
  return {
    bindings,
    bindQuestion: (question) => bindQuestion(bindings, question),
    bindActs: (acts) =>
      acts.map((act) => ({ ...act, keys: keysOf(bindings, `acts:${act.name}`, act.keys) })),
    assign: (slot, key) => {
      const conflict = keyConflict(bindings, slot, key);
      if (conflict === "") store({ ...bindings, [slot]: [key] });
      return conflict;
    },
    reset: () => store({}),
  };
}
