/** The dry run: what would be written, before anything is. */

import type { Plan } from "../jobs-api";
import { Notice } from "../parts/notice";
import { count } from "../parts/progress";
import { bytes } from "../start/words";

interface Props {
  plan: Plan;
  write: () => void;
}

export function PlanView({ plan, write }: Props) {
  const possible = plan.conflicts.length === 0;
  return (
    <section class="plan" aria-labelledby="plan-title">
      <h3 id="plan-title">The plan</h3>
      <p>
        {count(plan.items, "item")} in {count(plan.groups, "group")}:{" "}
        {count(plan.files, "file")}
        {plan.folders.length > 0 && ` in ${count(plan.folders.length, "folder")}`} would be written
        to <code>{plan.target}</code>
        {plan.bytes ? `, ${bytes(plan.bytes)}` : ""}. Nothing has been written yet.
      </p>
      {plan.conflicts.map((one) => (
        <Notice key={one} tone="warning">
          {one}
        </Notice>
      ))}
      {plan.notes.map((one) => (
        <p key={one} class="quiet-text">
          {one}
        </p>
      ))}
      {plan.folders.length > 0 && (
        <ul class="plan-folders">
          {plan.folders.map((folder) => (
            <li key={folder.name}>
              <span>{folder.name}</span>
              <span class="quiet-text">{count(folder.files, "file")}</span>
            </li>
          ))}
        </ul>
      )}
      {plan.folders.length > 0 && (
        <details>
          <summary>Names of the files</summary>
          <ul class="plan-names">
            {plan.names.map((name) => (
              <li key={name}>{name}</li>
            ))}
            {plan.files > plan.names.length && (
              <li class="quiet-text">
                and {(plan.files - plan.names.length).toLocaleString("en")} more
              </li>
            )}
          </ul>
        </details>
      )}
      <button type="button" class="primary" disabled={!possible} onClick={write}>
        Write it
      </button>
    </section>
  );
}
