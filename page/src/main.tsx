/** The frame: navigation, progress, notices, and the view that the address names. */

import { render } from "preact";
import { useEffect } from "preact/hooks";
import { useDesk, type Desk } from "./desk";
import { Link } from "./parts/link";
import { Notice } from "./parts/notice";
import { ProgressLine, count } from "./parts/progress";
import { usePlace, type Place } from "./router";
import "./style/base.css";
import "./style/frame.css";
import "./style/items.css";
import "./style/question.css";
import "./style/several.css";
import "./style/views.css";
import "./style/phone.css";
import { Answers } from "./views/answers";
import { Ask } from "./views/ask";
import { OneGroup } from "./views/group";
import { Groups } from "./views/groups";
import { Orientations } from "./views/orientations";

const NAVIGATION: [string, string][] = [
  ["/", "Questions"],
  ["/groups", "Groups"],
  ["/answers", "Answers"],
  ["/orientations", "Orientations"],
];

function View({ path, desk }: { path: string; desk: Desk }) {
  const group = /^\/groups\/(\d+)$/.exec(path)?.[1];
  if (group !== undefined) return <OneGroup desk={desk} number={Number(group)} />;
  if (path === "/groups") return <Groups desk={desk} />;
  if (path === "/answers") return <Answers desk={desk} />;
  if (path === "/orientations") return <Orientations desk={desk} />;
  return <Ask desk={desk} />;
}

function Notices({ desk, path }: { desk: Desk; path: string }) {
  const trouble = desk.now?.progress.trouble;
  const clashes = desk.conflicts.length;
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
      {clashes > 0 && path !== "/answers" && (
        <Notice tone="info">
          {count(clashes, "answer contradicts", "answers contradict")} earlier ones and{" "}
          {clashes === 1 ? "is" : "are"} kept aside. <Link to="/answers">See which</Link>
        </Notice>
      )}
    </>
  );
}

function Frame({ path, session }: Place) {
  const desk = useDesk(session);
  const collection = desk.about?.collection;
  useEffect(() => {
    document.title = collection ? `${collection} · samekind` : "samekind";
  }, [collection]);
  const several = (desk.about?.orientations.length ?? 0) > 1;
  return (
    <>
      <header>
        <span class="brand">
          <strong>samekind</strong>
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
  return <Frame key={place.session ?? ""} {...place} />;
}

const root = document.getElementById("page");
if (root) render(<Page />, root);
