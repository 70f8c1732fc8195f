/** The frame of every page: navigation, progress, notices, and the view that the address names. */

import { useEffect, useState } from "preact/hooks";
import { ItemMenuHost } from "./components/item-menu/item-menu";
import { Link } from "./components/link";
import { Navigation, type View as NamedView } from "./components/navigation";
import { Notice } from "./components/notice";
import { ProgressLine } from "./components/progress-line";
import { UnseenNotice } from "./components/unseen-notice";
import { count, countItems } from "./format";
import { navigate, type Route, useRoute } from "./router";
import { AnswersPage } from "./views/answers/answers";
import { ComparePage } from "./views/compare/compare";
import { ConflictsPage } from "./views/conflicts/conflicts";
import { FinishPage } from "./views/finish/finish";
import { PolishPage } from "./views/finish/polish";
import { GroupPage } from "./views/groups/group";
import { GroupsPage } from "./views/groups/groups";
import { LazyMapPage } from "./views/map/lazy-map";
import { NewItemsPage } from "./views/new/new";
import { OrientationsPage } from "./views/orientations/orientations";
import { ProgressPage } from "./views/progress/progress";
import { ReviewPage } from "./views/review/review";
import { QuestionsPage } from "./views/questions/questions";
import { AnalysisBar } from "./views/start/analysis-bar";
import { StartPage } from "./views/start/start";
import { UncertaintyPage } from "./views/uncertainty/uncertainty";
import { useWorkspace, type Workspace } from "./workspace/use-workspace";
import "./app.css";

/** Views that show themselves what changes by hand did. */
const HAVE_TOASTS = /^\/(groups|map|new|uncertainty)/;

/** Linked where the method knows how sure it is. */
const UNCERTAINTY = "/uncertainty";

const NAVIGATION: NamedView[] = [
  ["/", "Questions"],
  ["/groups", "Groups"],
  ["/map", "Map"],
  ["/review", "Review"],
  [UNCERTAINTY, "Uncertainty"],
  ["/progress", "Progress"],
  ["/answers", "Answers"],
  ["/groupings", "Groupings"],
  ["/finish", "Finish"],
];

function View({ path, workspace }: { path: string; workspace: Workspace }) {
  const group = /^\/groups\/(\d+)$/.exec(path)?.[1];
  if (group !== undefined) return <GroupPage workspace={workspace} number={Number(group)} />;
  if (path === "/groups") return <GroupsPage workspace={workspace} />;
  if (path === "/map") return <LazyMapPage workspace={workspace} />;
  if (path === "/answers") return <AnswersPage workspace={workspace} />;
  if (path === "/progress") return <ProgressPage workspace={workspace} />;
  if (path === "/conflicts") return <ConflictsPage workspace={workspace} />;
  if (path === "/compare") return <ComparePage workspace={workspace} />;
  if (path === UNCERTAINTY) return <UncertaintyPage workspace={workspace} />;
  if (path === "/groupings" || path === "/orientations") return <OrientationsPage workspace={workspace} />;
  if (path === "/new") return <NewItemsPage workspace={workspace} />;
  if (path === "/review") return <ReviewPage workspace={workspace} />;
  if (path === "/polish") return <PolishPage workspace={workspace} />;
  if (path === "/finish") return <FinishPage workspace={workspace} />;
  return <QuestionsPage workspace={workspace} />;
}

function Notices({ workspace, path }: { workspace: Workspace; path: string }) {
  const { client, error, now, sending, refresh, retry } = workspace;
  const trouble = now?.progress.trouble;
  const conflicts = now?.progress.conflicts ?? 0;
  const fresh = workspace.session?.new_items ?? 0;
  const refit = () => void client.post("/api/refit").then(refresh);
  return (
    <>
      {error && (
        <Notice
          tone="warning"
          action={
            error.isOtherLedger
              ? { label: "Reload", run: () => location.reload() }
              : { label: "Try again", run: retry }
          }
        >
          {sending && error.retryable && <strong>Your answer is not saved yet, but will be sent again. </strong>}
          {error.message} {error.whatToDo}
        </Notice>
      )}
      {trouble && (
        <Notice tone="warning" action={{ label: "Try again", run: refit }}>
          {trouble}
        </Notice>
      )}
      {path === "/" && <UnseenNotice sentence={now?.progress.unseen ?? ""} />}
      {fresh > 0 && path !== "/new" && (
        <Notice tone="info">
          {fresh} new {countItems(fresh, workspace.session?.kind ?? "").replace(/^\S+ /, "")}{" "}
          {fresh === 1 ? "was" : "were"} placed. <Link to="/new">Review {fresh === 1 ? "it" : "them"}</Link>
        </Notice>
      )}
      {conflicts > 0 && path !== "/conflicts" && (
        <Notice tone="info">
          {count(conflicts, "answer contradicts", "answers contradict")} earlier ones and{" "}
          {conflicts === 1 ? "is" : "are"} set aside. <Link to="/conflicts">Review</Link>
        </Notice>
      )}
    </>
  );
}

/** One orientation of one collection, or the start page if the collection is not open. */
function WorkspaceFrame({ path, session, pile, remount }: Route & { remount: () => void }) {
  const workspace = useWorkspace(session);
  const { session: about, now } = workspace;
  const collection = about?.collection;
  useEffect(() => {
    document.title = collection ? `${collection} · samekind` : "samekind";
  }, [collection]);
  if (workspace.error?.type === "no-pile") {
    const opened = (found: string) => (found === pile ? remount() : navigate({ path, session, pile: found }));
    return <StartPage wanted={pile ?? null} opened={opened} />;
  }
  return (
    <>
      <header>
        <span class="brand">
          <Link to="/start" session={null} className="to-start">
            <strong>samekind</strong>
          </Link>
          <span class="muted">
            {collection}
            {about && about.orientations.length > 1 && ` · ${about.titles[about.session] ?? about.session}`}
            {about?.person && ` · ${about.person}`}
          </span>
        </span>
        <Navigation
          views={NAVIGATION.filter(([to]) => to !== UNCERTAINTY || about?.posterior)}
          path={path}
        />
        {now && <ProgressLine progress={now.progress} />}
      </header>
      <AnalysisBar workspace={workspace} path={path} />
      <Notices workspace={workspace} path={path} />
      <View path={path} workspace={workspace} />
      <ItemMenuHost workspace={workspace} hasToast={HAVE_TOASTS.test(path)} />
    </>
  );
}

export function App() {
  const route = useRoute();
  const [mounts, setMounts] = useState(0);
  if (route.path === "/start") {
    const opened = (pile: string) => navigate({ path: "/", session: null, pile });
    return <StartPage wanted={null} opened={opened} />;
  }
  const key = `${route.session ?? ""} ${route.pile ?? ""} ${mounts}`;
  return <WorkspaceFrame key={key} {...route} remount={() => setMounts(mounts + 1)} />;
}
