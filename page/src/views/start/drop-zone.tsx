/** The place to bring files: drop them anywhere on the page, or choose a folder. */

import { useEffect, useRef, useState } from "preact/hooks";
import { chosenFiles, type Dropped, droppedFiles } from "./upload";
import "./drop-zone.css";

interface Props {
  bring: (files: Dropped[]) => void;
  browse: () => void;
}

export function DropZone({ bring, browse }: Props) {
  const [over, setOver] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const isFiles = (event: DragEvent) => event.dataTransfer?.types.includes("Files") ?? false;
    const enter = (event: DragEvent) => {
      if (!isFiles(event)) return;
      event.preventDefault();
      setOver(true);
    };
    const leave = (event: DragEvent) => event.relatedTarget === null && setOver(false);
    const drop = (event: DragEvent) => {
      if (!isFiles(event) || event.dataTransfer === null) return;
      event.preventDefault();
      setOver(false);
      void droppedFiles(event.dataTransfer).then(bring);
    };
    addEventListener("dragover", enter);
    addEventListener("dragleave", leave);
    addEventListener("drop", drop);
    return () => {
      removeEventListener("dragover", enter);
      removeEventListener("dragleave", leave);
      removeEventListener("drop", drop);
    };
  }, [bring]);
  return (
    <section class={over ? "drop-zone over" : "drop-zone"} aria-label="Bring files">
      <p class="drop-words">
        <strong>{over ? "Drop them here" : "Drop photos or a folder here"}</strong>
        <span class="muted">Dropped files are copied. A folder that you choose stays where it is.</span>
      </p>
      <div class="drop-buttons">
        <button type="button" class="primary" onClick={browse}>
          Choose a folder
        </button>
        <button type="button" onClick={() => input.current?.click()}>
          Copy files
        </button>
        <input
          ref={input}
          type="file"
          multiple
          hidden
          aria-label="Files to copy"
          onChange={(event) => bring(chosenFiles(event.currentTarget.files))}
        />
      </div>
    </section>
  );
}
