/** "Which group does this belong to?": the item, and the groups beside it; of many also a list. */

import { useState } from "preact/hooks";
import type { ChoiceView, QuestionView } from "../../api/schema";
import { Dialog } from "../dialog";
import { Item } from "../item";
import { usePhone } from "../use-phone";
import { ChoiceButton } from "./choice-button";
import { GroupList } from "./group-list";
import { NearestGroups } from "./nearest-groups";
import type { QuestionProps } from "./question";
import "./which-group.css";

/** From this many groups on they are listed; the first few are shown large all the same. */
const MANY_GROUPS = 8;
const LARGE_GROUPS = 5;
const LARGE_GROUPS_ON_PHONE = 4;

function groupsOf(question: QuestionView): ChoiceView[] {
  return question.choices.filter((choice) => choice.exemplars.length > 0);
}

/** Whether a question has so many groups that they are listed. */
export function hasGroupList(question: QuestionView | null): boolean {
  if (question?.kind !== "which-group") return false;
  return question.new_group || groupsOf(question).length >= MANY_GROUPS;
}

export function WhichGroup({ question, chosen, choose, rename, undo }: QuestionProps) {
  const groups = groupsOf(question);
  const others = question.choices.filter((choice) => choice.exemplars.length === 0);
  const listed = hasGroupList(question);
  const phone = usePhone();
  const large = !listed ? groups.length : phone ? LARGE_GROUPS_ON_PHONE : LARGE_GROUPS;
  const canCreate = question.new_group && rename !== undefined;
  const list = { groups, canCreate, chosen, choose, rename };
  return (
    <div class={`question which-group ${listed ? "many" : groups.length === 1 ? "single" : ""}`}>
      <div class="subject">
        {question.items.map((item) => (
          <Item key={item.id} item={item} size="large" />
        ))}
      </div>
      <NearestGroups groups={groups.slice(0, large)} chosen={chosen} choose={choose} />
      {listed && !phone && <GroupList {...list} undo={undo} />}
      <div class="choices">
        {listed && phone && <GroupSheet {...list} />}
        {others.map((choice) => (
          <ChoiceButton key={choice.value} choice={choice} chosen={chosen} choose={choose} />
        ))}
      </div>
    </div>
  );
}

/** On a phone: a button that opens the list over the question. */
function GroupSheet(props: Parameters<typeof GroupList>[0]) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <button type="button" class="choice open-list" data-find-group onClick={() => setOpen(true)}>
        All {props.groups.length} groups
      </button>
      {open && (
        <Dialog title="Which group?" close={() => setOpen(false)}>
          <div class="group-sheet">
            <GroupList {...props} />
          </div>
        </Dialog>
      )}
    </>
  );
}
