/** Holds the place of content until its first read ends. */
export function Skeleton() {
  return (
    <div className="skeleton" role="status">
      <span className="hidden">Loading…</span>
      <span className="bone" />
      <span className="bone" />
      <span className="bone" />
    </div>
  );
}
