/** Drag items and groups onto a group. */

import { useState } from "preact/hooks";

/** What is being dragged. Browsers reveal the data of a drag only when it is dropped. */
export type Dragged = { items: number[]; from: number } | { group: number };

let current: Dragged | null = null;

const TYPE = "application/x-samekind";

/** Event handlers for something that can be dragged. */
export function draggable(what: () => Dragged, label: () => string) {
  return {
    draggable: true,
    onDragStart: (event: DragEvent) => {
      event.stopPropagation();
      current = what();
      event.dataTransfer?.setData(TYPE, "");
      event.dataTransfer?.setData("text/plain", label());
      if (event.dataTransfer) event.dataTransfer.effectAllowed = "move";
    },
    onDragEnd: () => {
      current = null;
    },
  };
}

/** Event handlers for a drop target; `over` while something is dragged over it. */
export function useDropTarget(accepts: (dragged: Dragged) => boolean, drop: (dragged: Dragged) => void) {
  const [over, setOver] = useState(false);
  const enter = (event: DragEvent) => {
    if (current === null || !accepts(current)) return;
    event.preventDefault();
    if (event.dataTransfer) event.dataTransfer.dropEffect = "move";
    setOver(true);
  };
  return {
    over,
    handlers: {
      onDragEnter: enter,
      onDragOver: enter,
      onDragLeave: (event: DragEvent & { currentTarget: HTMLElement }) => {
        const to = event.relatedTarget;
        if (!(to instanceof Node) || !event.currentTarget.contains(to)) setOver(false);
      },
      onDrop: (event: DragEvent) => {
        setOver(false);
        const dragged = current;
        current = null;
        if (dragged === null || !accepts(dragged)) return;
        event.preventDefault();
        drop(dragged);
      },
    },
  };
}
