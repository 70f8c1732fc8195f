/** The map itself: a canvas, the lasso above it, and the item under the pointer. */

import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Client } from "../../api/client";
import { appearance, colourOf, type Rgb, rgb, type Slots } from "../../components/group-colours";
import { isMenuKey, openItemMenu } from "../../components/item-menu/open-menu";
import { useDark } from "../../components/use-dark";
import { startHold } from "../../components/zoom";
import { number } from "../../format";
import { useKeys } from "../../keyboard/keys";
import { HoverCard, type Hovered } from "./hover-card";
import { Overlay, pointsInSight, type View } from "./overlay";
import type { RendererKind } from "./renderer";
import { type DragMode, Scatter } from "./scatter";
import type { MapData } from "./use-map";

interface Props {
  client: Client;
  map: MapData;
  slots: Slots;
  highlighted: ReadonlySet<number>;
  selected: readonly number[] | null;
  mode: DragMode;
  scatter: RefObject<Scatter>;
  onLasso: (points: number[]) => void;
  /** Called with how the points are drawn; `null`: they cannot be. */
  onRenderer: (kind: RendererKind | null) => void;
}

const GREY: Record<"light" | "dark", Rgb> = { light: [168, 170, 170], dark: [92, 99, 104] };

/** A closed SVG path through x and y in turn. */
function svgPath(loop: readonly number[]): string {
  let path = "";
  for (let k = 0; k < loop.length; k += 2) {
    path += `${k === 0 ? "M" : "L"}${loop[k]?.toFixed(1)} ${loop[k + 1]?.toFixed(1)}`;
  }
  return path && `${path}Z`;
}

export function Board(props: Props) {
  const { client, map, slots, highlighted, selected, mode, scatter, onLasso, onRenderer } = props;
  const canvas = useRef<HTMLCanvasElement>(null);
  const loop = useRef<SVGPathElement>(null);
  const [hovered, setHovered] = useState<Hovered | null>(null);
  /** How many canvases have failed. After the first one, WebGL is not tried again. */
  const [failures, setFailures] = useState(0);
  const [view, setView] = useState<(View & { still: boolean }) | null>(null);
  const latest = useRef({ onLasso, onRenderer });
  latest.current = { onLasso, onRenderer };
  const dark = useDark();
  const { info, points } = map;

  useEffect(() => {
    if (!canvas.current) return;
    const created = Scatter.create(
      canvas.current,
      points.n,
      {
        onHover: (point, at) => setHovered(point === null ? null : { point, at }),
        onLasso: (found) => latest.current.onLasso(found),
        onLoop: (shape) => loop.current?.setAttribute("d", svgPath(shape)),
        onFrame: (still) => {
          const { camera, size } = scatter.current ?? { camera: null, size: null };
          if (camera && size) setView({ camera, size, still });
        },
        onContextLost: () => setFailures((n) => n + 1),
      },
      failures > 0,
    );
    if (created === null && failures === 0) {
      setFailures(1);
      return;
    }
    scatter.current = created;
    latest.current.onRenderer(created?.kind ?? null);
    return () => {
      scatter.current = null;
      created?.dispose();
    };
  }, [failures]);

  useEffect(() => {
    scatter.current?.show(points);
    if (canvas.current) canvas.current.dataset.version = String(info.version);
  }, [points, failures]);
  useEffect(() => {
    const styles = info.groups.map((group) => {
      const slot = slots.of(group.number);
      return {
        rgb: rgb(colourOf(slot, dark)),
        shape: appearance(slot).shape,
        coloured: highlighted.size === 0 || highlighted.has(group.number),
      };
    });
    scatter.current?.setStyles(styles, dark ? GREY.dark : GREY.light);
  }, [info, highlighted, dark, failures]);
  useEffect(() => scatter.current?.select(selected), [selected, points, failures]);
  useEffect(() => {
    if (scatter.current) scatter.current.mode = mode;
  }, [failures]);
  // Before the next event: who presses "Lasso" and draws at once does not move the map.
  useLayoutEffect(() => {
    if (scatter.current) scatter.current.mode = mode;
  }, [mode]);

  const itemOf = async (point: number) => {
    const query = { positions: String(point) };
    return (await client.get("/api/map/items", { query })).items[0];
  };
  /** Open the menu of an item; places are relative to the canvas. */
  const openMenu = async (point: number, [x, y]: [number, number]) => {
    const item = await itemOf(point);
    const box = canvas.current?.getBoundingClientRect();
    if (item && box) openItemMenu({ item, x: box.left + x, y: box.top + y });
  };
  const pointUnder = (event: MouseEvent) => {
    const box = canvas.current?.getBoundingClientRect() ?? new DOMRect();
    const at: [number, number] = [event.clientX - box.left, event.clientY - box.top];
    const finger = (event as PointerEvent).pointerType === "touch";
    return { point: scatter.current?.pointAt(...at, finger) ?? null, at };
  };
  const onContextMenu = (event: MouseEvent) => {
    event.preventDefault();
    if ((event as PointerEvent).pointerType === "touch") return; // holding enlarges
    const { point, at } = pointUnder(event);
    if (point !== null) void openMenu(point, at);
  };
  /** A finger that holds a point enlarges its item, as everywhere. */
  const onPointerDown = async (event: PointerEvent) => {
    const { point } = pointUnder(event);
    if (event.pointerType !== "touch" || !event.isPrimary || mode !== "pan" || point === null) return;
    const over = new AbortController();
    const end = (other: Event) => other !== event && over.abort();
    for (const type of ["pointerup", "pointercancel", "pointerdown"]) {
      addEventListener(type, end, { signal: over.signal });
    }
    const item = await itemOf(point);
    if (item && !over.signal.aborted) startHold(item, event);
    over.abort();
  };
  useKeys((event) => {
    if (!isMenuKey(event) || document.querySelector("dialog, [role=menu]")) return;
    const found = scatter.current?.centralPoint();
    if (!found) return;
    event.preventDefault();
    setHovered(found);
    void openMenu(found.point, found.at);
  });

  // Looked for when nothing moves, and kept while it does.
  const inSight = useRef<number[]>([]);
  if (view?.still) inSight.current = pointsInSight(map, view) ?? [];
  const group = hovered ? info.groups[points.group[hovered.point] ?? 0] : undefined;
  return (
    <div class={`board ${mode}`}>
      <canvas
        key={failures}
        ref={canvas}
        tabIndex={0}
        role="application"
        aria-label={`Map of ${number(info.n)} items in ${info.groups.length} groups`}
        aria-describedby="map-keys"
        onContextMenu={onContextMenu}
        onPointerDown={(event) => void onPointerDown(event)}
      />
      <svg class="lasso-loop" aria-hidden="true">
        <path ref={loop} />
        {hovered && <circle cx={hovered.at[0]} cy={hovered.at[1]} r="9" />}
      </svg>
      {view && <Overlay client={client} map={map} view={view} inSight={inSight.current} />}
      {hovered && group && (
        <HoverCard
          client={client}
          hovered={hovered}
          size={scatter.current?.size ?? { width: 0, height: 0 }}
          name={group.name}
          slot={slots.of(group.number)}
          openMenu={() => void openMenu(hovered.point, hovered.at)}
        />
      )}
    </div>
  );
}
