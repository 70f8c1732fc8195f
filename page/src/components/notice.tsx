/** A message, with what can be done about it. */

import type { ComponentChildren } from "preact";
import "./notice.css";

interface Props {
  tone: "info" | "warning";
  children: ComponentChildren;
  action?: { label: string; run: () => void };
}

export function Notice({ tone, children, action }: Props) {
  return (
    <div class={`notice ${tone}`} role={tone === "warning" ? "alert" : "status"}>
      <div>{children}</div>
      {action && (
        <button type="button" onClick={action.run}>
          {action.label}
        </button>
      )}
    </div>
  );
}
