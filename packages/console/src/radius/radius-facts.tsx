import type { BlastRadius } from '@countersign/contracts/control-plane';
import { CopyText } from '../parts/copy-text.tsx';
import { Shown } from '../parts/shown.tsx';

type Affected = BlastRadius['affected'];

const kinds = {
  agents: 'Agents',
  tools: 'Tools',
  connectors: 'MCP servers',
  sessions: 'Sessions',
  runs: 'Runs in progress',
  approvals: 'Waiting approvals',
  dispatches: 'Calls in flight',
} as const satisfies Partial<Record<keyof Affected, string>>;

/** The reach of an agent in seven days, computed from the signed log. Each count expands to its list. */
export function RadiusFacts({ radius }: { radius: BlastRadius }) {
  const { affected, more_relations: hasMoreRelations } = radius;
  const lists = Object.entries(kinds).map(([kind, name]) => ({
    name,
    items: affected[kind as keyof typeof kinds], // the keys of the table above
  }));
  const relations = affected.relations.map(({ object, relation, subject }) => `${subject} ${relation} ${object}`);
  return (
    <>
      <dl className="facts">
        {[...lists, { name: 'Relations', items: relations }].map(({ name, items }) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <Counted name={name} items={items} hasMore={name === 'Relations' && hasMoreRelations} />
            </dd>
          </div>
        ))}
      </dl>
      <Ground radius={radius} />
    </>
  );
}

type CountedProps = { name: string; items: readonly string[]; hasMore: boolean };

function Counted({ name, items, hasMore }: CountedProps) {
  if (items.length === 0) return <>{hasMore ? 'unknown' : 'none'}</>;
  return (
    <details>
      <summary aria-label={`${name}: ${items.length}`}>{hasMore ? `${items.length} or more` : items.length}</summary>
      <ul>
        {items.map((item) => (
          <li key={item}>
            <CopyText text={item} whole />
          </li>
        ))}
      </ul>
    </details>
  );
}

/** The receipts that the reach is computed from, and the unreadable ones. */
function Ground({ radius: { receipts, tree_size, is_whole, unverifiable } }: { radius: BlastRadius }) {
  if (tree_size === 0) return <p className="quiet">No receipts yet.</p>;
  return (
    <>
      <p className="quiet">
        From {receipts} receipts of the last 7 days, in a signed log of {tree_size}
        {is_whole ? '.' : '. More receipts exist than were read, so the effect may be larger.'}
      </p>
      {unverifiable > 0 && (
        <p className="note note-problem" role="alert">
          <Shown text={`${unverifiable} receipts do not verify and are left out.`} />
        </p>
      )}
    </>
  );
}
