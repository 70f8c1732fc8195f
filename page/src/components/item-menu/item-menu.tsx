/** The menu of an item, the same wherever it is shown: zoom, correct, look for others, ask why. */

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { ApiError } from "../../api/client";
import type { ItemPlace } from "../../api/schema";
import { useResource } from "../../api/use-resource";
import { GroupPicker } from "../group-picker";
import { slotsFor } from "../group-colours";
import { Swatch } from "../swatch";
import { Toast } from "../toast";
import { useKeys } from "../../keyboard/keys";
import { useActs } from "../../workspace/use-acts";
import type { Workspace } from "../../workspace/use-workspace";
import { isMenuKey, type MenuRequest, onMenuRequest, requestAtFocus } from "./open-menu";
import { FullSize, Similar, Why } from "./panels";
import "./item-menu.css";

type Panel = "zoom" | "similar" | "why" | "move";

interface HostProps {
  workspace: Workspace;
  /** Whether the view itself shows what acts did. */
  hasToast: boolean;
}

/** Shows the menu that is asked for with `openItemMenu`; one per page. */
export function ItemMenuHost({ workspace, hasToast }: HostProps) {
  const [request, setRequest] = useState<MenuRequest | null>(null);
  const [panel, setPanel] = useState<Panel | null>(null);
  const acts = useActs(workspace);
  useEffect(
    () =>
      onMenuRequest((wanted) => {
        setRequest(wanted);
        setPanel(null);
      }),
    [],
  );
  useKeys((event) => {
    const wanted = isMenuKey(event) && !document.querySelector("dialog[open]") && requestAtFocus();
    if (!wanted) return;
    event.preventDefault();
    setRequest(wanted);
    setPanel(null);
  });
  const { client, now } = workspace;
  const id = request?.item.id ?? null;
  const place = useResource(
    id === null ? null : (signal) => client.get("/api/items/{id}/place", { path: { id }, signal }),
    [client, id],
    { refreshOn: [now?.progress.snapshot] },
  );
  const close = () => {
    setRequest(null);
    setPanel(null);
  };
  const found = place.data?.item.id === id ? place.data : null;
  const wrong = () => {
    if (!found) return;
    const items = [found.item.position];
    void acts.perform((_, aside) => client.post("/api/acts/out", { body: { items, ...aside } }));
    close();
  };
  return (
    <>
      {!hasToast && <Toast acts={acts} />}
      {request && panel === null && (
        <Menu request={request} place={found} error={place.error} choose={setPanel} wrong={wrong} close={close} />
      )}
      {request && panel === "zoom" && <FullSize item={request.item} close={close} />}
      {request && panel === "similar" && <Similar workspace={workspace} item={request.item} close={close} />}
      {found && panel === "why" && <Why place={found} close={close} />}
      {found && panel === "move" && <MoveTo workspace={workspace} place={found} close={close} />}
    </>
  );
}

interface MenuProps {
  request: MenuRequest;
  place: ItemPlace | null;
  error: ApiError | null;
  choose: (panel: Panel) => void;
  wrong: () => void;
  close: () => void;
}

function Menu({ request, place, error, choose, wrong, close }: MenuProps) {
  const menu = useRef<HTMLDivElement>(null);
  const before = useRef(document.activeElement);
  const [at, setAt] = useState({ left: request.x, top: request.y });
  const grouped = place !== null && place.group !== null;

  useLayoutEffect(() => {
    const box = menu.current?.getBoundingClientRect();
    if (!box) return;
    setAt({
      left: Math.max(8, Math.min(request.x, innerWidth - box.width - 8)),
      top: Math.max(8, Math.min(request.y, innerHeight - box.height - 8)),
    });
  }, [request, grouped]);
  useLayoutEffect(() => {
    menu.current?.querySelector<HTMLElement>("[role=menuitem]")?.focus();
    return () => (before.current as HTMLElement | null)?.focus?.({ preventScroll: true });
  }, []);
  useEffect(() => {
    const outside = (event: Event) => {
      if (!menu.current?.contains(event.target as Node)) close();
    };
    addEventListener("pointerdown", outside, true);
    addEventListener("scroll", close, { once: true });
    return () => {
      removeEventListener("pointerdown", outside, true);
      removeEventListener("scroll", close);
    };
  }, [close]);

  const press = (event: KeyboardEvent) => {
    const entries = [...(menu.current?.querySelectorAll<HTMLElement>("[role=menuitem]") ?? [])];
    const index = entries.indexOf(document.activeElement as HTMLElement);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    event.stopPropagation(); // the keys of the view behind mean nothing here
    if (step) entries[(index + step + entries.length) % entries.length]?.focus();
    else if (event.key === "Escape" || event.key === "Tab") close();
    else return; // Return and space press the entry
    event.preventDefault();
  };
  const entry = (label: string, run: () => void) => (
    <button type="button" role="menuitem" tabIndex={-1} onClick={run}>
      {label}
    </button>
  );
  return (
    <div ref={menu} class="item-menu" role="menu" aria-label={request.item.id} style={at} onKeyDown={press} onContextMenu={(event) => event.preventDefault()}>
      <p class="item-menu-head" role="presentation">
        <strong>{request.item.id}</strong>
        <span class="muted">
          {place?.place != null && <Swatch slot={place.place} />}
          {error ? error.message : place === null ? "…" : place.name || place.words}
        </span>
      </p>
      {entry("Zoom in", () => choose("zoom"))}
      {grouped && entry("Wrong here", wrong)}
      {grouped && entry("Move to…", () => choose("move"))}
      {entry("Show similar", () => choose("similar"))}
      {grouped && entry("Why here?", () => choose("why"))}
    </div>
  );
}

interface MoveProps {
  workspace: Workspace;
  place: ItemPlace;
  close: () => void;
}

function MoveTo({ workspace, place, close }: MoveProps) {
  const { client } = workspace;
  const acts = useActs(workspace);
  const groups = useResource((signal) => client.get("/api/groups", { signal }), [client]);
  const others = (groups.data?.groups ?? []).filter((group) => group.number !== place.group);
  const slots = slotsFor(client);
  slots.assign(groups.data?.groups ?? []);
  return (
    <GroupPicker
      title={`Move ${place.item.id} to…`}
      groups={others}
      slots={slots}
      choose={(to) => {
        const items = [place.item.position];
        void acts.perform((_, aside) => client.post("/api/acts/move", { body: { items, to, ...aside } }));
        close();
      }}
      close={close}
    />
  );
}
