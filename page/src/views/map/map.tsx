/** The map: all items in one picture, coloured by group. The lasso marks items as the same kind. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { MapGroup } from "../../api/schema";
import { ErrorNotice } from "../../components/error-notice";
import { slotsFor } from "../../components/group-colours";
import { GroupPicker } from "../../components/group-picker";
import { Link } from "../../components/link";
import { Notice } from "../../components/notice";
import { Toast } from "../../components/toast";
import { count } from "../../format";
import { isHandledByControl, useKeys } from "../../keyboard/keys";
import { useActs } from "../../workspace/use-acts";
import type { Workspace } from "../../workspace/use-workspace";
import { Board } from "./board";
import { LassoBar } from "./lasso-bar";
import { Legend } from "./legend";
import type { RendererKind } from "./renderer";
import type { DragMode, Scatter } from "./scatter";
import { MapSearch } from "./search";
import { Tools, ZOOM_STEP } from "./tools";
import { type MapData, useMap } from "./use-map";
import "./map.css";

/** How far one press of an arrow key moves the map, in pixels. */
const PAN_STEP = 60;
/** Items that one change by hand may name. */
const MAX_SELECTED = 5000;
/** Keys that repeat while they are held down, besides the arrows. */
const REPEATING = "+=-";

function Description({ map, refitting }: { map: MapData; refitting: boolean }) {
  const { n, groups, stage } = map.info;
  return (
    <p class="lead" role="status">
      {count(n, "item")} in {count(groups.length, "group")}.{" "}
      {refitting
        ? "The groups are being updated, so points will move."
        : stage === "pca"
          ? "This is a quick sketch. A better map is on its way."
          : "Items that look alike are close together."}
    </p>
  );
}

function RendererNotice({ kind }: { kind: RendererKind | null }) {
  if (kind === null) {
    return (
      <Notice tone="info">
        This browser cannot draw the map. The <Link to="/groups">groups</Link> show the same items.
      </Notice>
    );
  }
  if (kind === "webgl") return null;
  return (
    <p class="hint">
      Drawn without WebGL, because there is no graphics card. You can do the same in the{" "}
      <Link to="/groups">groups</Link>.
    </p>
  );
}

function HighlightedGroup({ group, zoom }: { group: MapGroup; zoom: () => void }) {
  return (
    <div class="highlighted-group" role="status">
      <strong>{group.name}</strong>
      <span class="muted">{count(group.size, "item")}</span>
      <button type="button" onClick={zoom}>
        Zoom in
      </button>
      <Link to={`/groups/${group.number}`} className="button">
        See items
      </Link>
    </div>
  );
}

