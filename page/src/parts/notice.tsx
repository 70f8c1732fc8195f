/** A message in words, with what can be done about it. */

import type { ComponentChildren } from "preact";

interface Props {
  tone: "info" | "warning";
  children: ComponentChildren;
  act?: { label: string; go: () => void };
}

export function Notice({ tone, children, act }: Props) {
  return (
    <div class={`notice ${tone}`} role={tone === "warning" ? "alert" : "status"}>
      <div>{children}</div>
      {act && (
        <button type="button" onClick={act.go}>
          {act.label}
        </button>
      )}
    </div>
  );
}
