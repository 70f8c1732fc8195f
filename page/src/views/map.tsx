/** The map: all items in one picture, coloured by group; a loop around some says that they are one kind. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { Desk } from "../desk";
import { useActs } from "../groups/acts";
import { isTaken } from "../groups/busy";
import { Message } from "../groups/message";
import { GroupPicker } from "../groups/picker";
import { useKeys } from "../keys";
import { Board } from "../map/board";
import { slotsOf } from "../map/colours";
import { LassoBar } from "../map/lasso-bar";
import { Legend } from "../map/legend";
import type { Scatter } from "../map/scatter";
import { Tools } from "../map/tools";
import { useMap, type Mapped } from "../map/use-map";
import { Link } from "../parts/link";
import { Notice } from "../parts/notice";
import { count } from "../parts/progress";

/** How far one press of an arrow key moves the map, in pixels. */
const STRIDE = 60;

function Words({ mapped, desk }: { mapped: Mapped; desk: Desk }) {
  const { n, groups, stage } = mapped.info;
  const refitting = desk.now?.progress.refitting ?? false;
  return (
    <p class="why" role="status">
      {count(n, "item")} in {count(groups.length, "group")}.{" "}
      {refitting && "The groups are being refreshed; the points will move. "}
      {!refitting && stage === "pca" && "This is a first sketch; a better picture is being made."}
      {!refitting && stage !== "pca" && "What lies close together looks alike."}
    </p>
  );
}

export function MapOfItems({ desk }: { desk: Desk }) {
  const acts = useActs(desk);
  const { mapped, fault, load } = useMap(desk, acts.api);
  const scatter = useRef<Scatter>(null);
  const slots = slotsOf(desk.api);
  const [lit, setLit] = useState<ReadonlySet<number>>(new Set());
  const [caught, setCaught] = useState<readonly number[] | null>(null);
  const [low, setLow] = useState(false);
  const [mode, setMode] = useState<"pan" | "lasso">("pan");
  const [picking, setPicking] = useState(false);
  const [kind, setKind] = useState<"webgl" | "flat" | null>("webgl");

  useEffect(() => {
    const there = new Set(mapped?.info.groups.map((group) => group.number));
    setLit((before) => (before.size ? new Set([...before].filter((one) => there.has(one))) : before));
  }, [mapped?.info]);

  const take = (found: number[]) => {
    setLow(scatter.current?.low(found) ?? false);
    setCaught(found.length > 0 ? found : null);
  };
  const cancel = () => setCaught(null);
  const together = async () => {
    if (!caught || caught.length < 2) return;
    if (await acts.perform((api) => api.together([...caught]))) setCaught(null);
  };
  const move = async (to: number) => {
    setPicking(false);
    if (caught && (await acts.perform((api) => api.move([...caught], to)))) setCaught(null);
  };
  const toggle = (number: number) => {
    const after = new Set(lit);
    if (!after.delete(number)) after.add(number);
    setLit(after);
    setCaught(null);
  };
  const circle = () => scatter.current?.close(scatter.current.circle());

  const KEYS: Record<string, () => void> = {
    "+": () => scatter.current?.zoom(1.4),
    "=": () => scatter.current?.zoom(1.4),
    "-": () => scatter.current?.zoom(1 / 1.4),
    "0": () => scatter.current?.look(null),
    l: () => setMode(mode === "lasso" ? "pan" : "lasso"),
    c: circle,
    ArrowLeft: () => scatter.current?.pan(STRIDE, 0),
    ArrowRight: () => scatter.current?.pan(-STRIDE, 0),
    ArrowUp: () => scatter.current?.pan(0, STRIDE),
    ArrowDown: () => scatter.current?.pan(0, -STRIDE),
    Escape: () => (caught ? cancel() : setLit(new Set())),
    ...(caught && { Enter: () => void together(), g: () => setPicking(true) }),
  };
  useKeys((event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || picking) return;
    if (isTaken(event.target, event.key)) return;
    const doing = KEYS[event.key];
    if (!doing || (event.repeat && event.key.length === 1 && !"+=-".includes(event.key))) return;
    event.preventDefault();
    doing();
  });

  const groups = mapped?.info.groups ?? [];
  const only = lit.size === 1 ? groups.find((group) => lit.has(group.number)) : undefined;
  const lookAt = () => {
    if (!mapped || !only) return;
    const index = groups.indexOf(only);
    const which: number[] = [];
    mapped.points.group.forEach((one, k) => one === index && which.push(k));
    scatter.current?.look(which);
  };
  return (
    <main class="map">
      <div class="map-head">
        <div>
          <h1>Map</h1>
          {mapped ? <Words mapped={mapped} desk={desk} /> : <p class="why">{fault ? "" : "…"}</p>}
        </div>
        <Tools mode={mode} setMode={setMode} scatter={scatter} circle={circle} />
      </div>
      {fault && (
        <Notice tone="warning" act={{ label: "Try again", go: load }}>
          {fault.message} {fault.whatToDo}
        </Notice>
      )}
      {kind === "flat" && (
        <p class="how quiet-text">
          Drawn without WebGL: no graphics card can be used here. Everything can also be done in the{" "}
          <Link to="/groups">groups</Link>.
        </p>
      )}
      {kind === null && (
        <Notice tone="info">
          This browser cannot draw the map. The <Link to="/groups">groups</Link> show the same items.
        </Notice>
      )}
      {mapped && (
        <div class="map-body">
          <div class="board-place">
            <Board
              api={acts.api}
              mapped={mapped}
              slots={slots}
              lit={lit}
              caught={caught}
              mode={mode}
              scatter={scatter}
              lasso={take}
              drawn={setKind}
            />
            {caught && (
              <LassoBar
                api={acts.api}
                caught={caught}
                above={low}
                points={mapped.points}
                groups={groups}
                slots={slots}
                busy={acts.busy}
                together={() => void together()}
                move={() => setPicking(true)}
                cancel={cancel}
              />
            )}
            {!caught && only && (
              <div class="only" role="status">
                <strong>{only.name}</strong>
                <span class="quiet-text">{count(only.size, "item")}</span>
                <button type="button" onClick={lookAt}>
                  Zoom to it
                </button>
                <Link to={`/groups/${only.number}`} className="button">
                  See its items
                </Link>
              </div>
            )}
          </div>
          <Legend
            groups={groups}
            slots={slots}
            lit={lit}
            toggle={toggle}
            clear={() => setLit(new Set())}
          />
        </div>
      )}
      {picking && caught && (
        <GroupPicker
          title={`Move ${count(caught.length, "item")} to …`}
          groups={groups}
          slots={slots}
          choose={(to) => void move(to)}
          close={() => setPicking(false)}
        />
      )}
      <Message acts={acts} />
    </main>
  );
}
