/** Which renderer shows which kind of question. A kind without an entry gets the generic one. */

import type { ComponentType } from "preact";
import type { Question } from "../api";
import { Generic } from "./generic";
import { WhichGroup } from "./which-group";

export interface Rendering {
  question: Question;
  /** The choice that is on its way or in force, marked on its button. */
  chosen: string | null;
  choose: (value: string) => void;
}

const RENDERERS: Record<string, ComponentType<Rendering>> = {
  "which-group": WhichGroup,
};

export function QuestionView(rendering: Rendering) {
  const Renderer = RENDERERS[rendering.question.kind] ?? Generic;
  return <Renderer {...rendering} />;
}
