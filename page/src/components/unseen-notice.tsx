/** Says that the answers make a difference that cannot be seen, and what could help. */

import { useState } from "preact/hooks";
import { Link } from "./link";
import { Notice } from "./notice";

export function UnseenNotice({ sentence }: { sentence: string }) {
  const [hidden, setHidden] = useState(false);
  if (hidden || !sentence) return null;
  return (
    <Notice tone="info" action={{ label: "Hide", run: () => setHidden(true) }}>
      {sentence} What could help: <Link to="/start" session={null}>another encoder</Link>,{" "}
      <Link to="/finish" title="Train a network on your answers">polish</Link>, or <Link to="/groups">sort by hand</Link>.
    </Notice>
  );
}
