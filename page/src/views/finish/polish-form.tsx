/** What to train, for how long, and with which parameters. It says which learner that is. */

import { useState } from "preact/hooks";
import type { Client } from "../../api/client";
import type { PolishRequest, PolishView } from "../../api/schema";
import { useResource } from "../../api/use-resource";
import { ErrorNotice } from "../../components/error-notice";
import { type Chosen, ParameterFields } from "./parameter-fields";

const MIN_MINUTES = 0.1;
const MAX_MINUTES = 1440;

interface Props {
  client: Client;
  polish: PolishView;
  start: (request: PolishRequest) => void;
}

export function PolishForm({ client, polish: { methods, minutes: suggested, estimate, advice }, start }: Props) {
  const [method, setMethod] = useState(methods[0]);
  const [minutes, setMinutes] = useState(suggested);
  const [chosen, setChosen] = useState<Chosen>({});
  const changed = Object.keys(chosen).length > 0;
  const learner = useResource(
    method && changed
      ? (signal) =>
          client.post("/api/polish/learner", { body: { method: method.name, parameters: chosen }, signal })
      : null,
    [client, method?.name, JSON.stringify(chosen)],
  );
  if (!method) return null;
  const shown = changed ? learner.data?.learner : method.learner;
  return (
    <form
      class="polish-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (learner.error) return;
        const bounded = Math.min(MAX_MINUTES, Math.max(MIN_MINUTES, minutes));
        start({ method: method.name, minutes: bounded, parameters: chosen });
      }}
    >
      <p>{estimate}</p>
      <p class="muted">{advice}</p>
      <div class="polish-row">
        <label>
          Method
          <select
            name="method"
            value={method.name}
            onChange={(event) => {
              setMethod(methods.find(({ name }) => name === event.currentTarget.value));
              setChosen({});
            }}
          >
            {methods.map(({ name }) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <label>
          Minutes
          <input
            type="number"
            min={MIN_MINUTES}
            max={MAX_MINUTES}
            step="any"
            value={minutes}
            onInput={(event) => setMinutes(Number(event.currentTarget.value) || suggested)}
          />
        </label>
        <button type="submit" disabled={learner.error !== null}>
          Start
        </button>
      </div>
      <p class="learner" aria-live="polite">
        Trains: <strong>{shown ?? "…"}</strong>
      </p>
      <p class="muted">{method.line.replaceAll("`", "")}</p>
      {method.paper && <p class="muted paper">{method.paper}</p>}
      <details class="advanced">
        <summary>Advanced</summary>
        <p class="muted">An empty field keeps the value shown in it.</p>
        <ErrorNotice error={learner.error} />
        <ParameterFields parameters={method.parameters} chosen={chosen} choose={setChosen} />
      </details>
    </form>
  );
}
