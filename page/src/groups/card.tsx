/** A group in the gallery: what it is, what is typical, what is doubtful. */

import type { GroupCard } from "../acts-api";
import type { Desk } from "../desk";
import { ItemView } from "../items/item";
import { slotsOf } from "../map/colours";
import { Link } from "../parts/link";
import { count } from "../parts/progress";
import { address, here } from "../router";
import { GroupName } from "../views/group-name";
import { dragged, useTarget, type Load } from "./drag";
import { Purity } from "./purity";
import { Swatch } from "./swatch";

interface Props {
  desk: Desk;
  group: GroupCard;
  chosen: boolean;
  /** Whether an act about this group is not in the groups yet. */
  waiting: boolean;
  /** The place in the list, for those who do not see it. */
  place: { at: number; of: number };
  choose: () => void;
  renamed: () => void;
  drop: (load: Load) => void;
}

/** The address of a group with its doubtful members first. */
export const DOUBTFUL = "#doubtful";

function Doubtful({ group }: { group: GroupCard }) {
  const place = { path: `/groups/${group.number}`, session: here().session };
  const few = count(group.doubtful.length, "doubtful item");
  return (
    <a
      class="unsure-ones"
      href={address(place) + DOUBTFUL}
      aria-label={`${few} of ${group.name}; see all items, the doubtful ones first`}
      onClick={(event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
        event.preventDefault();
        history.pushState(null, "", address(place) + DOUBTFUL);
        dispatchEvent(new PopStateEvent("popstate"));
      }}
    >
      <span class="quiet-text">Doubtful</span>
      {group.doubtful.map((item) => {
        const { position } = item;
        const load = () => ({ items: position === undefined ? [] : [position], from: group.number });
        const drag = position === undefined ? {} : dragged(load, () => item.id);
        return (
          <span key={item.id} class="unsure-item" {...drag}>
            <ItemView item={item} size="small" />
          </span>
        );
      })}
    </a>
  );
}

export function Card({ desk, group, chosen, waiting, place, choose, renamed, drop }: Props) {
  const { over, target } = useTarget(
    (load) => ("group" in load ? load.group : load.from) !== group.number,
    drop,
  );
  const slots = slotsOf(desk.api);
  const look = [chosen && "chosen", waiting && "waiting", over && "over"].filter(Boolean).join(" ");
  return (
    <li
      class={`group-card ${look}`}
      data-group={group.number}
      aria-posinset={place.at}
      aria-setsize={place.of}
      {...dragged(() => ({ group: group.number }), () => group.name)}
      {...target}
    >
      <div class="group-head">
        <label class="card-choose" title="Choose this group">
          <input
            type="checkbox"
            checked={chosen}
            aria-label={`Choose ${group.name}`}
            onChange={choose}
          />
        </label>
        <Swatch slot={slots.of(group.number)} />
        <GroupName desk={desk} group={group} renamed={renamed} />
        <span class="quiet-text group-size">{count(group.size, "item")}</span>
      </div>
      <Link to={`/groups/${group.number}`} className="representatives">
        <span class="unseen-text">See all items of {group.name}</span>
        {group.representatives.map((item) => (
          <ItemView key={item.id} item={item} size="small" />
        ))}
      </Link>
      <div class="group-foot">
        <Purity share={group.purity} />
        {group.doubtful.length > 0 && <Doubtful group={group} />}
      </div>
    </li>
  );
}
