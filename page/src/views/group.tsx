/** One group: all its items; some of them are split off, moved or taken out. */

import { useEffect, useState } from "preact/hooks";
import { MOST_ITEMS, type Acted, type ActsApi, type Order } from "../acts-api";
import type { Desk } from "../desk";
import { useActs } from "../groups/acts";
import { isPlain, isTaken } from "../groups/busy";
import { DOUBTFUL } from "../groups/card";
import { useChoosing } from "../groups/choosing";
import { Grid } from "../groups/grid";
import { useMembers } from "../groups/members";
import { Message } from "../groups/message";
import { GroupPicker } from "../groups/picker";
import { Purity } from "../groups/purity";
import { Rail } from "../groups/rail";
import { Swatch } from "../groups/swatch";
import { useGroups } from "../groups/use-groups";
import { useKeys } from "../keys";
import { slotsOf } from "../map/colours";
import { Link } from "../parts/link";
import { Notice } from "../parts/notice";
import { count } from "../parts/progress";
import { Keys } from "../questions/button";
import { GroupName } from "./group-name";

const ORDERS: [Order, string][] = [
  ["typical", "Typical first"],
  ["doubtful", "Doubtful first"],
];

/** A group of another number is another view: nothing that was chosen stays chosen. */
export function OneGroup({ desk, number }: { desk: Desk; number: number }) {
  return <Opened key={number} desk={desk} number={number} />;
}

function Opened({ desk, number }: { desk: Desk; number: number }) {
  const acts = useActs(desk);
  const snapshot = desk.now?.progress.snapshot;
  const [order, setOrder] = useState<Order>(location.hash === DOUBTFUL ? "doubtful" : "typical");
  const pages = useMembers(acts.api, number, order, snapshot);
  const choosing = useChoosing(
    (index) => pages.at(index),
    (first, last) => pages.range(first, last),
  );
  const { groups, load } = useGroups(desk, acts.api);
  const [picking, setPicking] = useState(false);
  const [waiting, setWaiting] = useState<ReadonlySet<number>>(new Set());
  useEffect(() => setWaiting(new Set()), [snapshot]);

  const slots = slotsOf(desk.api);
  const { group, fault } = pages;
  const others = (groups ?? []).filter((one) => one.number !== number);
  const chosen = [...choosing.chosen];
  const many = chosen.length > MOST_ITEMS;
  const usable = chosen.length > 0 && !many && !acts.busy;

  const again = () => {
    pages.renew();
    load();
    void pages.range(0, 1).catch(() => undefined); // what went wrong is in `pages.fault`
  };
  const perform = async (items: number[], work: (api: ActsApi) => Promise<Acted>) => {
    if (!(await acts.perform(work))) return;
    choosing.clear();
    setWaiting((before) => new Set([...before, ...items]));
  };
  const split = (items: number[]) => void perform(items, (api) => api.split(number, items));
  const out = (items: number[]) => void perform(items, (api) => api.out(items));
  const move = (items: number[], to: number) => void perform(items, (api) => api.move(items, to));

  useKeys((event) => {
    if (picking || !isPlain(event) || isTaken(event.target, event.key)) return;
    if (event.key === "Escape") choosing.clear();
    const doing = { k: () => split(chosen), x: () => out(chosen), g: () => setPicking(true) }[event.key];
    if (!doing || !usable) return;
    event.preventDefault();
    doing();
  });

  return (
    <main class="groups one">
      <p class="back">
        <Link to="/groups">← All groups</Link>
      </p>
      {fault && (
        <Notice tone="warning" act={{ label: "Try again", go: again }}>
          {fault.message} {fault.whatToDo}
        </Notice>
      )}
      {group && (
        <>
          <div class="group-head large">
            <Swatch slot={slots.of(number)} />
            <GroupName desk={desk} group={group} renamed={again} />
            <span class="quiet-text">{count(group.size, "item")}</span>
            <Purity share={group.purity} />
            <fieldset class="orders">
              <legend class="unseen-text">Order of the items</legend>
              {ORDERS.map(([value, label]) => (
                <label key={value}>
                  <input
                    type="radio"
                    name="order"
                    checked={order === value}
                    onChange={() => setOrder(value)}
                  />
                  <span>{label}</span>
                </label>
              ))}
            </fieldset>
          </div>
          <p class="how quiet-text">
            Click items to choose them<span class="by-key">, with shift all up to the last one; or use the
            arrow keys and space</span>. Then say what they are.
          </p>
          <div class="with-rail">
            <Grid name={group.name} group={number} pages={pages} choosing={choosing} waiting={waiting} />
            <Rail desk={desk} groups={others} move={move} split={split} out={out} />
          </div>
        </>
      )}
      {chosen.length > 0 && (
        <div class="choice-bar" role="toolbar" aria-label="With the chosen items">
          <p role="status">
            <strong>{chosen.length.toLocaleString("en")} chosen</strong>
            {many && <span class="quiet-text"> · at most {MOST_ITEMS.toLocaleString("en")} at a time</span>}
          </p>
          <button
            type="button"
            class="main-act"
            disabled={!usable}
            aria-keyshortcuts="k"
            onClick={() => split(chosen)}
          >
            <Keys keys={["k"]} /> A kind of their own
          </button>
          <button type="button" disabled={!usable} aria-keyshortcuts="g" onClick={() => setPicking(true)}>
            <Keys keys={["g"]} /> Move to …
          </button>
          <button type="button" disabled={!usable} aria-keyshortcuts="x" onClick={() => out(chosen)}>
            <Keys keys={["x"]} /> {chosen.length === 1 ? "Does" : "Do"} not belong here
          </button>
          <button type="button" class="quiet" onClick={choosing.clear}>
            <Keys keys={["Esc"]} /> Clear
          </button>
        </div>
      )}
      {picking && (
        <GroupPicker
          title={`Move ${count(chosen.length, "item")} to …`}
          groups={others}
          slots={slots}
          choose={(to) => {
            setPicking(false);
            move(chosen, to);
          }}
          close={() => setPicking(false)}
        />
      )}
      <Message acts={acts} />
    </main>
  );
}
