/** A question, shown by the renderer for its kind. Kinds without one use the grid if many items
 * can be marked, and otherwise the generic renderer. */

import type { ComponentType } from "preact";
import "./question.css"; // first: the sheets of the kinds of questions override it
import type { ItemView, QuestionView } from "../../api/schema";
import { ComparedRows } from "../item-row";
import { GenericQuestion } from "./generic";
import { GridQuestion } from "./grid";
import { SameGroups } from "./same-groups";
import { WhichGroup } from "./which-group";

export interface QuestionProps {
  question: QuestionView;
  /** The choice that is being sent or in force. */
  chosen: string | null;
  /** The numbers marked so far, where several may be chosen. */
  marked: ReadonlySet<string>;
  /** With a name: that of the new group. */
  choose: (value: string, name?: string) => void;
  /** Name the group of a choice; without it groups cannot be named here. */
  rename?: (value: string, name: string) => void;
  /** Undo the last answer, from a field that has the focus. */
  undo?: () => void;
}

const RENDERERS: Record<string, ComponentType<QuestionProps>> = {
  "which-group": WhichGroup,
  "same-groups": SameGroups,
};

/** The items of a question, the one that it is about first. */
function shownItems({ items, choices }: QuestionView): ItemView[] {
  return [...items, ...choices.flatMap((choice) => choice.exemplars)];
}

export function Question(props: QuestionProps) {
  const { kind, many } = props.question;
  const Renderer = RENDERERS[kind] ?? (many ? GridQuestion : GenericQuestion);
  return (
    <ComparedRows items={shownItems(props.question)}>
      <Renderer {...props} />
    </ComparedRows>
  );
}
