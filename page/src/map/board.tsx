/** The map itself: a canvas, the loop above it, and what lies under the pointer. */

import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { colourOf, look, rgb, type Rgb, type Slots } from "./colours";
import { useDark } from "./dark";
import { HoverCard, type Hovered } from "./hover-card";
import { Scatter } from "./scatter";
import type { ActsApi } from "../acts-api";
import type { Mapped } from "./use-map";

interface Props {
  api: ActsApi;
  mapped: Mapped;
  slots: Slots;
  lit: ReadonlySet<number>;
  caught: readonly number[] | null;
  mode: "pan" | "lasso";
  scatter: RefObject<Scatter>;
  lasso: (points: number[]) => void;
  /** Told how the points are drawn; null: not at all. */
  drawn: (kind: "webgl" | "flat" | null) => void;
}

const GREY: Record<"light" | "dark", Rgb> = { light: [168, 170, 170], dark: [92, 99, 104] };

function path(loop: readonly number[]): string {
  let text = "";
  for (let k = 0; k < loop.length; k += 2) {
    text += `${k === 0 ? "M" : "L"}${loop[k]?.toFixed(1)} ${loop[k + 1]?.toFixed(1)}`;
  }
  return text && `${text}Z`;
}

export function Board({ api, mapped, slots, lit, caught, mode, scatter, lasso, drawn }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const loop = useRef<SVGPathElement>(null);
  const [hovered, setHovered] = useState<Hovered | null>(null);
  /** How many canvases were given up; from the first one on it is drawn flat. */
  const [lost, setLost] = useState(0);
  const latest = useRef({ lasso, drawn });
  latest.current = { lasso, drawn };
  const dark = useDark();
  const { info, points } = mapped;

  useEffect(() => {
    if (!canvas.current) return;
    const made = Scatter.on(
      canvas.current,
      points.n,
      {
        hover: (point, at) => setHovered(point === null ? null : { point, at }),
        lasso: (found) => latest.current.lasso(found),
        loop: (shape) => loop.current?.setAttribute("d", path(shape)),
        lost: () => setLost((n) => n + 1),
      },
      lost > 0,
    );
    if (made === null && lost === 0) {
      setLost(1);
      return;
    }
    scatter.current = made;
    latest.current.drawn(made?.kind ?? null);
    return () => {
      scatter.current = null;
      made?.dispose();
    };
  }, [lost]);

  useEffect(() => scatter.current?.show(points), [points, lost]);
  useEffect(() => {
    const looks = info.groups.map(({ number }) => {
      const slot = slots.of(number);
      return {
        rgb: rgb(colourOf(slot, dark)),
        shape: look(slot).shape,
        lit: lit.size === 0 || lit.has(number),
      };
    });
    scatter.current?.dress(looks, dark ? GREY.dark : GREY.light);
  }, [info, lit, dark, lost]);
  useEffect(() => scatter.current?.mark(caught), [caught, points, lost]);
  useEffect(() => {
    if (scatter.current) scatter.current.mode = mode;
  }, [mode, lost]);

  const group = hovered ? info.groups[points.group[hovered.point] ?? 0] : undefined;
  const size = scatter.current?.size ?? { width: 0, height: 0 };
  return (
    <div class={`board ${mode}`}>
      <canvas
        key={lost}
        ref={canvas}
        tabIndex={0}
        role="application"
        aria-label={`Map of ${info.n.toLocaleString("en")} items in ${info.groups.length} groups`}
        aria-describedby="map-keys"
      />
      <svg class="loop" aria-hidden="true">
        <path ref={loop} />
        {hovered && <circle cx={hovered.at[0]} cy={hovered.at[1]} r="9" />}
      </svg>
      {hovered && group && (
        <HoverCard
          api={api}
          hovered={hovered}
          size={size}
          name={group.name}
          slot={slots.of(group.number)}
        />
      )}
    </div>
  );
}
