/** One group: all its items, the most typical first. */

import { useEffect, useState } from "preact/hooks";
import { Fault, type Group, type Item } from "../api";
import type { Desk } from "../desk";
import { ItemView } from "../items/item";
import { Link } from "../parts/link";
import { Notice } from "../parts/notice";
import { count } from "../parts/progress";
import { GroupName } from "./group-name";

export function OneGroup({ desk, number }: { desk: Desk; number: number }) {
  const [group, setGroup] = useState<Group | null>(null);
  const [items, setItems] = useState<Item[]>([]);
  const [fault, setFault] = useState<Fault | null>(null);
  const snapshot = desk.now?.progress.snapshot;

  const load = (offset: number) => {
    desk.api.members(number, offset).then(
      (page) => {
        setGroup(page.group);
        setItems((before) => [...before.slice(0, offset), ...page.items]);
        setFault(null);
      },
      (problem: Fault) => setFault(problem),
    );
  };
  useEffect(() => load(0), [desk.api, number, snapshot]);

  return (
    <main class="groups">
      <p>
        <Link to="/groups">← All groups</Link>
      </p>
      {fault && (
        <Notice tone="warning" act={{ label: "Try again", go: () => load(items.length) }}>
          {fault.message} {fault.whatToDo}
        </Notice>
      )}
      {group && (
        <>
          <div class="group-head">
            <GroupName desk={desk} group={group} renamed={() => load(0)} />
            <span class="quiet-text">{count(group.size, "item")}, the most typical first</span>
          </div>
          <div class="members">
            {items.map((item) => (
              <figure key={item.id}>
                <ItemView item={item} size="medium" />
                <figcaption>{item.id}</figcaption>
              </figure>
            ))}
          </div>
          {items.length < group.size && (
            <button type="button" onClick={() => load(items.length)}>
              Show more ({group.size - items.length} left)
            </button>
          )}
        </>
      )}
    </main>
  );
}
