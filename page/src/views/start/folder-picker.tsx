/** Browse the folders of this machine that may be opened. */

import { useState } from "preact/hooks";
import { server } from "../../api/client";
import type { FolderListing } from "../../api/schema";
import { useResource } from "../../api/use-resource";
import { Dialog } from "../../components/dialog";
import { ErrorNotice } from "../../components/error-notice";
import { count } from "../../format";
import "./folder-picker.css";

interface Props {
  choose: (path: string) => void;
  close: () => void;
}

/** What lies directly in a folder, in words. */
export function contents({ pictures, texts, folders }: FolderListing): string {
  const parts = [
    ...(pictures > 0 ? [count(pictures, "picture")] : []),
    ...(texts > 0 ? [count(texts, "text")] : []),
    ...(folders.length > 0 ? [count(folders.length, "folder")] : []),
  ];
  return parts.length > 0 ? `${parts.join(", ")} here` : "Nothing here that can be opened";
}

export function FolderPicker({ choose, close }: Props) {
  const [path, setPath] = useState("");
  const { data, error, loading } = useResource(
    (signal) => server.post("/api/start/browse", { body: { path }, signal }),
    [path],
  );
  const usable = data !== null && data.path !== "" && data.pictures + data.texts + data.folders.length > 0;
  return (
    <Dialog title="Choose a folder" close={close}>
      <ErrorNotice error={error} />
      {error && (
        <button type="button" onClick={() => setPath("")}>
          Back to the beginning
        </button>
      )}
      {data && (
        <>
          <div class="picker-head">
            {data.parent !== null && (
              <button type="button" onClick={() => setPath(data.parent ?? "")} aria-label="Up one folder">
                ↑ Up
              </button>
            )}
            <span class="collection-path">{data.path || "Where would you like to look?"}</span>
          </div>
          <ul class="picker-list" aria-busy={loading}>
            {data.folders.map((folder) => (
              <li key={folder.path}>
                <button type="button" class="picker-row" onClick={() => setPath(folder.path)}>
                  <span aria-hidden="true">▸</span> {folder.name}
                </button>
              </li>
            ))}
            {data.files.map((file) => (
              <li key={file.path}>
                <button type="button" class="picker-row" onClick={() => choose(file.path)}>
                  {file.name}
                </button>
              </li>
            ))}
          </ul>
          {data.truncated && <p class="muted">There is more than is listed. Type the path instead.</p>}
          <div class="dialog-foot picker-foot">
            <span class="muted" role="status">
              {data.path && contents(data)}
            </span>
            <button type="button" class="primary" disabled={!usable} onClick={() => choose(data.path)}>
              Open this folder
            </button>
          </div>
        </>
      )}
    </Dialog>
  );
}
