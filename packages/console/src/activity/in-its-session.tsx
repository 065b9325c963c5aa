import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import type { StoredReceipt } from '@countersign/contracts/governance-kernel';
import { useShortcuts } from '../keys/shortcuts.ts';
import { Loaded } from '../parts/loaded.tsx';
import { Moment } from '../parts/moment.tsx';
import { Shown } from '../parts/shown.tsx';
import { useNameOf } from '../parts/who.tsx';
import { useWorkspace } from '../workspace/open-workspace.ts';
import { sentenceOf } from './how-decided.tsx';

type Neighbours = { previous: StoredReceipt | null; next: StoredReceipt | null };

/** The receipts before and after this one in the chain of its session. */
function useNeighbours({ payload: { session_id, lamport_clock: place, receipt_id } }: StoredReceipt) {
  const { id, client } = useWorkspace();
  return useQuery({
    queryKey: [id, 'receipts', 'neighbours', receipt_id],
    queryFn: async ({ signal }): Promise<Neighbours> => {
      const at = async (lamport_clock: number) => {
        if (lamport_clock < 1) return null;
        const { body } = await client.listReceipts({ query: { session_id, lamport_clock, limit: 1 }, signal });
        return body.data[0] ?? null;
      };
      const [previous, next] = await Promise.all([at(place - 1), at(place + 1)]);
      return { previous, next };
    },
  });
}

/** Links to the previous and the next receipt of the session. The keys `k` and `j` do the same. */
export function InItsSession({ receipt }: { receipt: StoredReceipt }) {
  const neighbours = useNeighbours(receipt);
  const navigate = useNavigate();
  const open = (found: StoredReceipt | null | undefined) => {
    if (found)
      void navigate({
        to: '/activity/$id',
        params: { id: found.payload.receipt_id },
        search: (before: object) => before,
      });
  };
  useShortcuts([
    { keys: 'j', says: 'Next receipt in the session', run: () => open(neighbours.data?.next) },
    { keys: 'k', says: 'Previous receipt in the session', run: () => open(neighbours.data?.previous) },
  ]);
  const { lamport_clock: place } = receipt.payload;
  return (
    <section aria-label="In its session">
      <h2>In its session</h2>
      <Loaded query={neighbours}>
        {({ previous, next }) => (
          <ul className="list neighbours">
            <Neighbour
              title="Previous"
              shortcut="k"
              receipt={previous}
              none={`No earlier receipt. This is number ${place}`}
            />
            <Neighbour title="Next" shortcut="j" receipt={next} none="No later receipt yet" />
          </ul>
        )}
      </Loaded>
    </section>
  );
}

function Sentence({ payload }: Pick<StoredReceipt, 'payload'>) {
  return <Shown text={sentenceOf(payload, useNameOf(payload.principal_id))} />;
}

type NeighbourProps = { title: string; shortcut: string; receipt: StoredReceipt | null; none: string };

function Neighbour({ title, shortcut, receipt, none }: NeighbourProps) {
  return (
    <li>
      <span className="quiet neighbour-name">
        {title} <kbd aria-hidden="true">{shortcut}</kbd>
      </span>
      <span className="grow">
        {receipt === null ? (
          <span className="quiet">{none}</span>
        ) : (
          <Link
            to="/activity/$id"
            params={{ id: receipt.payload.receipt_id }}
            search={(before: object) => before}
            aria-keyshortcuts={shortcut}
          >
            <Sentence payload={receipt.payload} />
          </Link>
        )}
      </span>
      {receipt !== null && <Moment at={receipt.payload.issued_at} />}
    </li>
  );
}