export function MapPage({ workspace }: { workspace: Workspace }) {
  const { client, now } = workspace;
  const acts = useActs(workspace);
  const { data: map, error, reload } = useMap(workspace);
  const scatter = useRef<Scatter>(null);
  const slots = slotsFor(client);
  const [highlighted, setHighlighted] = useState<ReadonlySet<number>>(new Set());
  const [selected, setSelected] = useState<readonly number[] | null>(null);
  const [selectedLow, setSelectedLow] = useState(false);
  const [mode, setMode] = useState<DragMode>("pan");
  const [found, setFound] = useState<readonly number[] | null>(null);
  const [picking, setPicking] = useState(false);
  const [renderer, setRenderer] = useState<RendererKind | null>("webgl");
  const groups = map?.info.groups ?? [];

  useEffect(() => {
    const existing = new Set(groups.map((group) => group.number));
    setHighlighted((before) =>
      before.size ? new Set([...before].filter((number) => existing.has(number))) : before,
    );
  }, [map?.info]);

  const select = (points: number[]) => {
    setSelectedLow(scatter.current?.isLow(points) ?? false);
    setSelected(points.length > 0 ? points : null);
  };
  const selectCentre = () => scatter.current?.closeLoop(scatter.current.centreCircle());
  const together = async () => {
    if (!selected || selected.length < 2) return;
    const items = [...selected];
    if (await acts.perform((_, aside) => client.post("/api/acts/together", { body: { items, ...aside } }))) setSelected(null);
  };
  const move = async (to: number) => {
    setPicking(false);
    if (!selected) return;
    const items = [...selected];
    if (await acts.perform((_, aside) => client.post("/api/acts/move", { body: { items, to, ...aside } }))) setSelected(null);
  };
  const toggle = (number: number) => {
    const after = new Set(highlighted);
    if (!after.delete(number)) after.add(number);
    setHighlighted(after);
    setSelected(null);
  };

  const actions: Record<string, () => void> = {
    "+": () => scatter.current?.zoom(ZOOM_STEP),
    "=": () => scatter.current?.zoom(ZOOM_STEP),
    "-": () => scatter.current?.zoom(1 / ZOOM_STEP),
    "0": () => scatter.current?.flyTo(null),
    l: () => setMode(mode === "lasso" ? "pan" : "lasso"),
    c: selectCentre,
    ArrowLeft: () => scatter.current?.pan(PAN_STEP, 0),
    ArrowRight: () => scatter.current?.pan(-PAN_STEP, 0),
    ArrowUp: () => scatter.current?.pan(0, PAN_STEP),
    ArrowDown: () => scatter.current?.pan(0, -PAN_STEP),
    Escape: () => (selected ? setSelected(null) : setHighlighted(new Set())),
    ...(selected && { Enter: () => void together(), g: () => setPicking(true) }),
  };
  useKeys((event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || picking) return;
    if (isHandledByControl(event.target, event.key)) return;
    const action = actions[event.key];
    if (!action || (event.repeat && event.key.length === 1 && !REPEATING.includes(event.key))) return;
    event.preventDefault();
    action();
  });

  const only = highlighted.size === 1 ? groups.find((group) => highlighted.has(group.number)) : undefined;
  const zoomToOnly = () => {
    if (!map || !only) return;
    const index = groups.indexOf(only);
    const points: number[] = [];
    map.points.group.forEach((group, k) => group === index && points.push(k));
    scatter.current?.flyTo(points);
  };
  return (
    <main class="map">
      <div class="map-head">
        <div>
          <h1>Map</h1>
          {map ? (
            <Description map={map} refitting={now?.progress.refitting ?? false} />
          ) : (
            <p class="lead">{error ? "" : "…"}</p>
          )}
        </div>
        <Tools mode={mode} setMode={setMode} scatter={scatter} selectCentre={selectCentre} />
      </div>
      <div class="map-finding">
        <MapSearch client={client} snapshot={map?.info.snapshot ?? 0} group={only?.number ?? null} found={setFound} />
        {found !== null && found.length > 0 && (
          <>
            <button type="button" onClick={() => scatter.current?.flyTo(found)}>
              Zoom to them
            </button>
            {found.length <= MAX_SELECTED && (
              <button type="button" onClick={() => select([...found])}>
                Select them
              </button>
            )}
          </>
        )}
      </div>
      <ErrorNotice error={error} retry={reload} />
      <RendererNotice kind={renderer} />
      {map && (
        <div class="map-body">
          <div class="board-area">
            <Board
              client={client}
              map={map}
              slots={slots}
              highlighted={highlighted}
              selected={selected ?? found}
              mode={mode}
              scatter={scatter}
              onLasso={select}
              onRenderer={setRenderer}
            />
            {selected && (
              <LassoBar
                client={client}
                selected={selected}
                above={selectedLow}
                points={map.points}
                groups={groups}
                slots={slots}
                busy={acts.busy}
                together={() => void together()}
                move={() => setPicking(true)}
                cancel={() => setSelected(null)}
              />
            )}
            {!selected && only && <HighlightedGroup group={only} zoom={zoomToOnly} />}
          </div>
          <Legend
            groups={groups}
            slots={slots}
            highlighted={highlighted}
            toggle={toggle}
            clear={() => setHighlighted(new Set())}
          />
        </div>
      )}
      {picking && selected && (
        <GroupPicker
          title={`Move ${count(selected.length, "item")} to…`}
          groups={groups}
          slots={slots}
          choose={(to) => void move(to)}
          close={() => setPicking(false)}
        />
      )}
      <Toast acts={acts} />
    </main>
  );
}
