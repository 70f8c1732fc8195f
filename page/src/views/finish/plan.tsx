/** The dry run: what would be written, before anything is. */

import type { PlanView } from "../../api/schema";
import { Notice } from "../../components/notice";
import { bytes, count, number } from "../../format";

interface Props {
  plan: PlanView;
  write: () => void;
}

export function Plan({ plan, write }: Props) {
  const { folders, names, files } = plan;
  return (
    <section class="plan" aria-labelledby="plan-title">
      <h3 id="plan-title">Preview</h3>
      <p>
        {count(plan.items, "item")} in {count(plan.groups, "group")}: {count(files, "file")}
        {folders.length > 0 && ` in ${count(folders.length, "folder")}`} will be written to{" "}
        <code>{plan.target}</code>
        {plan.bytes ? `, ${bytes(plan.bytes)}` : ""}. Nothing has been written yet.
      </p>
      {plan.conflicts.map((conflict) => (
        <Notice key={conflict} tone="warning">
          {conflict}
        </Notice>
      ))}
      {plan.notes.map((note) => (
        <p key={note} class="muted">
          {note}
        </p>
      ))}
      {folders.length > 0 && (
        <>
          <ul class="plan-folders">
            {folders.map((folder) => (
              <li key={folder.name}>
                <span>{folder.name}</span>
                <span class="muted">{count(folder.files, "file")}</span>
              </li>
            ))}
          </ul>
          <details>
            <summary>File names</summary>
            <ul class="plan-names">
              {names.map((name) => (
                <li key={name}>{name}</li>
              ))}
              {files > names.length && <li class="muted">and {number(files - names.length)} more</li>}
            </ul>
          </details>
        </>
      )}
      <button type="button" class="primary" disabled={plan.conflicts.length > 0} onClick={write}>
        Export
      </button>
    </section>
  );
}
