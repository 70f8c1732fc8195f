/** How far several people agree, and how often each of them is probably wrong. */

import type { PeopleView, PersonView } from "../../api/schema";
import { number, percent } from "../../format";

function shared({ agreed, shared }: PersonView): string {
  return shared === 0 ? "–" : `${number(agreed)} of ${number(shared)}`;
}

export function People({ found }: { found: PeopleView }) {
  return (
    <section class="people" aria-labelledby="people-head">
      <h2 id="people-head">People</h2>
      <p class="muted">{found.words}</p>
      <table class="figures">
        <thead>
          <tr>
            <th scope="col">Person</th>
            <th scope="col">Answers</th>
            <th scope="col">Second opinions</th>
            <th scope="col">Agreed</th>
            <th scope="col">Probably wrong</th>
          </tr>
        </thead>
        <tbody>
          {found.people.map((person) => (
            <tr key={person.name}>
              <th scope="row">{person.name}</th>
              <td>{number(person.answers)}</td>
              <td>{number(person.second_opinions)}</td>
              <td>{shared(person)}</td>
              <td>{person.error === null ? "–" : percent(person.error)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
