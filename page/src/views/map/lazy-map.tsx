/** The map is loaded when it is first opened, so that answering questions does not wait for it. */

import { useResource } from "../../api/use-resource";
import type { Workspace } from "../../workspace/use-workspace";

export function LazyMapPage({ workspace }: { workspace: Workspace }) {
  const { data, error } = useResource(() => import("./map"), []);
  if (data) return <data.MapPage workspace={workspace} />;
  return (
    <main class="map">
      <h1>Map</h1>
      <p class="lead">{error ? "The map could not be loaded. Reload the page." : "…"}</p>
    </main>
  );
}
