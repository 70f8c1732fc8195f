/** The frame: navigation, progress, notices, and the view that the address names. */

import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { useDesk, type Desk } from "./desk";
import { MapView } from "./map/lazy";
import { Link } from "./parts/link";
import { Notice } from "./parts/notice";
import { ProgressLine, count } from "./parts/progress";
import { go, usePlace, type Place } from "./router";
import "./style/base.css";
import "./style/frame.css";
import "./style/items.css";
import "./style/question.css";
import "./style/several.css";
import "./style/views.css";
import "./style/groups.css";
import "./style/map.css";
import "./style/start.css";
import "./style/finish.css";
import "./style/phone.css";
import { Answers } from "./views/answers";
import { Ask } from "./views/ask";
import { Compare } from "./views/compare";
import { Conflicts } from "./views/conflicts";
import { Finish } from "./views/finish";
import { OneGroup } from "./views/group";
import { Groups } from "./views/groups";
import { Orientations } from "./views/orientations";
import { ProgressView } from "./views/progress";
import { Start } from "./views/start";

const NAVIGATION: [string, string][] = [
  ["/", "Questions"],
  ["/groups", "Groups"],
  ["/map", "Map"],
  ["/progress", "Progress"],
  ["/answers", "Answers"],
  ["/orientations", "Orientations"],
  ["/finish", "Finish"],
];

function View({ path, desk }: { path: string; desk: Desk }) {
  const group = /^\/groups\/(\d+)$/.exec(path)?.[1];
  if (group !== undefined) return <OneGroup desk={desk} number={Number(group)} />;
  if (path === "/groups") return <Groups desk={desk} />;
  if (path === "/map") return <MapView desk={desk} />;
  if (path === "/answers") return <Answers desk={desk} />;
  if (path === "/progress") return <ProgressView desk={desk} />;
  if (path === "/conflicts") return <Conflicts desk={desk} />;
  if (path === "/compare") return <Compare desk={desk} />;
  if (path === "/orientations") return <Orientations desk={desk} />;
  if (path === "/finish") return <Finish desk={desk} />;
  return <Ask desk={desk} />;
}

function Notices({ desk, path }: { desk: Desk; path: string }) {
  const trouble = desk.now?.progress.trouble;
  const clashes = desk.now?.progress.conflicts ?? 0;
  return (
    <>
      {desk.fault && (
        <Notice tone="warning" act={{ label: "Try again", go: desk.retry }}>
          {desk.sending && desk.fault.passing && <strong>Your answer is kept, but not saved yet. </strong>}
          {desk.fault.message} {desk.fault.whatToDo}
        </Notice>
      )}
      {trouble && (
        <Notice tone="warning" act={{ label: "Try again", go: () => void desk.api.refit().then(desk.refresh) }}>
          {trouble}
        </Notice>
      )}
      {clashes > 0 && path !== "/conflicts" && (
        <Notice tone="info">
          {count(clashes, "answer contradicts", "answers contradict")} earlier ones and{" "}
          {clashes === 1 ? "is" : "are"} kept aside. <Link to="/conflicts">See which</Link>
        </Notice>
      )}
    </>
  );
}

function Frame({ path, session, pile, anew }: Place & { anew: () => void }) {
  const desk = useDesk(session);
  const collection = desk.about?.collection;
  useEffect(() => {
    document.title = collection ? `${collection} · samekind` : "samekind";
  }, [collection]);
  if (desk.fault?.type === "no-pile") {
    const opened = (found: string) => (found === pile ? anew() : go({ path, session, pile: found }));
    return <Start wanted={pile ?? null} opened={opened} />;
  }
  const several = (desk.about?.orientations.length ?? 0) > 1;
  return (
    <>
      <header>
        <span class="brand">
          <Link to="/start" session={null} className="to-start">
            <strong>samekind</strong>
          </Link>
          <span class="quiet-text">
            {collection}
            {several && ` · ${desk.about?.session}`}
          </span>
        </span>
        <nav aria-label="Views">
          {NAVIGATION.map(([to, label]) => (
            <Link key={to} to={to} current={to === "/" ? path === "/" : path.startsWith(to)}>
              {label}
            </Link>
          ))}
        </nav>
        {desk.now && <ProgressLine progress={desk.now.progress} />}
      </header>
      <Notices desk={desk} path={path} />
      <View path={path} desk={desk} />
    </>
  );
}

function Page() {
  const place = usePlace();
  const [turn, setTurn] = useState(0);
  if (place.path === "/start") {
    const opened = (pile: string) => go({ path: "/", session: null, pile });
    return <Start wanted={null} opened={opened} />;
  }
  const key = `${place.session ?? ""} ${place.pile ?? ""} ${turn}`;
  return <Frame key={key} {...place} anew={() => setTurn(turn + 1)} />;
}

const root = document.getElementById("page");
if (root) render(<Page />, root);
