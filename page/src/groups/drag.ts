/** Items and groups dragged onto a group. */

import { useState } from "preact/hooks";

/** What is being dragged; a browser tells it to the target only when it is let go. */
export type Load = { items: number[]; from: number } | { group: number };

let carried: Load | null = null;

const TYPE = "application/x-samekind";

/** For what can be dragged. */
export function dragged(load: () => Load, words: () => string) {
  return {
    draggable: true,
    onDragStart: (event: DragEvent) => {
      event.stopPropagation();
      carried = load();
      event.dataTransfer?.setData(TYPE, "");
      event.dataTransfer?.setData("text/plain", words());
      if (event.dataTransfer) event.dataTransfer.effectAllowed = "move";
    },
    onDragEnd: () => {
      carried = null;
    },
  };
}

/** For what something can be let go on; `over` while something hangs above it. */
export function useTarget(takes: (load: Load) => boolean, take: (load: Load) => void) {
  const [over, setOver] = useState(false);
  const welcome = (event: DragEvent) => {
    if (carried === null || !takes(carried)) return;
    event.preventDefault();
    if (event.dataTransfer) event.dataTransfer.dropEffect = "move";
    setOver(true);
  };
  return {
    over,
    target: {
      onDragEnter: welcome,
      onDragOver: welcome,
      onDragLeave: (event: DragEvent & { currentTarget: HTMLElement }) => {
        const to = event.relatedTarget;
        if (!(to instanceof Node) || !event.currentTarget.contains(to)) setOver(false);
      },
      onDrop: (event: DragEvent) => {
        setOver(false);
        const load = carried;
        carried = null;
        if (load === null || !takes(load)) return;
        event.preventDefault();
        take(load);
      },
    },
  };
}
