/** All groups: named, merged, looked into; every change can be taken back. */

import { useEffect, useState } from "preact/hooks";
import type { GroupCard } from "../acts-api";
import type { Desk } from "../desk";
import { useActs } from "../groups/acts";
import { isPlain, isTaken } from "../groups/busy";
import { Card } from "../groups/card";
import type { Load } from "../groups/drag";
import { Message } from "../groups/message";
import { useGroups } from "../groups/use-groups";
import { useShown, type Plan } from "../groups/window";
import { useKeys } from "../keys";
import { Link } from "../parts/link";
import { Notice } from "../parts/notice";
import { count } from "../parts/progress";
import { Keys } from "../questions/button";

const FORMAT_NAMES: Record<string, string> = { csv: "CSV", json: "JSON", parquet: "Parquet" };
/** Fewer groups than this are all drawn. */
const FEW = 48;
/** A card: its head, a row of five squares, its foot. */
const PLAN: Plan = { least: 350, height: (width) => 122 + (width - 50) / 5, gap: 14 };

interface GalleryProps {
  groups: GroupCard[];
  card: (group: GroupCard, at: number) => preact.JSX.Element;
}

function Gallery({ groups, card }: GalleryProps) {
  const [list, shown] = useShown(PLAN, groups.length);
  if (groups.length <= FEW) {
    return (
      <div ref={list}>
        <ul class="group-list">{groups.map(card)}</ul>
      </div>
    );
  }
  const rows = {
    transform: `translateY(${shown.top}px)`,
    gridTemplateColumns: `repeat(${shown.columns}, minmax(0, 1fr))`,
    gridAutoRows: `${shown.row - PLAN.gap}px`,
  };
  return (
    <div ref={list} class="long" style={{ height: `${shown.whole}px` }}>
      <ul class="group-list" style={rows}>
        {groups.slice(shown.first, shown.last).map((group, k) => card(group, shown.first + k))}
      </ul>
    </div>
  );
}

/** From one box to the next with the arrow keys, over columns and rows. */
function walk(event: KeyboardEvent): void {
  const box = event.target;
  if (!(box instanceof HTMLInputElement) || box.type !== "checkbox") return;
  const all = [...document.querySelectorAll<HTMLInputElement>(".card-choose input")];
  const tops = all.map((one) => one.getBoundingClientRect().top);
  const columns = Math.max(1, tops.filter((top) => Math.abs(top - (tops[0] ?? 0)) < 2).length);
  const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns }[event.key];
  const to = by === undefined ? undefined : all[all.indexOf(box) + by];
  if (!to) return;
  event.preventDefault();
  to.focus();
}

export function Groups({ desk }: { desk: Desk }) {
  const acts = useActs(desk);
  const { groups, fault, load } = useGroups(desk, acts.api);
  const [chosen, setChosen] = useState<readonly number[]>([]);
  const [waiting, setWaiting] = useState<readonly number[]>([]);
  useEffect(() => setWaiting([]), [groups]);

  const choose = (number: number) =>
    setChosen((before) =>
      before.includes(number) ? before.filter((one) => one !== number) : [...before, number],
    );
  const named = (groups ?? []).filter((group) => chosen.includes(group.number));
  const [one, other] = named;
  const ready = named.length === 2 && one !== undefined && other !== undefined;

  const merge = async (a: number, b: number) => {
    if (!(await acts.perform((api) => api.merge(a, b)))) return;
    setChosen([]);
    setWaiting([a, b]);
  };
  const drop = async (load: Load, on: number) => {
    if ("group" in load) await merge(load.group, on);
    else if (await acts.perform((api) => api.move(load.items, on))) setWaiting([load.from, on]);
  };

  useKeys((event) => {
    if (!isPlain(event)) return;
    walk(event);
    if (isTaken(event.target, event.key)) return;
    if (event.key === "Escape") setChosen([]);
    if (event.key === "m" && ready) {
      event.preventDefault();
      void merge(one.number, other.number);
    }
  });

  const about = desk.about;
  const card = (group: GroupCard, at: number) => (
    <Card
      key={group.number}
      desk={desk}
      group={group}
      chosen={chosen.includes(group.number)}
      waiting={waiting.includes(group.number)}
      place={{ at: at + 1, of: groups?.length ?? 0 }}
      choose={() => choose(group.number)}
      renamed={load}
      drop={(load) => void drop(load, group.number)}
    />
  );
  return (
    <main class="groups">
      <div class="head">
        <div>
          <h1>Groups</h1>
          {about && groups && (
            <p class="why">
              {count(about.items, "item")} in {count(groups.length, "group")}, from{" "}
              {count(desk.now?.progress.answers ?? 0, "answer")}. <Link to="/map">See them on the map</Link>
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
      {groups && groups.length > 1 && (
        <p class="how quiet-text">
          Two groups that are one kind: choose both
          <span class="by-key">
            {" "}
            and press <Keys keys={["m"]} />, or drag one onto the other
          </span>
          . To split a group or to take items out of it, open it.
        </p>
      )}
      {groups && <Gallery groups={groups} card={card} />}
      {named.length > 0 && (
        <div class="choice-bar" role="toolbar" aria-label="With the chosen groups">
          <p>
            <strong>{named.map((group) => group.name).join(", ")}</strong>
            {!ready && (
              <span class="quiet-text">
                {named.length === 1 ? " · choose one more to merge" : " · two at a time can be merged"}
              </span>
            )}
          </p>
          <button
            type="button"
            class="main-act"
            disabled={!ready || acts.busy}
            aria-keyshortcuts="m"
            onClick={() => ready && void merge(one.number, other.number)}
          >
            <Keys keys={["m"]} /> They are one kind: merge
          </button>
          <button type="button" class="quiet" onClick={() => setChosen([])}>
            <Keys keys={["Esc"]} /> Clear
          </button>
        </div>
      )}
      <Message acts={acts} />
    </main>
  );
}
