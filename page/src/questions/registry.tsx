/** Which renderer shows which kind of question. A kind without an entry gets the generic one. */

import type { ComponentType } from "preact";
import type { Question } from "../api";
import { Generic } from "./generic";
import { OddOnes } from "./odd-ones";
import { SameGroups } from "./same-groups";
import { WhichGroup } from "./which-group";

export interface Rendering {
  question: Question;
  /** The choice that is on its way or in force, marked on its button. */
  chosen: string | null;
  /** The numbers marked so far, where several may be chosen. */
  picked: ReadonlySet<string>;
  choose: (value: string) => void;
}

const RENDERERS: Record<string, ComponentType<Rendering>> = {
  "which-group": WhichGroup,
  "same-groups": SameGroups,
  "odd-ones": OddOnes,
};

export function QuestionView(rendering: Rendering) {
  const Renderer = RENDERERS[rendering.question.kind] ?? Generic;
  return <Renderer {...rendering} />;
}
