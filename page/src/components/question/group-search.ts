/** Finding a group among many by a part of its name, or by its number. */

import type { ChoiceView } from "../../api/schema";

/** Letters without case and accents, words separated by one space. */
export function simplified(text: string): string {
  return text
    .normalize("NFD")
    .replace(/\p{Diacritic}/gu, "")
    .toLowerCase()
    .trim()
    .replace(/\s+/g, " ");
}

/** The number of a group, which is also its key; empty if it has no place of its own. */
export function numberOf({ place }: ChoiceView): string {
  return place === null ? "" : String(place + 1);
}

/** Groups in the order of their places, the same in every question. */
export function byPlace(groups: readonly ChoiceView[]): ChoiceView[] {
  const last = groups.length + 1000;
  return [...groups].sort((a, b) => (a.place ?? last) - (b.place ?? last));
}

/** How well a group fits what was typed: 0 is best, `null` is not at all. */
function rank(group: ChoiceView, typed: string): number | null {
  const name = simplified(group.name);
  if (name === typed || numberOf(group) === typed) return 0;
  if (name.startsWith(typed)) return 1;
  if (name.includes(` ${typed}`)) return 2;
  return name.includes(typed) && name !== "" ? 3 : null;
}

/** The groups that fit what was typed, best first; equals stay in their order. */
export function matchingGroups(groups: readonly ChoiceView[], text: string): ChoiceView[] {
  const typed = simplified(text);
  if (typed === "") return [...groups];
  return groups
    .map((group, k): [number | null, number, ChoiceView] => [rank(group, typed), k, group])
    .filter(([fit]) => fit !== null)
    .sort(([a, j], [b, k]) => (a ?? 0) - (b ?? 0) || j - k)
    .map(([, , group]) => group);
}

/** What was typed as the name of a new group; `null` if a group has that name or number already. */
export function newName(groups: readonly ChoiceView[], text: string): string | null {
  const typed = simplified(text);
  const taken = groups.some((group) => simplified(group.name) === typed || numberOf(group) === typed);
  return typed === "" || taken ? null : text.trim().replace(/\s+/g, " ");
}
