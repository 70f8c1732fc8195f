/** All groups: rename, merge, open. Every change can be undone. */

import { useEffect, useState } from "preact/hooks";
import type { GroupCard } from "../../api/schema";
import { ErrorNotice } from "../../components/error-notice";
import { Keys } from "../../components/keys";
import { Link } from "../../components/link";
import { Toast } from "../../components/toast";
import { count } from "../../format";
import { isHandledByControl, isPlainPress, useKeys } from "../../keyboard/keys";
import { useActs } from "../../workspace/use-acts";
import type { Workspace } from "../../workspace/use-workspace";
import { GROUPINGS_HASH } from "../uncertainty/uncertainty";
import { Card } from "./card";
import type { Dragged } from "./drag";
import { useGroups, useGroupWords } from "./use-groups";
import { type CellSize, useVirtualList } from "./virtual-list";
import "./groups.css";

const FORMATS = ["csv", "json", "parquet"] as const;
const FORMAT_NAMES = { csv: "CSV", json: "JSON", parquet: "Parquet" };
/** Up to so many groups are all rendered. */
const MAX_UNVIRTUALISED = 48;
/** A card: its head, a row of five squares, its foot. The numbers of card.css. */
const CARD: CellSize = { minWidth: 350, height: (width) => 122 + (width - 50) / 5, gap: 12 };

interface GalleryProps {
  groups: GroupCard[];
  card: (group: GroupCard, index: number) => preact.JSX.Element;
}

function Gallery({ groups, card }: GalleryProps) {
  const [list, { first, last, columns, rowHeight, top, height }] = useVirtualList(CARD, groups.length);
  if (groups.length <= MAX_UNVIRTUALISED) {
    return (
      <div ref={list}>
        <ul class="group-list">{groups.map(card)}</ul>
      </div>
    );
  }
  const rows = {
    transform: `translateY(${top}px)`,
    gridTemplateColumns: `repeat(${columns}, minmax(0, 1fr))`,
    gridAutoRows: `${rowHeight - CARD.gap}px`,
  };
  return (
    <div ref={list} class="virtual-list" style={{ height: `${height}px` }}>
      <ul class="group-list" style={rows}>
        {groups.slice(first, last).map((group, k) => card(group, first + k))}
      </ul>
    </div>
  );
}

/** Move the focus from one checkbox to the next with the arrow keys, over columns and rows. */
function moveFocus(event: KeyboardEvent): void {
  const box = event.target;
  if (!(box instanceof HTMLInputElement) || box.type !== "checkbox") return;
  const boxes = [...document.querySelectorAll<HTMLInputElement>(".card-select input")];
  const tops = boxes.map((one) => one.getBoundingClientRect().top);
  const columns = Math.max(1, tops.filter((top) => Math.abs(top - (tops[0] ?? 0)) < 2).length);
  const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns }[event.key];
  const next = step === undefined ? undefined : boxes[boxes.indexOf(box) + step];
  if (!next) return;
  event.preventDefault();
  next.focus();
}

export function GroupsPage({ workspace }: { workspace: Workspace }) {
  const { client, session, now } = workspace;
  const acts = useActs(workspace);
  const { data: groups, error, reload } = useGroups(workspace);
  const words = useGroupWords(workspace);
  const [selected, setSelected] = useState<readonly number[]>([]);
  /** Groups that were just changed: dimmed until the next update of the groups. */
  const [pending, setPending] = useState<readonly number[]>([]);
  useEffect(() => setPending([]), [groups]);

  const toggle = (number: number) =>
    setSelected((before) =>
      before.includes(number) ? before.filter((one) => one !== number) : [...before, number],
    );
  const selectedGroups = (groups ?? []).filter((group) => selected.includes(group.number));
  const mergeable = selectedGroups.length >= 2;

  const merge = async (numbers: number[]) => {
    const merged = await acts.perform((_, aside) =>
      client.post("/api/acts/merge", { body: { groups: numbers, ...aside } }),
    );
    if (!merged) return;
    setSelected([]);
    setPending(numbers);
  };
  const mergeSelected = () => void merge(selectedGroups.map((group) => group.number));
  const drop = async (dragged: Dragged, to: number) => {
    if ("group" in dragged) return merge([dragged.group, to]);
    const { items, from } = dragged;
    const moved = await acts.perform((_, aside) =>
      client.post("/api/acts/move", { body: { items, to, ...aside } }),
    );
    if (moved) setPending([from, to]);
  };

  useKeys((event) => {
    if (!isPlainPress(event)) return;
    moveFocus(event);
    if (isHandledByControl(event.target, event.key)) return;
    if (event.key === "Escape") setSelected([]);
    if (event.key === "m" && mergeable) {
      event.preventDefault();
      mergeSelected();
    }
  });

  const card = (group: GroupCard, index: number) => (
    <Card
      key={group.number}
      workspace={workspace}
      group={group}
      words={(groups?.length ?? 0) > MAX_UNVIRTUALISED ? undefined : words.get(group.number)}
      selected={selected.includes(group.number)}
      pending={pending.includes(group.number)}
      position={{ index: index + 1, total: groups?.length ?? 0 }}
      toggle={() => toggle(group.number)}
      renamed={reload}
      drop={(dragged) => void drop(dragged, group.number)}
    />
  );
  return (
    <main class="groups">
      <div class="groups-head">
        <div>
          <h1>Groups</h1>
          {session && groups && (
            <p class="lead">
              {count(session.items, "item")} in {count(groups.length, "group")}, based on{" "}
              {count(now?.progress.answers ?? 0, "answer")}. {now?.progress.quality}{" "}
              <Link to="/map">Show on the map</Link>
              {session.posterior && (
                <>
                  {" · "}
                  <Link to="/uncertainty" hash={GROUPINGS_HASH}>
                    Show another plausible grouping
                  </Link>
                </>
              )}
            </p>
          )}
        </div>
        <div class="downloads">
          {FORMATS.filter((format) => session?.formats.includes(format)).map((format) => (
            <a
              key={format}
              class="button"
              href={client.url("/api/export", { query: { format } })}
              download
              aria-label={`Download as ${FORMAT_NAMES[format]}`}
            >
              ↓ {FORMAT_NAMES[format]}
            </a>
          ))}
        </div>
      </div>
      <ErrorNotice error={error} retry={reload} />
      {groups && groups.length > 1 && (
        <p class="hint">
          Are some groups the same kind? Select them
          <span class="by-key">
            {" "}
            and press <Keys keys={["m"]} />, or drag one onto the other
          </span>
          . Open a group to split it or to remove items.
        </p>
      )}
      {groups && <Gallery groups={groups} card={card} />}
      {selectedGroups.length > 0 && (
        <div class="selection-bar" role="toolbar" aria-label="Selected groups">
          <p>
            <strong>{selectedGroups.map((group) => group.name).join(", ")}</strong>
            {!mergeable && <span class="muted"> · select one more to merge</span>}
          </p>
          <button
            type="button"
            class="primary"
            disabled={!mergeable || acts.busy}
            aria-keyshortcuts="m"
            onClick={mergeSelected}
          >
            <Keys keys={["m"]} /> Merge
          </button>
          <button type="button" class="quiet" onClick={() => setSelected([])}>
            <Keys keys={["Esc"]} /> Clear
          </button>
        </div>
      )}
      <Toast acts={acts} />
    </main>
  );
}
