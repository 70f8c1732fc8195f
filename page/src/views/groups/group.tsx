/** One group: all its items. Some of them can be split off, moved or removed. */

import { useEffect, useState } from "preact/hooks";
import { ApiError } from "../../api/client";
import { ErrorNotice } from "../../components/error-notice";
import { slotsFor } from "../../components/group-colours";
import { GroupPicker } from "../../components/group-picker";
import { Keys } from "../../components/keys";
import { Link } from "../../components/link";
import { Swatch } from "../../components/swatch";
import { Toast } from "../../components/toast";
import { count, number as formatNumber } from "../../format";
import { isHandledByControl, isPlainPress, useKeys } from "../../keyboard/keys";
import { currentRoute, navigate } from "../../router";
import { MAX_ITEMS_PER_ACT, useActs } from "../../workspace/use-acts";
import type { Workspace } from "../../workspace/use-workspace";
import { DOUBTFUL_HASH } from "./card";
import { GroupName } from "./group-name";
import { KeyWords } from "./key-words";
import { MemberGrid } from "./member-grid";
import { type Order, useMembers } from "./members";
import { Purity } from "./purity";
import { Sidebar } from "./sidebar";
import { useGroups, useGroupWords } from "./use-groups";
import { useSelection } from "./use-selection";
import "./groups.css";
import "./group.css";

/** Items that a search may begin with; the server rejects more. */
const MAX_EXAMPLES = 5;
const ORDERS: [Order, string][] = [
  ["typical", "Typical first"],
  ["doubtful", "Uncertain first"],
];

/** Another group is another page: nothing stays selected. */
export function GroupPage({ workspace, number }: { workspace: Workspace; number: number }) {
  return <OneGroup key={number} workspace={workspace} number={number} />;
}

function OneGroup({ workspace, number }: { workspace: Workspace; number: number }) {
  const { client, now } = workspace;
  const acts = useActs(workspace);
  const snapshot = now?.progress.snapshot;
  const [order, setOrder] = useState<Order>(location.hash === DOUBTFUL_HASH ? "doubtful" : "typical");
  const pages = useMembers(client, number, order, snapshot);
  const selection = useSelection(
    (index) => pages.at(index),
    (first, last) => pages.range(first, last),
  );
  const groups = useGroups(workspace);
  const words = useGroupWords(workspace);
  const [picking, setPicking] = useState(false);
  const [failure, setFailure] = useState<ApiError | null>(null);
  /** Items that were just changed: dimmed until the next update of the groups. */
  const [pending, setPending] = useState<ReadonlySet<number>>(new Set());
  useEffect(() => setPending(new Set()), [snapshot]);

  const slots = slotsFor(client);
  const { group, error } = pages;
  const others = (groups.data ?? []).filter((one) => one.number !== number);
  const selected = [...selection.selected];
  const tooMany = selected.length > MAX_ITEMS_PER_ACT;
  const usable = selected.length > 0 && !tooMany && !acts.busy;

  const reload = () => {
    pages.invalidate();
    pages.show(0, 1);
    groups.reload();
  };
  const perform = async (items: number[], request: Parameters<typeof acts.perform>[0]) => {
    if (!(await acts.perform(request))) return;
    selection.clear();
    setPending((before) => new Set([...before, ...items]));
  };
  const split = (items: number[]) =>
    void perform(items, (_, aside) =>
      client.post("/api/acts/split", { body: { group: number, items, ...aside } }),
    );
  const remove = (items: number[]) =>
    void perform(items, (_, aside) => client.post("/api/acts/out", { body: { items, ...aside } }));
  const move = (items: number[], to: number) =>
    void perform(items, (_, aside) => client.post("/api/acts/move", { body: { items, to, ...aside } }));

  const likeable = usable && selected.length <= MAX_EXAMPLES;
  const findLike = async (items: number[]) => {
    try {
      await client.post("/api/acts/like", { body: { items } });
      workspace.refresh();
      navigate({ ...currentRoute(), path: "/" });
    } catch (problem) {
      setFailure(ApiError.from(problem));
    }
  };

  useKeys((event) => {
    if (picking || !isPlainPress(event) || isHandledByControl(event.target, event.key)) return;
    if (event.key === "Escape") selection.clear();
    const action = {
      k: () => split(selected),
      x: () => remove(selected),
      g: () => setPicking(true),
      f: () => likeable && void findLike(selected),
    }[event.key];
    if (!action || !usable) return;
    event.preventDefault();
    action();
  });

  return (
    <main class="groups one">
      <p class="back">
        <Link to="/groups">← All groups</Link>
      </p>
      <ErrorNotice error={failure ?? error} retry={reload} />
      {group && (
        <>
          <div class="group-head large">
            <Swatch slot={slots.of(number)} />
            <GroupName workspace={workspace} group={group} renamed={reload} />
            <span class="muted">{count(group.size, "item")}</span>
            <Purity share={group.purity} />
            <fieldset class="orders">
              <legend class="visually-hidden">Order of the items</legend>
              {ORDERS.map(([value, label]) => (
                <label key={value}>
                  <input type="radio" name="order" checked={order === value} onChange={() => setOrder(value)} />
                  <span>{label}</span>
                </label>
              ))}
            </fieldset>
          </div>
          <KeyWords words={words.get(number)} />
          <p class="hint">
            Click items to select them<span class="by-key">, or use the arrow keys and space. Shift selects
            a range</span>. Then choose what to do with them.
          </p>
          <div class="with-sidebar">
            <MemberGrid name={group.name} group={number} pages={pages} selection={selection} pending={pending} />
            <Sidebar workspace={workspace} groups={others} move={move} split={split} remove={remove} />
          </div>
        </>
      )}
      {selected.length > 0 && (
        <div class="selection-bar" role="toolbar" aria-label="Selected items">
          <p role="status">
            <strong>{formatNumber(selected.length)} selected</strong>
            {tooMany && <span class="muted"> · at most {formatNumber(MAX_ITEMS_PER_ACT)} at a time</span>}
          </p>
          <button
            type="button"
            class="primary"
            disabled={!usable}
            aria-keyshortcuts="k"
            onClick={() => split(selected)}
          >
            <Keys keys={["k"]} /> Make a new group
          </button>
          <button type="button" disabled={!usable} aria-keyshortcuts="g" onClick={() => setPicking(true)}>
            <Keys keys={["g"]} /> Move to…
          </button>
          <button type="button" disabled={!usable} aria-keyshortcuts="x" onClick={() => remove(selected)}>
            <Keys keys={["x"]} /> Remove from group
          </button>
          <button
            type="button"
            disabled={!likeable}
            title={`Shows candidates from all groups. Select up to ${MAX_EXAMPLES} examples.`}
            aria-keyshortcuts="f"
            onClick={() => void findLike(selected)}
          >
            <Keys keys={["f"]} /> Find more like {selected.length === 1 ? "this" : "these"}
          </button>
          <button type="button" class="quiet" onClick={selection.clear}>
            <Keys keys={["Esc"]} /> Clear
          </button>
        </div>
      )}
      {picking && (
        <GroupPicker
          title={`Move ${count(selected.length, "item")} to…`}
          groups={others}
          slots={slots}
          choose={(to) => {
            setPicking(false);
            move(selected, to);
          }}
          close={() => setPicking(false)}
        />
      )}
      <Toast acts={acts} />
    </main>
  );
}
