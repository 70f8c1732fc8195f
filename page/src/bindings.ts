/** Keys of one's own, kept in this browser; without them the keys are those of the terminal. */

import { useEffect, useState } from "preact/hooks";
import type { Act, Choice, Question } from "./api";
import DEFAULTS from "./default-keys.json";
import { printed } from "./keys";
import { isNumber, NONE } from "./picks";

/** Where a key is heard: on questions about pairs, about groups, where items are marked, anywhere. */
export type Room = "pair" | "groups" | "marks" | "always" | "acts";
/** Something that has keys: "pair:same", "marks:none", "acts:back". */
export type Slot = `${Room}:${string}`;
export type Bindings = Partial<Record<Slot, string[]>>;

const STORED = "samekind:keys";
const PAIR = new Set(Object.keys(DEFAULTS.pair));
const ALWAYS = new Set(Object.keys(DEFAULTS.always));
/** Keys that must keep their meaning, so that nobody is caught in the page. */
const KEPT = /^(Tab|Escape|Shift|Control|Alt|AltGraph|Meta|CapsLock|Dead|Process|Unidentified|F\d+)$/;
const WORDS: Record<string, string> = {
  "pair:same": "Same",
  "pair:different": "Different",
  "groups:none": "None of these",
  "marks:none": "Send what is marked",
  "always:unsure": "Not sure",
  "acts:back": "Back",
  "acts:skip": "Skip for now",
  "acts:help": "Help",
  "acts:finish": "Finish",
  "acts:look": "Look closer",
};

export const LOOK: Act = { name: "look", label: "Look closer", keys: DEFAULTS.acts.look };

/** All that can be given another key, with the keys that it has by default. */
export function slots(): [Slot, string[]][] {
  return (Object.entries(DEFAULTS) as [Room, Record<string, string[]>][]).flatMap(([room, keys]) =>
    Object.entries(keys).map(([name, own]): [Slot, string[]] => [`${room}:${name}`, own]),
  );
}

export function words(slot: Slot): string {
  const [room, name] = slot.split(":");
  return WORDS[slot] ?? (room === "marks" ? `Mark item ${name}` : `Group ${name}`);
}

/** What a choice of a question is among the things that have keys. */
export function slotOf(question: Question, choice: Choice): Slot {
  if (ALWAYS.has(choice.value)) return `always:${choice.value}`;
  if (question.many) return `marks:${choice.value}`;
  if (PAIR.has(choice.value)) return `pair:${choice.value}`;
  if (isNumber(choice.value) || choice.value === NONE) return `groups:${choice.value}`;
  return `always:${choice.value}`;
}

/** Whether two things can be on the screen at the same time. */
function meet(a: Slot, b: Slot): boolean {
  const [one, other] = [a.split(":")[0], b.split(":")[0]];
  const anywhere = (room: string | undefined) => room === "always" || room === "acts";
  return one === other || anywhere(one) || anywhere(other);
}

export function keysOf(bindings: Bindings, slot: Slot, otherwise: string[]): string[] {
  return bindings[slot] ?? otherwise;
}

/** Why a key cannot be given to something; empty when it can. */
export function refusal(bindings: Bindings, slot: Slot, key: string): string {
  if (KEPT.test(key)) return `${key} keeps its meaning in the browser. Choose another key.`;
  for (const [other, own] of slots()) {
    if (other === slot || !meet(slot, other)) continue;
    if (keysOf(bindings, other, own).includes(key)) {
      return `${printed(key)} already means “${words(other)}”. Choose another key, or change that one first.`;
    }
  }
  return "";
}

export function read(storage: Storage = localStorage): Bindings {
  try {
    const kept: unknown = JSON.parse(storage.getItem(STORED) ?? "{}");
    const known = new Set<string>(slots().map(([slot]) => slot));
    const entries = Object.entries(kept as Record<string, unknown>).filter(
      ([slot, keys]) =>
        known.has(slot) && Array.isArray(keys) && keys.every((key) => typeof key === "string"),
    );
    return Object.fromEntries(entries) as Bindings;
  } catch {
    return {};
  }
}

/** The question with the keys that it has here. */
export function boundTo(bindings: Bindings, question: Question): Question {
  const choices = question.choices.map((choice) => ({
    ...choice,
    keys: keysOf(bindings, slotOf(question, choice), choice.keys),
  }));
  return { ...question, choices };
}

let current: Bindings | null = null;
const listeners = new Set<() => void>();

function keep(bindings: Bindings): void {
  current = bindings;
  try {
    localStorage.setItem(STORED, JSON.stringify(bindings));
  } catch {
    // They hold until the page is closed.
  }
  for (const listen of listeners) listen();
}

export interface Bound {
  bindings: Bindings;
  bound: (question: Question) => Question;
  acts: (acts: Act[]) => Act[];
  /** Give something another key; the reason in words when that cannot be. */
  set: (slot: Slot, key: string) => string;
  reset: () => void;
}

export function useBindings(): Bound {
  const [, draw] = useState(0);
  useEffect(() => {
    const listen = () => draw((n) => n + 1);
    listeners.add(listen);
    return () => void listeners.delete(listen);
  }, []);
  const bindings = (current ??= read());
  return {
    bindings,
    bound: (question) => boundTo(bindings, question),
    acts: (acts) => acts.map((act) => ({ ...act, keys: keysOf(bindings, `acts:${act.name}`, act.keys) })),
    set: (slot, key) => {
      const why = refusal(bindings, slot, key);
      if (why === "") keep({ ...bindings, [slot]: [key] });
      return why;
    },
    reset: () => keep({}),
  };
}
