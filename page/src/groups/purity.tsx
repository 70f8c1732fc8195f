/** How pure a group is, as far as the snapshot can tell. */

export function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

export function Purity({ share }: { share: number | null }) {
  // A guess is never certain, whatever it rounds to.
  const words = share !== null && share >= 0.995 ? "over 99 %" : `about ${percent(share ?? 0)}`;
  if (share === null) return <span class="purity quiet-text">purity not known yet</span>;
  return (
    <span class="purity" title="The share of the items that are expected to belong here">
      <span class="purity-bar" aria-hidden="true">
        <span style={{ width: `${Math.round(share * 100)}%` }} />
      </span>
      <span>{words} fit</span>
    </span>
  );
}
