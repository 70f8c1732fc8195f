/** What the items of a group have in common, in a few words. */

import "./key-words.css";

export function KeyWords({ words }: { words: readonly string[] | undefined }) {
  if (!words || words.length === 0) return null;
  return (
    <ul class="key-words" aria-label="Key words">
      {words.map((word) => (
        <li key={word}>{word}</li>
      ))}
    </ul>
  );
}
