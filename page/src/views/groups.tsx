/** All groups with a few of their items; names are changed in place. */

import { useEffect, useState } from "preact/hooks";
import { Fault, type Group } from "../api";
import type { Desk } from "../desk";
import { ItemView } from "../items/item";
import { Link } from "../parts/link";
import { Notice } from "../parts/notice";
import { count } from "../parts/progress";
import { GroupName } from "./group-name";

const FORMAT_NAMES: Record<string, string> = { csv: "CSV", json: "JSON", parquet: "Parquet" };

export function Groups({ desk }: { desk: Desk }) {
  const [groups, setGroups] = useState<Group[] | null>(null);
  const [fault, setFault] = useState<Fault | null>(null);
  const snapshot = desk.now?.progress.snapshot;

  const load = () => {
    desk.api.groups().then(
      (list) => {
        setGroups(list.groups);
        setFault(null);
      },
      (problem: Fault) => setFault(problem),
    );
  };
  useEffect(load, [desk.api, snapshot]);

  const about = desk.about;
  return (
    <main class="groups">
      <div class="head">
        <div>
          <h1>Groups</h1>
          {about && groups && (
            <p class="why">
              {count(about.items, "item")} in {count(groups.length, "group")}, from{" "}
              {count(desk.now?.progress.answers ?? 0, "answer")}.
            </p>
          )}
        </div>
        <div class="downloads">
          {about?.formats.map((format) => (
            <a key={format} class="button" href={desk.api.download(format)} download>
              ↓ {FORMAT_NAMES[format] ?? format}
            </a>
          ))}
        </div>
      </div>
      {fault && (
        <Notice tone="warning" act={{ label: "Try again", go: load }}>
          {fault.message} {fault.whatToDo}
        </Notice>
      )}
      <div class="group-list">
        {groups?.map((group) => (
          <section key={group.number} class="group-card">
            <div class="group-head">
              <GroupName desk={desk} group={group} renamed={load} />
              <span class="quiet-text">{count(group.size, "item")}</span>
            </div>
            <Link to={`/groups/${group.number}`} className="representatives">
              {group.representatives.map((item) => (
                <ItemView key={item.id} item={item} size="small" />
              ))}
            </Link>
          </section>
        ))}
      </div>
    </main>
  );
}
